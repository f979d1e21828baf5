// SPDX-License-Identifier: MIT
#include "collector/runtime/api/answers.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <string>

#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace {

constexpr std::string_view names[] = {
#include "collector/runtime/api/api_names.inc"
};

struct Names {
  std::mutex mutex;
  std::deque<std::string> all;  ///< a name stays where it is: calls are known by a view of it
};

Names& unanswered() {
  static auto* known = new Names;
  return *known;
}

}  // namespace

std::vector<Answer> answers() {
  std::vector<Answer> all;
  const auto add = [&](const std::vector<Answer>& table) {
    all.insert(all.end(), table.begin(), table.end());
  };
#define WARPMETER_ADD(NAME) add(NAME##_answers());
  WARPMETER_ANSWER_TABLES(WARPMETER_ADD)
#undef WARPMETER_ADD
  return all;
}

std::span<const std::string_view> api_names() { return names; }

std::uint32_t remember_unanswered(std::string_view name) {
  const std::lock_guard lock(unanswered().mutex);
  unanswered().all.emplace_back(name);
  return static_cast<std::uint32_t>(unanswered().all.size() - 1);
}

int say_unanswered(std::uint32_t number) {
  std::string_view name;
  {
    const std::lock_guard lock(unanswered().mutex);
    name = unanswered().all[number];
  }
  const Row row(name, Needs::nothing, Answers::after_failure);
  return enter(row, __builtin_return_address(0), [&](Process& process) {
    process.say(fmt::format(
        "{} is not answered where there is no GPU; it returned cudaErrorNotSupported", name));
    return cudaErrorNotSupported;
  });
}

}  // namespace warpmeter::runtime
