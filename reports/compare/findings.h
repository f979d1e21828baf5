// SPDX-License-Identifier: MIT
// Which findings of `explain` came, went, or stayed and cost more or less than before.
#pragma once

#include <string>
#include <vector>

#include "reports/compare/compare.h"
#include "reports/compare/group_pair.h"

namespace warpmeter::reports {

struct FindingChanges {
  std::vector<FindingPair> pairs;  ///< those that are not the same, pair by pair, the worst first
  std::size_t same = 0;
};

/// Compares pairs whose both sides were explained: what was not looked for did not go.
FindingChanges compare_findings(const schema::Reader& reader, const std::vector<GroupPair>& pairs);

/// "shared load of tile"
std::string array_of(const ExplainedFinding& finding);

}  // namespace warpmeter::reports
