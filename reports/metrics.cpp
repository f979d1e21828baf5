#include "reports/metrics.h"

#include <algorithm>
#include <array>
#include <set>

#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

constexpr std::array<ComparedMetric, 9> compared = {{
    {"duration", Kind::reading},
    {"relative_confidence", Kind::quotient},
    {"shared_load_transactions_per_request", Kind::quotient},
    {"shared_store_transactions_per_request", Kind::quotient},
    {"gld_efficiency", Kind::quotient},
    {"gst_efficiency", Kind::quotient},
    {"gld_transactions", Kind::count},
    {"gst_transactions", Kind::count},
    {"achieved_bandwidth", Kind::reading},
}};

using Names = std::set<std::string, std::less<>>;

Names counters_of(const schema::MetricInfo& metric) {
  Names counters;
  for (const schema::Term& term : metric.numerator) counters.insert(term.counter);
  for (const schema::Term& term : metric.denominator) counters.insert(term.counter);
  return counters;
}

Names standard_counters() {
  const std::vector<std::string> counters =
      schema::Catalogue::get().counters_for(std::array<std::string, 1>{"@default"});
  return {counters.begin(), counters.end()};
}

bool is_compared(std::string_view name) {
  return std::any_of(compared.begin(), compared.end(),
                     [&](const ComparedMetric& metric) { return metric.name == name; });
}

}  // namespace

std::span<const ComparedMetric> compared_metrics() { return compared; }

std::vector<std::string> other_metrics(const std::vector<std::string>& present) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  const Names standard = standard_counters();
  Names metrics, used;
  for (const std::string& name : present) {
    const schema::MetricInfo* metric = catalogue.find_metric(name);
    if (metric == nullptr) continue;
    const Names counters = counters_of(*metric);
    if (std::includes(standard.begin(), standard.end(), counters.begin(), counters.end())) continue;
    metrics.insert(name);
    used.insert(counters.begin(), counters.end());
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
  if (info != nullptr) return Column::number(info->name, info->heading, info->unit, kind);
  const schema::CounterInfo* counter = schema::Catalogue::get().find_counter(metric);
  return Column::number(std::string(metric), "", counter != nullptr ? counter->unit : "", kind);
}

}  // namespace warpmeter::reports
