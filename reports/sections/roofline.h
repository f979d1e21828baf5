// SPDX-License-Identifier: MIT
// The roofline of the section of limits.
#pragma once

#include <vector>

#include "reports/sections/needs.h"

namespace warpmeter::reports::sections {

/// The table of all variants, and a picture for each family and kind of operations.
void add_roofline(Document& document, const std::vector<Limits>& all);

}  // namespace warpmeter::reports::sections
