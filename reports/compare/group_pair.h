// SPDX-License-Identifier: MIT
// Each part of a comparison takes the same pairs: times, counters, findings, limits.
#pragma once

#include "reports/compare/compare.h"
#include "reports/compare/groups.h"

namespace warpmeter::reports {

/// Launches of both sides that are compared with each other.
struct GroupPair {
  PairName name;
  const LaunchGroup* base = nullptr;
  const LaunchGroup* contender = nullptr;
};

}  // namespace warpmeter::reports
