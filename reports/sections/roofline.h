// SPDX-License-Identifier: MIT
// The roofline of the section of limits.
#pragma once

#include <vector>

#include "reports/sections/needs.h"

namespace warpmeter::reports::sections {

/// Tables of all variants, a picture of all families, and one for each family and kind of
/// operations. `largest`: those of `all` that the picture of all families shows.
void add_roofline(Document& document, const std::vector<Limits>& all,
                  const std::vector<const Limits*>& largest);

}  // namespace warpmeter::reports::sections
