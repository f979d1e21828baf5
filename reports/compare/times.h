// SPDX-License-Identifier: MIT
// The verdicts on times.
#pragma once

#include <vector>

#include "reports/compare/compare.h"
#include "reports/compare/group_pair.h"

namespace warpmeter::reports {

/// Tests all pairs, whose both sides have comparable times, together: the p-values are corrected
/// for their number.
std::vector<TimePair> test_times(const std::vector<GroupPair>& pairs, const Thresholds& thresholds);

}  // namespace warpmeter::reports
