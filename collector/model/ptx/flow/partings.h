// SPDX-License-Identifier: MIT
// Branches at which the threads of a block part: some take the one way, some the other. A barrier
// of the whole block does not fit on one of the ways before they meet again.
#pragma once

#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/parting.h"

namespace warpmeter::model::ptx {

/// For each block of the graph, the partings on whose ways it lies. Branches out of loops are none.
/// A function with more branches than anybody can follow has none.
std::vector<std::vector<Parting>> partings(const Function& function, const ControlFlow& graph,
                                           const DataFlow& data);

}  // namespace warpmeter::model::ptx
