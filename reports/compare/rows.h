// SPDX-License-Identifier: MIT
// A comparison for programs: every compared time and every counter that differs, exact, one row
// each.
#pragma once

#include <string>

#include "reports/compare/compare.h"

namespace warpmeter::reports {

std::string json_of(const Comparison& comparison);
std::string csv_of(const Comparison& comparison);

}  // namespace warpmeter::reports
