// SPDX-License-Identifier: MIT
// The verdicts on times.
#pragma once

#include <vector>

#include "reports/compare/compare.h"
#include "reports/compare/groups.h"

namespace warpmeter::reports {

/// A pair whose both sides have comparable times.
struct TimedPair {
  PairName name;
  const LaunchGroup* base = nullptr;
  const LaunchGroup* contender = nullptr;
};

/// Tests all pairs together: the p-values are corrected for their number.
std::vector<TimePair> test_times(const std::vector<TimedPair>& pairs, const Thresholds& thresholds);

}  // namespace warpmeter::reports
