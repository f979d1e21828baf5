// SPDX-License-Identifier: MIT
#include "reports/sections/sweep_shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/statistics.h"
#include "reports/metrics.h"
#include "reports/plot/plot.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_values = 64;  // the most values of a parameter in a plot

/// All of a parameter's values, or of very many those with the best medians at the largest size.
std::vector<std::size_t> values_shown(const SweepShape& shape, std::size_t place) {
  std::vector<std::size_t> values(shape.sweep->parameters[place].values.size());
  std::iota(values.begin(), values.end(), std::size_t{0});
  if (values.size() <= most_values) return values;
  std::vector<std::vector<double>> costs(values.size());
  const Ranking& largest = shape.rankings.back();
  for (const Sweep::Point& point : largest.size().points) {
    const Standing* standing = largest.of(point.subject);
    if (standing != nullptr) costs[point.at[place]].push_back(standing->costs.front());
  }
  std::stable_sort(values.begin(), values.end(), [&](std::size_t a, std::size_t b) {
    if (costs[a].empty() || costs[b].empty()) return !costs[a].empty() && costs[b].empty();
    return median(costs[a]) < median(costs[b]);
  });
  values.resize(most_values);
  std::sort(values.begin(), values.end());
  return values;
}

Cell cell_without_figure(const std::string& metric,
                         const std::vector<const Sweep::Point*>& points) {
  if (points.empty()) return Missing{"not in this run", absent_word};
  for (const Sweep::Point* point : points) {
    for (const LaunchRecord* launch : point->subject->launches) {
      if (launch->failed) return Missing{fmt::format("failed: {}", launch->reason), failed_word};
    }
  }
  const std::string reason = points.front()->subject->figure(metric).reason;
  return Missing{reason.empty() ? "no figure" : reason};
}

}  // namespace

Ranking::Ranking(const Sweep::Size& size, const std::string& metric)
    : size_(&size), metric_(metric) {
  std::set<const Subject*> own;
  for (const Sweep::Point& point : size.points) own.insert(point.subject);
  for (Standing& standing : standings(*size.group, {metric})) {
    if (!own.contains(standing.subject)) continue;
    places_.emplace(standing.subject, standings_.size());
    standings_.push_back(std::move(standing));
  }
}

const Standing* Ranking::of(const Subject* subject) const {
  const auto place = places_.find(subject);
  return place == places_.end() ? nullptr : &standings_[place->second];
}

bool Ranking::all_equal() const {
  return !standings_.empty() && standings_.front().costs == standings_.back().costs;
}

bool Ranking::is_best(const Standing& standing) const {
  return !all_equal() && standing.costs == standings_.front().costs;
}

bool Ranking::is_as_good(const Standing& standing) const {
  return may_be_as_good(standing, standings_.front(), metric_);
}

std::size_t Ranking::as_good() const {
  if (standings_.empty()) return 0;
  return static_cast<std::size_t>(
      std::count_if(standings_.begin() + 1, standings_.end(), [&](const Standing& standing) {
        return standing.costs == standings_.front().costs || is_as_good(standing);
      }));
}

std::size_t Ranking::failed() const {
  return static_cast<std::size_t>(
      std::count_if(size_->points.begin(), size_->points.end(),
                    [](const Sweep::Point& point) { return point.subject->failures() > 0; }));
}

std::string SweepShape::parameters() const {
  std::vector<std::string> names;
  for (const std::size_t place : places) names.push_back(sweep->parameters[place].name);
  return fmt::format("{}", fmt::join(names, " and "));
}

ShownMetric shown_metric(const std::string& metric, const std::vector<double>& values) {
  Kind kind = Kind::quotient;
  for (const ComparedMetric& compared : compared_metrics()) {
    if (compared.name == metric) kind = compared.kind;
  }
  if (metric == all_transactions) {
    return {Column::number(metric, "shared and global transactions", "", Kind::count)};
  }
  if (metric != "duration") return {metric_column(metric, kind)};
  const DurationUnit unit = duration_unit(values);
  return {Column::number("duration", "time", std::string(unit.symbol), Kind::reading), unit.in_ns};
}

SweepShape shape_of(const Sweep& sweep, const RunRecord& run) {
  SweepShape shape;
  shape.sweep = &sweep;
  shape.metric = metric_of(sweep, run);
  for (const Sweep::Size& size : sweep.sizes) shape.rankings.emplace_back(size, shape.metric);
  std::vector<double> values;
  for (const Ranking& ranking : shape.rankings) {
    for (const Standing& standing : ranking.all()) values.push_back(standing.values.front());
  }
  shape.shown = shown_metric(shape.metric, values);
  shape.places = shown_parameters(sweep, shape.metric, 2);
  for (const std::size_t place : shape.places) shape.values.push_back(values_shown(shape, place));
  for (std::size_t i = 0; i < sweep.parameters.size(); ++i) {
    const bool is_shown =
        std::find(shape.places.begin(), shape.places.end(), i) != shape.places.end();
    if (!is_shown && sweep.parameters[i].varies()) shape.others.push_back(sweep.parameters[i].name);
  }
  return shape;
}

PlacedPoints placed(const SweepShape& shape, const Sweep::Size& size) {
  PlacedPoints points;
  for (const Sweep::Point& point : size.points) {
    std::vector<std::size_t> at;
    for (const std::size_t place : shape.places) at.push_back(point.at[place]);
    points[at].push_back(&point);
  }
  return points;
}

Cell cell_of(const SweepShape& shape, const Ranking& ranking,
             const std::vector<const Sweep::Point*>& points) {
  const Standing* best = nullptr;
  for (const Sweep::Point* point : points) {
    const Standing* standing = ranking.of(point->subject);
    if (standing != nullptr && (best == nullptr || standing->costs < best->costs)) best = standing;
  }
  if (best == nullptr) return cell_without_figure(ranking.metric(), points);
  Cell cell(best->values.front() / shape.shown.in);
  cell.mark = mark_of(best->subject->figure(ranking.metric()).grade);
  const std::string_view rank = ranking.is_best(*best)      ? best_mark
                                : ranking.is_as_good(*best) ? as_good_mark
                                                            : "";
  if (!rank.empty()) cell.mark += (cell.mark.empty() ? "" : " ") + std::string(rank);
  return cell;
}

}  // namespace warpmeter::reports::sections
