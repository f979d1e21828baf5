// SPDX-License-Identifier: MIT
// Loads that a compare-and-swap verifies: the first guess of a loop that swaps until nobody came in
// between (CUDA Programming Guide, "Atomic Functions"). It may see anything, for the swap only
// succeeds when it was right.
#pragma once

#include <vector>

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether it is an `ld` of what some `atom.cas` at the same address compares
/// with, by way of moves alone.
std::vector<bool> verified_loads(const Function& function, const DataFlow& data);

}  // namespace warpmeter::model::ptx
