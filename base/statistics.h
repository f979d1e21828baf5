// SPDX-License-Identifier: MIT
// Plain statistics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace warpmeter {

/// The mean of the two in the middle where their number is even. `sorted`: ascending, at least one.
template <class Numbers>
double median_of_sorted(const Numbers& sorted) {
  const std::size_t n = sorted.size();
  return (double{sorted[(n - 1) / 2]} + double{sorted[n / 2]}) / 2;
}

/// In any order; 0 of none.
inline double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return median_of_sorted(sorted);
}

}  // namespace warpmeter
