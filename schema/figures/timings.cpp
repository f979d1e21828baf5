// SPDX-License-Identifier: MIT
#include "schema/figures/timings.h"

#include <algorithm>

#include "schema/figures/value.h"
#include "schema/view_sql.h"

namespace warpmeter::schema {
namespace {

/// The columns are the launch, its median, its confidence, and each metric.
std::string sql_of(std::span<const MetricInfo* const> metrics) {
  std::string columns;
  for (const MetricInfo* metric : metrics) columns += ", {" + metric->name + "}";
  return view_sql(
      "SELECT t.launch_id, t.median_ns, CASE WHEN t.samples > 1 THEN t.relative_confidence END" +
      columns +
      " FROM t_timing t JOIN t_launch l ON l.launch_id = t.launch_id "
      "WHERE t.launch_id BETWEEN :first AND :last ORDER BY t.launch_id");
}

}  // namespace

Timings::Timings(const Reader& reader, const LaunchKinds& kinds) : reader_(reader), kinds_(kinds) {
  are_there_ = std::any_of(kinds.all.begin(), kinds.all.end(),
                           [](const LaunchKind& kind) { return !kind.cache.empty(); });
  for (const MetricInfo& metric : Catalogue::get().metrics()) {
    if (metric.is_timed) metrics_.push_back(&metric);
  }
  sql_ = sql_of(metrics_);
}

void Timings::read(std::size_t first, std::size_t end) {
  timed_.clear();
  values_.clear();
  next_ = 0;
  if (!are_there_) return;
  const Parameters range = {{":first", kinds_.ids[first]}, {":last", kinds_.ids[end - 1]}};
  reader_.each(sql_, range, [&](std::span<const Value> row) {
    const auto launch = kinds_.find(integer_in(row[0]));
    if (!launch || kinds_.of(*launch).failed) return;
    Timed& timed = timed_.emplace_back();
    timed.launch = *launch;
    timed.median_ns = number_in(row[1]).value_or(0);
    timed.confidence = number_in(row[2]);
    for (const Value& value : row.subspan(3)) values_.push_back(number_in(value));
  });
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    timed_[i].values = std::span(values_).subspan(i * metrics_.size(), metrics_.size());
  }
}

const Timed* Timings::of(std::size_t launch) {
  if (next_ == timed_.size() || timed_[next_].launch != launch) return nullptr;
  return &timed_[next_++];
}

}  // namespace warpmeter::schema
