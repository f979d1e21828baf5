// SPDX-License-Identifier: MIT
// How far from which limit each variant is: its counts over the rates that NVIDIA documents.
//
// A resource needs count / rate cycles of a multiprocessor, however many multiprocessors share
// them. The resource that needs the most is the limit: no launch takes less. Its time is longer,
// for latency and what has no count. On a GPU, units without a count have a measured share of their
// peak. A limit is named only where all resources have their counts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/sections/needs.h"
#include "reports/sections/roofline.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

/// `column`: of a resource.
const Need& need_named(const Limits& limits, std::string_view column) {
  return *std::find_if(limits.needs.begin(), limits.needs.end(),
                       [&](const Need& need) { return need.column == column; });
}

/// "134,217,728 wavefronts at 1 a cycle: 4.00 times issue slots"
std::string evidence_of(const Need& most, const std::vector<Need>& needs) {
  const Need* second = nullptr;
  for (const Need& need : needs) {
    if (&need == &most || !need.cycles.missing.empty()) continue;
    if (second == nullptr || need.cycles.value > second->cycles.value) second = &need;
  }
  if (second == nullptr || second->cycles.value <= 0) return most.evidence;
  return fmt::format("{}: {} times {}", most.evidence,
                     readable_number(most.cycles.value / second->cycles.value, Zeros::keep),
                     second->name);
}

/// True if a launch visibly multiplies matrices on the tensor cores, whose work has no count.
bool uses_tensor_cores(const Subject& subject) {
  const Sum sum = sum_of(subject, {"shared_wgmma_requests", "shared_matrix_load_requests"});
  return sum.missing.empty() && sum.value > 0;
}

Cell limit_of(const Limits& limits, const Need& most) {
  const Need& memory = limits.needs.back();  // less of it may be known
  if (uses_tensor_cores(*limits.subject) && !need_named(limits, "tensor").cycles.missing.empty()) {
    return Missing{"the work of the tensor cores has no count"};
  }
  if (most.cycles.value <= 0) return Missing{"nothing was counted"};
  return memory.cycles.missing.empty() ? most.name : most.name + ", or device memory";
}

/// The need of the most cycles.
const Need& most_of(const Limits& limits) {
  return *std::max_element(
      limits.needs.begin(), limits.needs.end(),
      [](const Need& a, const Need& b) { return a.cycles.value < b.cycles.value; });
}

/// Each variant of a family at its largest size.
std::vector<const Limits*> largest_of(const std::vector<Limits>& all) {
  std::vector<const Limits*> largest;
  for (const Limits& limits : all) {
    const bool has_larger = std::any_of(all.begin(), all.end(), [&](const Limits& other) {
      return other.group->family == limits.group->family &&
             other.group->device_id == limits.group->device_id &&
             is_smaller(*limits.group, *other.group);
    });
    if (!has_larger) largest.push_back(&limits);
  }
  return largest;
}

Table limits_table(const std::vector<const Limits*>& all) {
  Table table;
  table.columns = {Column::text("variant"), Column::number("size", "", "", Kind::count),
                   Column::text("limit"), Column::text("evidence"),
                   Column::number("cycles", "cycles of multiprocessors", "", Kind::count)};
  for (const Limits* limits : all) {
    const Need& most = most_of(*limits);
    auto& row = table.rows.emplace_back();
    row.emplace_back(name_of(*limits));
    row.push_back(size_of(*limits->group));
    row.push_back(limit_of(*limits, most));
    row.emplace_back(evidence_of(most, limits->needs));
    row.emplace_back(most.cycles.value).mark = most.cycles.mark;
  }
  return table;
}

/// A column for each resource that some variant uses.
Table shares_table(const std::vector<const Limits*>& all) {
  Table table;
  table.caption = "Shares of the limit";
  table.columns = {Column::text("variant"), Column::number("size", "", "", Kind::count)};
  for (const Limits* limits : all) {
    table.rows.push_back({name_of(*limits), size_of(*limits->group)});
  }
  for (std::size_t i = 0; !all.empty() && i < all.front()->needs.size(); ++i) {
    const Need& first = all.front()->needs[i];
    if (std::none_of(all.begin(), all.end(),
                     [&](const Limits* limits) { return limits->needs[i].cycles.value > 0; })) {
      continue;
    }
    const bool is_memory = i + 1 == all.front()->needs.size();
    table.columns.push_back(Column::number(first.column + "_share",
                                           is_memory ? "device memory, at least" : first.name, "%",
                                           Kind::quotient));
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Sum& cycles = all[k]->needs[i].cycles;
      const Sum& most = most_of(*all[k]).cycles;
      if (!cycles.missing.empty() || most.value <= 0) {
        table.rows[k].emplace_back(Missing{cycles.missing});
      } else {
        table.rows[k].emplace_back(100 * cycles.value / most.value).mark =
            std::max(cycles.mark, most.mark);
      }
    }
  }
  return table;
}

/// How full the multiprocessors were, and what keeps them from being fuller.
Table occupancy_table(const std::vector<const Limits*>& all) {
  Table table;
  table.caption = "Occupancy";
  table.columns = {Column::text("variant"), Column::number("size", "", "", Kind::count),
                   Column::number("achieved_occupancy", "achieved", "%", Kind::quotient),
                   Column::number("theoretical_occupancy", "theoretical", "%", Kind::quotient),
                   Column::text("occupancy_limiter", "limited by")};
  for (const Limits* limits : all) {
    const LaunchFacts& facts = *limits->facts;
    const Sum achieved = sum_of(*limits->subject, {"achieved_occupancy"});
    auto& row = table.rows.emplace_back();
    row.emplace_back(name_of(*limits));
    row.push_back(size_of(*limits->group));
    row.push_back(achieved.missing.empty() ? Cell(achieved.value)
                                           : Cell(Missing{achieved.missing}));
    row.push_back(facts.occupancy ? Cell(*facts.occupancy)
                                  : Cell(Missing{facts.occupancy_limiter}));
    row.push_back(facts.occupancy ? Cell(facts.occupancy_limiter)
                                  : Cell(Missing{facts.occupancy_limiter}));
  }
  return table;
}

/// " These have no count here, and may need more: tensor cores, L2."
std::string uncounted_text(const std::vector<const Limits*>& all) {
  std::vector<std::string> names;  // "L2" once, of its parts
  for (const Resource& resource : resources()) {
    const bool is_counted = std::all_of(all.begin(), all.end(), [&](const Limits* limits) {
      return need_named(*limits, resource.name).cycles.missing.empty();
    });
    const std::string name =
        std::string(resource.heading).substr(0, std::string_view(resource.heading).find(':'));
    if (!is_counted && (names.empty() || names.back() != name)) names.push_back(name);
  }
  if (names.empty()) return "";
  return fmt::format(" These have no count here, and may need more: {}.", fmt::join(names, ", "));
}

struct LimitsOfRun {
  std::vector<Limits> all;             ///< the launches with all counts
  std::set<int> unlisted;              ///< the compute capabilities of those without rates
  std::vector<std::string> unlimited;  ///< "app/reduce (why a count is missing)"
};

LimitsOfRun limits_of_run(const RunRecord& run, const std::map<std::int64_t, LaunchFacts>& facts) {
  LimitsOfRun limits;
  for (const Group& group : run.groups) {
    for (const Subject& subject : group.subjects) {
      const auto found = facts.find(subject.launches.front()->id);
      if (found == facts.end() || subject.failures() > 0) continue;
      if (const std::string missing = missing_count(subject, found->second.compute_capability);
          !missing.empty()) {
        std::string text = fmt::format("{}/{} ({})", group.family, subject.variant, missing);
        std::vector<std::string>& listed = limits.unlimited;  // once, of all sizes and devices
        if (std::find(listed.begin(), listed.end(), text) == listed.end()) {
          listed.push_back(std::move(text));
        }
      } else if (found->second.rates == nullptr) {
        limits.unlisted.insert(found->second.compute_capability);
      } else {
        limits.all.push_back(limits_of(group, subject, found->second));
      }
    }
  }
  return limits;
}

/// "Without a limit: app/reduce (…) and 3 more."
std::string unlimited_text(const std::vector<std::string>& unlimited) {
  constexpr std::size_t most = 4;
  const std::size_t shown = std::min(unlimited.size(), most);
  std::string text = fmt::format("Without a limit: {}",
                                 fmt::join(unlimited.begin(), unlimited.begin() + shown, ", "));
  if (shown < unlimited.size()) text += fmt::format(" and {} more", unlimited.size() - shown);
  return text + ".";
}

}  // namespace

void add_limits(Document& document, const Source& source) {
  const std::map<std::int64_t, LaunchFacts> facts = facts_of(source);
  const LimitsOfRun of_run = limits_of_run(source.run, facts);
  const std::vector<Limits>& all = of_run.all;
  if (all.empty() && of_run.unlisted.empty()) return;
  document.heading(2, "What limits each variant");
  for (const int capability : of_run.unlisted) {
    document.paragraph(fmt::format(
        "The rates of compute capability {}.{} are not on the list: its limits are not known.",
        capability / 10, capability % 10));
  }
  if (all.empty()) return;
  const std::vector<const Limits*> largest = largest_of(all);
  Document tables;
  tables.table(limits_table(largest));
  tables.table(shares_table(largest));
  tables.table(occupancy_table(largest));
  add_memory(tables, largest);
  add_roofline(tables, all);
  document.paragraph(
      "A count over the rate that NVIDIA documents is the cycles that a resource needs, summed "
      "over the multiprocessors. On a GPU, a unit without a count has the measured share of its "
      "peak, times the cycles of the launch. The resource that needs the most is the limit; the "
      "shares are of it." +
      uncounted_text(largest) + " Each variant at its largest size." +
      marks_legend(tables.marks()));
  if (!of_run.unlimited.empty()) document.paragraph(unlimited_text(of_run.unlimited));
  if (const CardPeaks* card = all.front().facts->card; card != nullptr) {
    document.paragraph(fmt::format(
        "Device memory has the bandwidth of this card: {}. Where its bytes were not counted, they "
        "are those of input and output, each once: the least with cold caches.",
        card->name));
  }
  document.append(std::move(tables));
}

}  // namespace warpmeter::reports::sections
