// Which shared-memory accesses ptxas may merge. PTX is not what the hardware runs: ptxas turns four
// neighbouring ld.shared.f32 into one LDS.128. Until the machine code itself is read, an access is
// taken to be its own request only where there is nothing beside it to be merged with.
#pragma once

#include <vector>

#include "collector/model/ptx/control_flow.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether it is an `ld` or `st` of shared memory that may be merged: another
/// access of its kind, load or store, has the same base register or variable in the same basic
/// block. A generic access counts as one that may be to shared memory; whether it was, only a run
/// tells.
std::vector<bool> mergeable_accesses(const Function& function, const ControlFlow& graph);

}  // namespace warpmeter::model::ptx
