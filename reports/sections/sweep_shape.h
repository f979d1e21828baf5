// SPDX-License-Identifier: MIT
// The shown part of a sweep: by which metric, over which parameters, and who is best at each size.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reports/best.h"
#include "reports/sweep.h"

namespace warpmeter::reports::sections {

/// The combinations of a sweep at one size, ranked by one metric.
class Ranking {
 public:
  Ranking(const Sweep::Size& size, const std::string& metric);

  const Sweep::Size& size() const { return *size_; }
  const std::string& metric() const { return metric_; }
  const std::vector<Standing>& all() const { return standings_; }  ///< the best first

  /// nullptr of what does not compete.
  const Standing* of(const Subject* subject) const;

  bool all_equal() const;
  /// Never where all are equal.
  bool is_best(const Standing& standing) const;
  /// Not the best, and not known to be worse: the bounds within which the two are known overlap.
  bool is_as_good(const Standing& standing) const;
  /// How many are equal to the first or as good.
  std::size_t as_good() const;
  std::size_t failed() const;

 private:
  const Sweep::Size* size_;
  std::string metric_;
  std::vector<Standing> standings_;
  std::map<const Subject*, std::size_t> places_;
};

/// How the values of a metric are shown: times in the unit that suits all.
struct ShownMetric {
  Column column;
  double in = 1;  ///< a value shown is the figure over this
};

ShownMetric shown_metric(const std::string& metric, const std::vector<double>& values);

struct SweepShape {
  const Sweep* sweep = nullptr;
  std::string metric;               ///< empty: no combination has a figure
  ShownMetric shown;                ///< the shown metric
  std::vector<Ranking> rankings;    ///< by size, ascending
  std::vector<std::size_t> places;  ///< the places of the parameters shown: one or two
  std::vector<std::vector<std::size_t>>
      values;                       ///< the values of each of these, which values are shown
  std::vector<std::string> others;  ///< parameters that vary and are not shown

  std::string parameters() const;  ///< "TILE and PAD"
};

SweepShape shape_of(const Sweep& sweep, const RunRecord& run);

/// The points of a size by their values of the shown parameters.
using PlacedPoints = std::map<std::vector<std::size_t>, std::vector<const Sweep::Point*>>;
PlacedPoints placed(const SweepShape& shape, const Sweep::Size& size);

/// Words of cells without a figure.
inline constexpr const char* failed_word = "failed";
inline constexpr const char* absent_word = "·";  ///< not in this run

/// The best of the points, as a cell of a plot.
Cell cell_of(const SweepShape& shape, const Ranking& ranking,
             const std::vector<const Sweep::Point*>& points);

}  // namespace warpmeter::reports::sections
