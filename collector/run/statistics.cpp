// SPDX-License-Identifier: MIT
#include "collector/run/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/statistics.h"

namespace warpmeter::run {

MedianInterval median_interval(std::span<const double> samples) {
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

std::string why_stopped(const StoppingRule& rule, int taken, double relative_confidence,
                        bool is_over) {
  if (taken >= rule.min_samples && relative_confidence < rule.relative_confidence) {
    return "confidence";
  }
  if (taken >= rule.max_samples) return "samples";
  return is_over ? "time" : "";
}

}  // namespace warpmeter::run
