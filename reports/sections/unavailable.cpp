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

using Places = std::vector<std::size_t>;  // the places of records in the run, ascending

bool holds(const Places& places, std::size_t place) {
  return std::binary_search(places.begin(), places.end(), place);
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
Places measured_launches(const RunRecord& run) {
  Places places;
  for (std::size_t i = 0; i < run.launches.size(); ++i) {
    if (!run.launches[i].failed) places.push_back(i);
  }
  return places;
}

/// Counts records by a name, all of them and those among some.
struct Coverage {
  std::size_t all = 0, among = 0;
  bool whole() const { return among == all; }
};

std::string where(const RunRecord& run, const Places& measured, const Places& places) {
  if (places == measured) {
    return places.size() == run.launches.size() ? "every launch" : "every launch that ended well";
  }
  using Variant = std::pair<std::string_view, std::string_view>;
  std::map<std::string_view, Coverage> families;
  std::map<Variant, Coverage> variants;
  for (const std::size_t place : measured) {
    const LaunchRecord& launch = run.launches[place];
    const std::size_t one = holds(places, place) ? 1 : 0;
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
  for (const std::size_t place : places) {
    const LaunchRecord& launch = run.launches[place];
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
std::vector<Unavailable> gather(const RunRecord& run, const std::vector<FigureGap>& gaps) {
  const Places measured = measured_launches(run);
  std::map<std::pair<std::string, Places>, std::size_t> known;
  std::vector<Unavailable> gathered;
  for (const FigureGap& gap : gaps) {
    if (is_left_out(gap.metric, gap.reason)) continue;
    Places places;
    std::set_intersection(gap.launches.begin(), gap.launches.end(), measured.begin(),
                          measured.end(), std::back_inserter(places));
    if (places.empty()) continue;
    const std::string reason(gap.reason.empty() ? "no reason was given" : gap.reason);
    const auto [place, is_new] = known.try_emplace({reason, places}, gathered.size());
    if (is_new) gathered.push_back({{}, reason, "", std::move(places), 0});
    gathered[place->second].metrics.emplace_back(gap.metric);
  }
  for (Unavailable& one : gathered) {
    one.metrics = without_inputs(one.metrics);
    one.where = where(run, measured, one.launches);
    for (const std::size_t place : one.launches) one.count += run.launches[place].count;
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
  std::vector<FigureGap> gaps = gaps_of(run.launches);
  const std::vector<std::string> others = other_metrics(run.metrics);
  // A chip that cannot count what @default shows where there is any (copies in bulk, say) mostly
  // lacks the instruction. Nobody asked for it by name where nothing but @default was counted.
  const bool is_default_alone = has_standard_set(run.metrics) &&
                                std::all_of(others.begin(), others.end(), is_shown_where_any);
  if (is_default_alone) {
    std::erase_if(gaps, [](const FigureGap& gap) { return is_shown_where_any(gap.metric); });
  }
  return gather(run, gaps);
}

void add_doubtful(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  add(document, doubtful_title, gather(run, doubts_of(run.launches)));
}

void add_unavailable(Document& document, const Source& source) {
  add(document, unavailable_title, unavailable_figures(source.run));
}

}  // namespace warpmeter::reports::sections
