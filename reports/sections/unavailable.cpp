// SPDX-License-Identifier: MIT
// The values that are missing or not exact, and why: one row a reason, not one a value. Metrics
// that lack it for the same reason in the same launches share a row; launches are named as shortly
// as is true (all of them, a whole family, single variants).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "reports/metrics.h"
#include "reports/sections/sections.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_names = 12;  // the most names of metrics or launches in one cell

using Ids = std::vector<std::int64_t>;  // ascending

bool holds(const Ids& ids, std::int64_t id) {
  return std::binary_search(ids.begin(), ids.end(), id);
}

std::string listed(const std::vector<std::string>& names, std::string_view what) {
  if (names.size() <= most_names) return fmt::format("{}", fmt::join(names, ", "));
  const std::vector<std::string> first(names.begin(), names.begin() + most_names);
  return fmt::format("{} and {} more {}", fmt::join(first, ", "), names.size() - most_names, what);
}

/// A metric speaks for its counters, where both lack a value for the same reason.
std::vector<std::string> without_inputs(const std::vector<std::string>& names) {
  std::set<std::string> inputs;
  for (const std::string& name : names) inputs.merge(inputs_of(name));
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (!inputs.contains(name)) others.push_back(name);
  }
  return others;
}

/// Launches that ended well: a failed one has no figures that could be missing.
Ids measured_launches(const RunRecord& run) {
  Ids ids;
  for (const LaunchRecord& launch : run.launches) {
    if (!launch.failed) ids.push_back(launch.id);
  }
  return ids;
}

/// Counts launches by a name, all of them and those among `ids`.
struct Coverage {
  std::size_t all = 0, among = 0;
  bool whole() const { return among == all; }
};

std::string where(const RunRecord& run, const Ids& measured, const Ids& ids) {
  if (ids == measured) {
    return ids.size() == run.launches.size() ? "every launch" : "every launch that ended well";
  }
  using Variant = std::pair<std::string_view, std::string_view>;
  std::map<std::string_view, Coverage> families;
  std::map<Variant, Coverage> variants;
  for (const LaunchRecord& launch : run.launches) {
    if (!holds(measured, launch.id)) continue;
    const std::size_t one = holds(ids, launch.id) ? 1 : 0;
    for (Coverage* coverage :
         {&families[launch.family], &variants[Variant(launch.family, launch.variant)]}) {
      ++coverage->all;
      coverage->among += one;
    }
  }
  std::vector<std::string> names;
  std::set<std::string> named;
  std::set<
      std::tuple<std::string_view, std::string_view, std::optional<std::int64_t>, std::int64_t>>
      seen;  // a name takes longer than a look into it
  for (const LaunchRecord& launch : run.launches) {
    if (!holds(ids, launch.id)) continue;
    if (!seen.emplace(launch.family, launch.variant, launch.size, launch.device_id).second) {
      continue;
    }
    const Variant variant(launch.family, launch.variant);
    const std::string name = families[launch.family].whole() ? std::string(launch.family)
                             : variants[variant].whole()
                                 ? fmt::format("{}/{}", launch.family, launch.variant)
                                 : run.name_of(launch);
    if (named.insert(name).second) names.push_back(name);
  }
  return listed(names, "launches");
}

/// Those that lack something for the same reason in the same launches together.
std::vector<Unavailable> gather(const RunRecord& run, const std::vector<RunFigures::Gap>& gaps) {
  const Ids measured = measured_launches(run);
  std::map<std::pair<std::string, Ids>, std::size_t> known;
  std::vector<Unavailable> gathered;
  for (const RunFigures::Gap& gap : gaps) {
    if (is_left_out(gap.metric, gap.reason)) continue;
    Ids ids;
    std::set_intersection(gap.launches.begin(), gap.launches.end(), measured.begin(),
                          measured.end(), std::back_inserter(ids));
    if (ids.empty()) continue;
    const std::string reason(gap.reason.empty() ? "no reason was given" : gap.reason);
    const auto [place, is_new] = known.try_emplace({reason, ids}, gathered.size());
    if (is_new) gathered.push_back({{}, reason, "", std::move(ids)});
    gathered[place->second].metrics.emplace_back(gap.metric);
  }
  for (Unavailable& one : gathered) {
    one.metrics = without_inputs(one.metrics);
    one.where = where(run, measured, one.launches);
  }
  return gathered;
}

void add(Document& document, const char* title, const std::vector<Unavailable>& gathered) {
  if (gathered.empty()) return;
  Table table;
  table.columns = {Column::text("what"), Column::text("where"), Column::text("why")};
  for (const Unavailable& one : gathered) {
    table.rows.push_back({listed(one.metrics, "figures"), one.where, one.reason});
  }
  document.heading(2, title);
  document.table(std::move(table));
}

}  // namespace

std::vector<Unavailable> unavailable_figures(const RunRecord& run) {
  std::vector<RunFigures::Gap> gaps = run.figures->gaps();
  const std::vector<std::string> metrics = run.figures->metrics(), others = other_metrics(metrics);
  // A chip that cannot count what @default shows where there is any (copies in bulk, say) mostly
  // lacks the instruction. Nobody asked for it by name where nothing but @default was counted.
  const bool is_default_alone =
      has_standard_set(metrics) && std::all_of(others.begin(), others.end(), is_shown_where_any);
  if (is_default_alone) {
    std::erase_if(gaps, [](const RunFigures::Gap& gap) { return is_shown_where_any(gap.metric); });
  }
  return gather(run, gaps);
}

void add_doubtful(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  add(document, doubtful_title, gather(run, run.figures->doubts()));
}

void add_unavailable(Document& document, const Source& source) {
  add(document, unavailable_title, unavailable_figures(source.run));
}

}  // namespace warpmeter::reports::sections
