// SPDX-License-Identifier: MIT
#include "collector/inject/names/named.h"

#include <mutex>
#include <utility>
#include <vector>

namespace warpmeter::inject {
namespace {

/// More names than anybody reads.
constexpr std::size_t most_unheard = 10'000;

/// Never destroyed: threads may name things while the process ends.
struct GivenNames {
  std::mutex mutex;
  std::function<void(const Named&)> tell;
  std::vector<Named> waiting;  ///< until somebody asks
};
GivenNames& given_names() {
  static GivenNames* instance = new GivenNames;
  return *instance;
}

}  // namespace

void tell_names(const std::function<void(const Named&)>& tell) {
  std::vector<Named> waiting;
  {
    const std::lock_guard lock(given_names().mutex);
    given_names().tell = tell;
    waiting = std::exchange(given_names().waiting, {});
  }
  for (const Named& named : waiting) tell(named);
}

void take_name(Named named) {
  std::function<void(const Named&)> tell;
  {
    const std::lock_guard lock(given_names().mutex);
    tell = given_names().tell;
    if (!tell) {
      if (given_names().waiting.size() < most_unheard)
        given_names().waiting.push_back(std::move(named));
      return;
    }
  }
  tell(named);
}

}  // namespace warpmeter::inject
