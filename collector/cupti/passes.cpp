#include "collector/cupti/passes.h"

#include <filesystem>

#include "collector/cupti/planner.h"
#include "schema/error.h"

namespace warpmeter::cupti {
namespace {

const Loaded<CuptiApi>& required_cupti() {
  const Loaded<CuptiApi>& cupti = cupti_library();
  if (!cupti.ok()) throw Error(ExitCode::no_hardware, cupti.sentence());
  return cupti;
}

}  // namespace

Passes plan_passes(const std::string& chip, std::span<const std::string> counters) {
  const Plan plan(required_cupti().api, chip, {}, counters);
  Passes passes{chip, plan.passes(), {}};
  for (const Plan::Item& item : plan.items()) {
    if (!item.lacking.empty()) passes.lacking.emplace_back(item.counter, item.lacking);
  }
  return passes;
}

std::span<const char* const> known_chips() {
  static constexpr const char* chips[] = {"TU102", "GA100", "AD102", "GH100", "GB100", "GB202"};
  return chips;
}

std::string cupti_folder() {
  return std::filesystem::path(required_cupti().path).parent_path().string();
}

}  // namespace warpmeter::cupti
