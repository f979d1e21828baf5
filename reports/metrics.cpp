// SPDX-License-Identifier: MIT
#include "reports/metrics.h"

#include <algorithm>
#include <array>
#include <set>

#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

constexpr std::array<ComparedMetric, 12> compared_by_default = {{
    {"duration", Kind::reading},
    {"relative_confidence", Kind::quotient},
    {"shared_load_transactions_per_request", Kind::quotient},
    {"shared_store_transactions_per_request", Kind::quotient},
    {"gld_efficiency", Kind::quotient},
    {"gst_efficiency", Kind::quotient},
    {"gld_transactions", Kind::count},
    {"gst_transactions", Kind::count},
    {"shared_atomic_wavefronts", Kind::count, "shared atomics"},
    {"global_atomic_sectors", Kind::count, "global atomics"},
    {"global_reduction_sectors", Kind::count, "global reductions"},
    {"achieved_bandwidth", Kind::reading},
}};

/// Those that every run has; of these, the ones that are shown only where they are not zero are
/// none of the standard.
std::set<std::string> standard_counters() {
  const schema::SetInfo* set = schema::Catalogue::get().find_set("default");
  const std::vector<std::string> counters = schema::Catalogue::get().counters_for(set->metrics);
  return {counters.begin(), counters.end()};
}

bool is_compared(std::string_view name) {
  return std::any_of(compared_by_default.begin(), compared_by_default.end(),
                     [&](const ComparedMetric& metric) { return metric.name == name; });
}

}  // namespace

std::span<const ComparedMetric> compared_metrics() { return compared_by_default; }

bool is_shown_where_any(std::string_view name) {
  const auto sets = schema::Catalogue::get().sets();
  const auto is_named = [&](std::string_view one) {
    return std::any_of(sets.begin(), sets.end(), [&](const schema::SetInfo& set) {
      return std::find(set.where_any.begin(), set.where_any.end(), one) != set.where_any.end();
    });
  };
  const std::set<std::string> inputs = inputs_of(name);
  return inputs.empty() ? is_named(name) : std::all_of(inputs.begin(), inputs.end(), is_named);
}

bool has_standard_set(const std::vector<std::string>& present) {
  const std::set<std::string> standard = standard_counters();
  return std::all_of(standard.begin(), standard.end(), [&](const auto& counter) {
    return std::find(present.begin(), present.end(), counter) != present.end();
  });
}

bool is_left_out(std::string_view metric, std::string_view reason) {
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  return info != nullptr && reason == info->undefined && is_shown_where_any(metric);
}

std::set<std::string> inputs_of(std::string_view metric) {
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  if (info == nullptr) return {};
  const std::vector<std::string> counters = info->counters();
  return {counters.begin(), counters.end()};
}

std::vector<std::string> other_metrics(const std::vector<std::string>& present) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  const std::set<std::string> standard = standard_counters();
  // A metric that follows from what @default counts is shown when it was asked for alone.
  std::set<std::string> counted = standard;
  if (has_standard_set(present)) {
    const std::vector<std::string>& more = catalogue.find_set("default")->where_any;
    counted.insert(more.begin(), more.end());
  }
  std::set<std::string> metrics, used;
  for (const std::string& name : present) {
    std::set<std::string> counters = inputs_of(name);
    if (std::includes(counted.begin(), counted.end(), counters.begin(), counters.end())) continue;
    metrics.insert(name);
    used.merge(counters);
  }
  std::vector<std::string> others;
  for (const std::string& name : present) {
    const bool metric = catalogue.find_metric(name) != nullptr;
    const bool lone_counter = !metric && !standard.contains(name) && !used.contains(name);
    if (!is_compared(name) && (metrics.contains(name) || lone_counter)) others.push_back(name);
  }
  return others;
}

Column metric_column(std::string_view metric, Kind kind) {
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  if (info != nullptr) {
    const bool said = info->unit.ends_with("/request") && info->heading.ends_with("/ request");
    return Column::number(info->name, info->heading, said ? "" : info->unit, kind);
  }
  const schema::CounterInfo* counter = schema::Catalogue::get().find_counter(metric);
  const auto* const compared =
      std::find_if(compared_by_default.begin(), compared_by_default.end(),
                   [&](const ComparedMetric& one) { return one.name == metric; });
  const std::string_view heading = compared == compared_by_default.end() ? "" : compared->heading;
  return Column::number(std::string(metric), std::string(heading),
                        counter != nullptr ? counter->unit : "", kind);
}

}  // namespace warpmeter::reports
