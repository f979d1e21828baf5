// SPDX-License-Identifier: MIT
// The limits of each launch of a run, and which of its needs is the limit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "reports/sections/best_variant.h"
#include "reports/sections/limits.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

/// Once, of all sizes and devices.
void add_unlimited(LimitsOfRun& limits, const std::string& name, const std::string& reason) {
  auto& all = limits.unlimited;
  auto known = std::find_if(all.begin(), all.end(),
                            [&](const auto& unlimited) { return unlimited.first == reason; });
  if (known == all.end()) known = all.insert(all.end(), {reason, {}});
  std::vector<std::string>& names = known->second;
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

std::map<std::int64_t, LaunchFacts> facts_of(const Source& source) {
  std::vector<std::int64_t> first;
  for (const Group& group : source.run.groups) {
    for (const Subject& subject : group.subjects) first.push_back(subject.launches.front()->id);
  }
  return limits::facts_of(source.reader, source.run.id, first);
}

LimitsOfRun limits_of_run(const Source& source) {
  LimitsOfRun limits;
  limits.facts = facts_of(source);
  for (const Group& group : source.run.groups) {
    for (const Subject& subject : group.subjects) {
      const auto found = limits.facts.find(subject.launches.front()->id);
      if (found == limits.facts.end() || subject.failures() > 0) continue;
      if (const std::string missing =
              missing_count(subject, found->second.compute_capability).missing;
          !missing.empty()) {
        add_unlimited(limits, fmt::format("{}/{}", group.family, subject.variant), missing);
      } else if (found->second.rates == nullptr) {
        limits.unlisted.insert(found->second.compute_capability);
      } else {
        limits.all.push_back(limits_of(group, subject, found->second));
      }
    }
  }
  return limits;
}

const LimitsOfRun& Source::limits() const {
  if (!limits_) limits_ = std::make_shared<const LimitsOfRun>(limits_of_run(*this));
  return *limits_;
}

std::vector<const Limits*> largest_of(const std::vector<Limits>& all) {
  std::vector<const Group*> groups;
  for (const Limits& limits : all) {
    if (groups.empty() || groups.back() != limits.group) groups.push_back(limits.group);
  }
  groups = largest_groups(groups);
  const std::set<const Group*> known(groups.begin(), groups.end());
  std::vector<const Limits*> largest;
  for (const Limits& limits : all) {
    if (known.contains(limits.group)) largest.push_back(&limits);
  }
  return largest;
}

std::vector<std::vector<const Limits*>> families_of(const std::vector<const Limits*>& largest) {
  std::vector<std::vector<const Limits*>> families;
  for (const Limits* limits : largest) {
    const auto found = std::find_if(families.begin(), families.end(), [&](const auto& family) {
      return family.front()->group->family == limits->group->family &&
             family.front()->group->device_id == limits->group->device_id;
    });
    if (found == families.end()) {
      families.push_back({limits});
    } else {
      found->push_back(limits);
    }
  }
  return families;
}

std::vector<const Limits*> without_ceilings(const std::vector<const Limits*>& family) {
  std::vector<const Limits*> variants = family;
  std::erase_if(variants, [](const Limits* limits) { return !competes(*limits->subject); });
  return variants.empty() ? family : variants;
}

std::string evidence_of(const Limits& limits) {
  const Need& most = most_of(limits);
  const Need* second = second_of(limits);
  if (second == nullptr) return most.evidence;
  return fmt::format("{}: {} times {}", most.evidence,
                     readable_number(most.cycles.value / second->cycles.value, Zeros::keep),
                     second->name);
}

Sum share_of_time(const Limits& limits, const Need& need) {
  if (!need.cycles.missing.empty()) return need.cycles;
  if (!limits.elapsed.missing.empty()) return limits.elapsed;
  if (limits.elapsed.value <= 0) return {0, "", "the launch took no cycles"};
  return {100 * need.cycles.value / limits.elapsed.value,
          std::max(need.cycles.mark, limits.elapsed.mark), ""};
}

std::string unlimited_text(const LimitsOfRun& of_run) {
  constexpr std::size_t most_reasons = 4;
  const auto& all = of_run.unlimited;
  if (all.empty()) return "";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(all.size(), most_reasons); ++i) {
    parts.push_back(fmt::format("{} ({})", listed(all[i].second), all[i].first));
  }
  if (all.size() > most_reasons) {
    parts.push_back(fmt::format("others for {} more reasons", all.size() - most_reasons));
  }
  return fmt::format("Without a limit: {}.", fmt::join(parts, "; "));
}

std::string missing_text(const Table& table) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // columns by reason
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].name == "size") continue;
    std::set<std::string> said;
    for (const auto& row : table.rows) {
      const auto* missing = std::get_if<Missing>(&row[column].value);
      if (missing == nullptr || missing->reason.empty() || !said.insert(missing->reason).second) {
        continue;
      }
      const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) {
        return reason.first == missing->reason;
      });
      auto& columns = known == reasons.end()
                          ? reasons.emplace_back(missing->reason, std::vector<std::string>()).second
                          : known->second;
      columns.push_back(heading_of(table.columns[column]));
    }
  }
  if (reasons.empty()) return "";
  std::vector<std::string> parts;
  for (const auto& [reason, columns] : reasons) {
    parts.push_back(fmt::format("{} ({})", fmt::join(columns, ", "), reason));
  }
  return fmt::format("No value (–): {}.", fmt::join(parts, "; "));
}

}  // namespace warpmeter::reports::sections
