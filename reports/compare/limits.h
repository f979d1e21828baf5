// SPDX-License-Identifier: MIT
// Which side of a pair moves less of what limits it, where the model counted both and no clock ran.
#pragma once

#include <string>
#include <vector>

#include "reports/compare/compare.h"
#include "reports/compare/group_pair.h"

namespace warpmeter::reports {

struct ComparedLimits {
  std::vector<LimitPair> pairs;        ///< those whose both sides ran on the model
  std::vector<std::string> uncounted;  ///< the resources that have no count in any of them
};

/// Compares the needs of the pairs, whose counters have been read.
ComparedLimits compare_limits(const schema::Reader& reader, const std::vector<GroupPair>& pairs);

}  // namespace warpmeter::reports
