// SPDX-License-Identifier: MIT
// Statistics of timing samples and the rule that says when there are enough.
#pragma once

#include <chrono>
#include <span>
#include <string>

namespace warpmeter::run {

struct MedianInterval {
  double median = 0;
  double low = 0, high = 0;  ///< 95 % confidence interval of the median, from order statistics
  double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

/// The interval holds whatever the distribution is: its ends are the order statistics whose ranks
/// are n/2 ± 0.98·√n (the normal approximation of the binomial; Conover, Practical Nonparametric
/// Statistics). Below 6 samples no order statistic reaches 95 %, so the ends are the extremes.
/// `samples` is not empty.
MedianInterval median_interval(std::span<const double> samples);

/// Sampling stops when the median is known to `relative_confidence`, or when a budget ends.
struct StoppingRule {
  double relative_confidence = 0.005;
  int warm_up = 3;
  int min_samples = 20;
  int max_samples = 1000;
  std::chrono::duration<double> time_budget{2.0};  ///< wall time of one launch's sampling
};

/// "confidence", "samples" or "time"; empty while more samples are wanted.
std::string why_stopped(const StoppingRule& rule, int taken, double relative_confidence,
                        bool is_over);

}  // namespace warpmeter::run
