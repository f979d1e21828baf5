// SPDX-License-Identifier: MIT
// How few slots a function's registers need.
//
// PTX names registers as if there were no end of them: a kernel of 300 instructions has 150. The
// machine keeps 32 lanes of each, and wants those of a warp to stay in the cache, so registers that
// never hold a value at the same time share a slot. It is enough that they never do so within one
// thread, whatever the threads beside it do: a lane's slot changes only by that lane's own writes.
//
// Liveness is found register by register, going backwards from every use to the writes that reach
// it (Boissinot and others, "Computing Liveness Sets for SSA-Form Programs", the variant by use).
// Slots are then given by a linear scan over the intervals in which the registers are live (Poletto
// and Sarkar, "Linear Scan Register Allocation").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/registers.h"

namespace warpmeter::model::ptx {

struct Slots {
  std::vector<std::uint32_t> slot;                 ///< the slot of each register, within its width
  std::array<std::uint32_t, width_count> count{};  ///< slots needed of each width
};

/// Slots in which a thread computes what it would with a slot for each register. Registers share
/// slots only with their like in width. A register that an instruction writes never shares a slot
/// with one that it reads, so that it does not matter in which order the machine does the two.
Slots allocate(const DataFlow& data, const ControlFlow& graph);

/// The instructions from the first to the last at which the register holds a value that matters, or
/// is written; between them it need not be live all the time.
struct Interval {
  std::size_t first = nowhere, last = 0;
};
std::vector<Interval> live_intervals(const DataFlow& data, const ControlFlow& graph);

}  // namespace warpmeter::model::ptx
