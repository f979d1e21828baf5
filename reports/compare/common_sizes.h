// SPDX-License-Identifier: MIT
// Two variants of a family with several named sizes, "naive(m=64)", compete at the same ones only.
#pragma once

#include <string>
#include <vector>

#include "reports/compare/groups.h"
#include "reports/compare/sides.h"

namespace warpmeter::reports {

/// Where a side was named with its sizes, takes the others away from the other side. `names`: as
/// the two variants were typed; `all`: all launches that there are. Throws Error{usage} where
/// nothing would be left, with the sizes that both variants have.
void keep_common_sizes(const std::vector<std::string>& names, const std::vector<LaunchGroup>& all,
                       Sides& sides);

}  // namespace warpmeter::reports
