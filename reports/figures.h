// SPDX-License-Identifier: MIT
// The figures of a run. A profiled program launches some kernels a million times with a hundred
// figures each, so the values of launches that are alike in all else are kept together.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/distribution.h"
#include "reports/table/table.h"
#include "schema/figures/figures.h"
#include "schema/figures/kinds.h"

namespace warpmeter::reports {

/// A counter or metric of one launch, or of several together.
struct Figure {
  std::optional<double> value;  ///< the median
  std::optional<Range> range;   ///< the extremes, where the launches differ
  std::optional<double> error;  ///< half of the widest 95 % interval, where it is an estimate
  std::string grade = to_string(schema::Grade::unavailable);  ///< the weakest
  std::string reason;                                         ///< why there is no value
};

/// The cost of a launch where nothing was timed: its shared wavefronts and global sectors together,
/// those of loads, stores, atomics, reductions and matrices.
inline constexpr std::string_view all_transactions = "transactions";

/// One resource of some launches.
struct ResourceFigure {
  Distribution values;
  schema::Grade weakest = schema::Grade::measured;  ///< the weakest of the values
  std::string reason;                               ///< the first why there is none
};

/// Launches that are alike in all but the values of their figures. Texts are those of their kind.
struct LaunchRecord {
  std::int64_t id = 0;  ///< the number of the first of them
  std::size_t count = 0;
  std::int64_t device_id = 0;
  std::string_view family, variant, reason;
  std::optional<std::int64_t> size;
  bool failed = false, verified = false, is_ceiling = false;
  bool computes = false;  ///< its useful work has floating-point operations
  /// By how much a session moves its time, as a share of it: a standard deviation, of
  /// reports/statistics.h, the largest of these launches. 0 where one sample, or none, was taken.
  double session_shift = 0;
  const schema::FigureShape* shape = nullptr;
  std::vector<Distribution> values;  ///< one a figure of the shape; empty without a value
  std::map<std::string, ResourceFigure, std::less<>> resources;  ///< those that were asked for
  /// Half of the widest 95 % interval of these launches, by counter or metric that is an estimate.
  std::map<std::string, double, std::less<>> errors;

  bool has_value(std::string_view metric) const;
  /// The sum over all launches; nullopt where some have no value. `metric` may be all_transactions.
  std::optional<double> sum(std::string_view metric) const;
};

using LaunchRecords = std::vector<const LaunchRecord*>;

/// The common figure of the launches: of those that have a value their median, else the first
/// reason that one gives. `metric` may be all_transactions too.
Figure figure_of(const LaunchRecords& launches, std::string_view metric);

/// Every metric of some launch, sorted.
std::vector<std::string> metrics_of(const std::vector<LaunchRecord>& launches);

struct FigureGap {
  std::string_view metric, reason;
  std::vector<std::size_t> launches;  ///< places of records, ascending
};
/// The metrics without a value, gathered by metric and reason.
std::vector<FigureGap> gaps_of(const std::vector<LaunchRecord>& launches);
/// The metrics with a value of a grade that is no better for a reason, gathered in the same way.
std::vector<FigureGap> doubts_of(const std::vector<LaunchRecord>& launches);

}  // namespace warpmeter::reports
