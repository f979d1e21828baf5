// SPDX-License-Identifier: MIT
// Statistics of timing samples and the rule that says when there are enough.
#pragma once

#include <chrono>
#include <string>

#include "base/statistics.h"

namespace warpmeter::run {

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
