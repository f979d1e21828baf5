// SPDX-License-Identifier: MIT
// Which metrics the tables of a report show, and how.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/table/table.h"

namespace warpmeter::reports {

/// A standard column of the comparison tables.
struct ComparedMetric {
  std::string_view name;
  Kind kind = Kind::quotient;
  std::string_view heading = {};  ///< for a counter, which has none in the catalogue
};

/// In the order of the columns. `relative_confidence` is the timing's, as a fraction.
std::span<const ComparedMetric> compared_metrics();

/// The metrics beyond the standard set that a run has results for: metrics that need other
/// counters, and counters that are in no metric present. Sorted as given.
std::vector<std::string> other_metrics(const std::vector<std::string>& present);

/// True if a run with results for these has all that @default always shows.
bool has_standard_set(const std::vector<std::string>& present);

/// True if a counter, or a metric of such counters, is only worth a row where it is not zero: it
/// was measured without being asked for (see schema::SetInfo).
bool is_shown_where_any(std::string_view name);
/// True if such a metric has no value because its denominator is 0: "no global atomics".
bool is_left_out(std::string_view metric, std::string_view reason);

/// The counters that a metric of the catalogue is derived from; none for any other name.
std::set<std::string> inputs_of(std::string_view metric);

/// The catalogue's heading, and its unit unless the heading says it ("loads / request"); a raw name
/// is its own heading.
Column metric_column(std::string_view metric, Kind kind);

}  // namespace warpmeter::reports
