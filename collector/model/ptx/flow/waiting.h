// SPDX-License-Identifier: MIT
// Loops whose end depends on what other threads do at the time: they poll a flag, retry a compare
// and swap, or take work from a queue. How many rounds they make differs from run to run on the
// hardware, so nothing that is counted in them can be exact.
#pragma once

#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether it is in a loop that is left, or not, for a value that the loop
/// got from memory by an atomic, or by a volatile or ordered load; in a loop that takes a lock, by
/// any load, for what a lock guards is what others change.
std::vector<bool> waiting_loops(const Function& function, const ControlFlow& graph,
                                const DataFlow& data);

/// True if one of the loops may be left for what others change in global memory: it loads there, or
/// calls, and is left or not for a value out of any memory. A value may go by local memory (-G), by
/// shared memory (one thread asks for all), or come from a function.
bool polls(const Function& function, const ControlFlow& graph, const DataFlow& data);

/// The same of loops that are left, or not, for what an atomic in them answers alone.
std::vector<bool> retried_loops(const Function& function, const ControlFlow& graph,
                                const DataFlow& data);

/// The same of loops that hold an atomic and a call, be it one that ptxas makes of a division or a
/// root: it has a YIELD in these too, whatever they go by.
std::vector<bool> yielding_loops(const Function& function, const ControlFlow& graph);

/// For each instruction, whether lanes come to it apart that left a loop of waiting_loops() or
/// yielding_loops() one after the other: whether a way leads there from one of the instructions
/// that `waiting` holds, and on it no barrier and no exchange of the whole warp.
///
/// In such a loop ptxas has a YIELD, and hardware lets the other lanes of the warp go on then that
/// wait for these behind it: BSYNC holds nobody any more. After `if (lane == 0) lock();` lane 0
/// executes everything by itself, as do the other 31 together, until a barrier, __syncwarp() or a
/// shuffle gathers them.
std::vector<bool> behind_waiting(const Function& function, const ControlFlow& graph,
                                 const DataFlow& data, const std::vector<bool>& waiting);

}  // namespace warpmeter::model::ptx
