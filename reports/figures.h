// SPDX-License-Identifier: MIT
// The figures of all launches of a run. A profiled program has tens of thousands of launches with a
// hundred figures each, so they are kept as columns of small rows; grades and reasons are numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/table/table.h"
#include "schema/figures.h"

namespace warpmeter::reports {

/// A counter or metric of one launch, or of several together.
struct Figure {
  std::optional<double> value;  ///< the median
  std::optional<Range> range;   ///< the extremes, where the launches differ
  std::string grade = to_string(schema::Grade::unavailable);  ///< the weakest
  std::string reason;                                         ///< why there is no value
};

/// The cost of a launch where nothing was timed: its shared wavefronts and global sectors together,
/// those of loads, stores, atomics, reductions and matrices.
inline constexpr std::string_view all_transactions = "transactions";

class RunFigures {
 public:
  /// In the order of launches, for each metric.
  void add(const schema::Figure& figure);

  /// The common figure of the launches (ascending): of those that have a value their
  /// median, else the first reason given. `metric` may be all_transactions too.
  Figure of(const std::vector<std::int64_t>& launches, std::string_view metric) const;
  std::optional<double> value(std::int64_t launch, std::string_view metric) const;

  /// Every metric of some launch, sorted.
  std::vector<std::string> metrics() const;

  struct Gap {
    std::string_view metric, reason;
    std::vector<std::int64_t> launches;  ///< ascending
  };
  /// The metrics without a value, gathered by metric and reason.
  std::vector<Gap> gaps() const;
  /// The metrics with a value of a grade that is no better for a reason, gathered in the same way.
  std::vector<Gap> doubts() const;

 private:
  struct Reading {
    std::int64_t launch = 0;
    double value = 0;
    schema::Grade grade = schema::Grade::unavailable;  ///< without a value when unavailable
    std::uint32_t reason = 0;
  };
  using Readings = std::vector<Reading>;
  using Columns = std::map<std::string, Readings, std::less<>>;

  Readings& column_of(std::string_view metric);
  template <class Is>
  std::vector<Gap> gathered(Is&& is) const;
  /// The sum of its parts; without a value where one of them has none.
  Figure transactions_of(const std::vector<std::int64_t>& launches) const;
  static const Reading* find(const Readings& readings, std::int64_t launch);

  std::uint32_t number_of(std::string_view reason);

  Columns columns_;  ///< none is empty
  /// The columns in the order in which they came: that of the next launch, mostly.
  std::vector<Columns::iterator> order_;
  std::size_t next_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<std::string> reasons_ = {""};  ///< the first is no reason
};

}  // namespace warpmeter::reports
