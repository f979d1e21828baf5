// SPDX-License-Identifier: MIT
// Which launches are the two sides of a comparison: from what a person typed to groups.
#pragma once

#include <vector>

#include "reports/compare/compare.h"
#include "reports/compare/groups.h"

namespace warpmeter::reports {

struct Sides {
  Side base, contender;
  std::vector<LaunchGroup> base_groups, contender_groups;
};

/// Throws Error{usage} for a run or value that does not exist.
Sides find_sides(const schema::Reader& reader, const CompareRequest& request);

}  // namespace warpmeter::reports
