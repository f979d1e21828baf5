// SPDX-License-Identifier: MIT
// Accesses whose lanes lie as those of an earlier one do. The machine compares the addresses of an
// access with what it remembers, lane by lane; where the same register, or one that every thread
// made from it by adding the same number, was compared just before, it need not.
#pragma once

#include <cstddef>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// For each `ld` and `st` with a register as its base, the first such access of the basic block,
/// without a guard, between which and it no thread can stop, and from whose base its own differs by
/// the same number in every thread; `nowhere` for all others.
std::vector<std::size_t> leading_accesses(const Function& function, const ControlFlow& graph,
                                          const DataFlow& data);

}  // namespace warpmeter::model::ptx
