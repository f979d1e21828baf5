// SPDX-License-Identifier: MIT
// Launches with what explain says of them, made up: a finding of each kind.
#pragma once

#include <vector>

#include "schema/records.h"

namespace warpmeter::reports {

std::vector<schema::Launch> explained_launches();

/// The tile that is read by columns, with every padding tried.
schema::Finding tile_conflict();

}  // namespace warpmeter::reports
