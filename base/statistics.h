// SPDX-License-Identifier: MIT
// Plain statistics.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
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

struct Statistics {
  double median = 0, min = 0, mean = 0;
  std::optional<double> stddev;  ///< that of a sample (n − 1 in the denominator); none of one value
};

/// In any order; at least one.
inline Statistics statistics_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  Statistics result;
  result.min = samples.front();
  result.median = median_of_sorted(samples);
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(n);
  if (n > 1) {
    double squares = 0;
    for (const double sample : samples) squares += (sample - result.mean) * (sample - result.mean);
    result.stddev = std::sqrt(squares / static_cast<double>(n - 1));
  }
  return result;
}

struct MedianInterval {
  double median = 0;
  double low = 0, high = 0;  ///< 95 % confidence interval of the median, from order statistics
  double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

/// The interval holds whatever the distribution is: its ends are the order statistics whose ranks
/// are n/2 ± 0.98·√n (the normal approximation of the binomial; Conover, Practical Nonparametric
/// Statistics). Below 6 samples no order statistic reaches 95 %, so the ends are the extremes.
/// `samples` is not empty.
inline MedianInterval median_interval(std::span<const double> samples) {
  assert(!samples.empty());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t count = sorted.size();
  MedianInterval interval;
  interval.median = median_of_sorted(sorted);

  // Ranks count from 1: low = ⌊n/2 − 0.98√n⌋, high = ⌈1 + n/2 + 0.98√n⌉, clamped to the extremes.
  const double half = 0.98 * std::sqrt(static_cast<double>(count));
  const double centre = static_cast<double>(count) / 2;
  const double low = std::max(1.0, std::floor(centre - half));
  const double high = std::min(static_cast<double>(count), std::ceil(1 + centre + half));
  interval.low = sorted[static_cast<std::size_t>(low) - 1];
  interval.high = sorted[static_cast<std::size_t>(high) - 1];
  return interval;
}

}  // namespace warpmeter
