// SPDX-License-Identifier: MIT
#include "collector/model/counts/rules/measured.h"

#include <fmt/format.h>

#include "base/with_noun.h"

namespace warpmeter::model {
namespace {

constexpr MeasuredArchitecture all[] = {
#include "collector/model/counts/rules/measured_list.h"  // rate_rules makes it out of the golden files
};

}  // namespace

std::span<const MeasuredArchitecture> measured_architectures() { return all; }

std::string why_not_exact(int arch) { return why_not_exact(arch, all); }

std::string why_not_exact(int arch, std::span<const MeasuredArchitecture> measured) {
  for (const MeasuredArchitecture& known : measured) {
    if (known.arch != arch) continue;
    if (known.is_exact()) return {};
    return fmt::format("by the rules of sm_90, which {} of {} measured on sm_{} break",
                       known.accesses - known.met, with_noun(known.accesses, "access", "accesses"),
                       arch);
  }
  return fmt::format("by the rules of sm_90, not measured on sm_{}", arch);
}

}  // namespace warpmeter::model
