// Which branches a warp may part at. A value is uniform when all threads of a warp hold the same:
// parameters, constants, block numbers, and whatever is computed from those alone; not the thread's
// own number, and nothing that is written where threads have parted.
#pragma once

#include <vector>

#include "collector/model/ptx/control_flow.h"
#include "collector/model/ptx/module.h"
#include "collector/model/ptx/registers.h"

namespace warpmeter::model::ptx {

/// For each block, whether threads of a warp may leave it for different successors. Errs towards
/// saying so.
std::vector<bool> divergent_blocks(const Function& function, const ControlFlow& graph,
                                   const DataFlow& data);

}  // namespace warpmeter::model::ptx
