// SPDX-License-Identifier: MIT
// The limits of a run's variants, and what the section, the headline and the brief say about them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/sections/needs.h"

namespace warpmeter::reports::sections {

inline constexpr const char* limits_title = "What limits each variant";
inline constexpr const char* speed_of_light_title = "Speed of light: share of peak";

struct LimitsOfRun {
  std::map<std::int64_t, LaunchFacts> facts;  ///< by launch; `all` refers to them
  std::vector<Limits> all;                    ///< the launches with all counts
  std::set<int> unlisted;                     ///< the compute capabilities of those without rates
  /// Why a count is missing, and the variants without a limit for that reason.
  std::vector<std::pair<std::string, std::vector<std::string>>> unlimited;

  LimitsOfRun() = default;
  LimitsOfRun(const LimitsOfRun&) = delete;
  LimitsOfRun(LimitsOfRun&&) = default;  // the facts of a moved map stay where they are
};

LimitsOfRun limits_of_run(const Source& source);

/// Each variant of a family at its largest size.
std::vector<const Limits*> largest_of(const std::vector<Limits>& all);

/// The same, by family and device.
std::vector<std::vector<const Limits*>> families_of(const std::vector<const Limits*>& largest);

/// Without the copies and library calls that stand beside the variants; all where nothing is left.
std::vector<const Limits*> without_ceilings(const std::vector<const Limits*>& family);

/// "134,217,728 wavefronts at 1 a cycle: 4.00 times issue slots"
std::string evidence_of(const Limits& limits);

/// The cycles of a resource, as a share of those that the launch took, in per cent. No value
/// without a clock.
Sum share_of_time(const Limits& limits, const Need& need);

/// "Without a limit: app/reduce and app/scan (…)." Empty where all have one.
std::string unlimited_text(const LimitsOfRun& of_run);

/// Two sentences on the limit of a family's variants at their largest size.
struct FamilyLimit {
  const Group* group = nullptr;
  double cycles = 0;       ///< those of the variant that takes most
  std::string limit;       ///< its limit, with the evidence
  std::string comparison;  ///< with other variants; empty where there is nothing to compare

  std::string text() const { return comparison.empty() ? limit : limit + " " + comparison; }
};

/// The family that takes most cycles first. Nothing where the counts of @limits are not there.
std::vector<FamilyLimit> limits_of_families(const Source& source);

/// "No value (–): L2 reads and L2 writes (why)." Empty where all have one. Sizes need no reason.
std::string missing_text(const Table& table);

/// The counters that the memory charts and their tables show.
std::vector<std::string> memory_counters();

/// The share of time that each resource needs at its peak: a table, and a picture for each family.
/// Launches without a clock have the shares of their limit instead.
void add_speed_of_light(Document& document, const std::vector<const Limits*>& largest);

}  // namespace warpmeter::reports::sections
