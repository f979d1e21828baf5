// SPDX-License-Identifier: MIT
// The changes among counters.
#pragma once

#include <vector>

#include "reports/compare/compare.h"
#include "reports/compare/group_pair.h"

namespace warpmeter::reports {

struct CounterChanges {
  std::vector<CounterPair> pairs;  ///< counters that differ, then metrics derived from them
  std::vector<Leftover> leftovers;
  std::size_t compared = 0;  ///< counters, equal ones included
};

/// Compares the counters of the pairs, which have been read.
CounterChanges compare_counters(const std::vector<GroupPair>& pairs);

}  // namespace warpmeter::reports
