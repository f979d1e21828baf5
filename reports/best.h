// SPDX-License-Identifier: MIT
// Which variants of a run do best by a metric or several: for `run --best`, and for the sweeps of a
// report, so that the two cannot disagree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// A variant that competes, with its value of each metric.
struct Standing {
  const Subject* subject = nullptr;
  std::vector<double> values;  ///< as the metrics were asked for
  std::vector<double> costs;   ///< the same so that less is better
  double transactions = 0;     ///< shared and global ones; infinite where they are not known
};

/// True if a cell of the table says that its variant may be as good as the best.
bool has_as_good(const Table& best);

/// Which end of a metric is the better one, as the catalogue says.
bool is_better_higher(std::string_view metric);

/// The variants of one family, size and device, the best by the first metric first; of equal ones
/// that with the fewest transactions. A variant that failed, or lacks a value of one of the metrics
/// does not compete.
std::vector<Standing> standings(const Group& group, const std::vector<std::string>& metrics);

/// Between which bounds a figure is known: a time, and what follows from it, within the 95 %
/// interval of its median, which holds the shift of its session too, of several launches the
/// extremes. The figure has a value.
Range bounds_of(const Subject& subject, std::string_view metric);

/// Not equal to the best, and not known to be worse: the bounds of the two overlap.
bool may_be_as_good(const Standing& standing, const Standing& best, std::string_view metric);

/// The standings that no other beats in one metric without being worse in another.
std::vector<Standing> front_of(const std::vector<Standing>& all);

/// Throws Error{usage} for a name that is no metric of the catalogue, with the nearest.
void check_best(const std::vector<std::string>& metrics);

/// By one metric the best five, those equal to the fifth and all that may be as good as the first,
/// best first; where somebody may be, marks say who (best_mark, as_good_mark). By several metrics
/// the front: the variants that no other beats in one without being worse in another. Variants
/// compete on the same device; of several, a column names it, and each other named size has one.
/// The ceiling, which does less, stays out. No row where none has a value.
Table best_table(const schema::Reader& reader, std::int64_t run_id,
                 const std::vector<std::string>& metrics);

}  // namespace warpmeter::reports
