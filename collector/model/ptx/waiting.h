// Loops whose end depends on what other threads do at the time: they poll a flag, retry a compare
// and swap, or take work from a queue. How many rounds they make differs from run to run on the
// hardware, so nothing that is counted in them can be exact.
#pragma once

#include <vector>

#include "collector/model/ptx/control_flow.h"
#include "collector/model/ptx/module.h"
#include "collector/model/ptx/registers.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether it is in a loop that is left, or not, for a value that the loop
/// got from memory by an atomic, or by a volatile or ordered load; in a loop that takes a lock, by
/// any load, for what a lock guards is what others change.
std::vector<bool> waiting_loops(const Function& function, const ControlFlow& graph,
                                const DataFlow& data);

/// The same of loops that are left, or not, for what an atomic in them answers alone.
std::vector<bool> retried_loops(const Function& function, const ControlFlow& graph,
                                const DataFlow& data);

}  // namespace warpmeter::model::ptx
