// SPDX-License-Identifier: MIT
// The values that depend on the order in which threads come to an atomic: what it answers, the
// addresses that this leads to, what is stored there, and what is loaded of that again, by this
// launch or a later one. Who gets which slot of a queue is for the hardware to say, and so is what
// of it the lanes of one warp can share.
//
// Loads of memory that an order has filled decide branches too: who comes to an access, how often
// a loop goes round, and what is written there. An atomic's answer decides the same by itself
// (winners.h), whether threads keep it in registers or in shared memory.
//
// Values that only the hardware knows (unknown_values.h) are followed in the same way.
//
// Three things look alike and depend on nothing: a ticket (one thread adds a constant and hands the
// answer to its block between barriers, so that blocks take each other's parts); a value that was
// made of the same answer as its place; and a value that is the same wherever it lands.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/memory/pointed_memory.h"
#include "collector/model/ptx/memory/unknown_values.h"

namespace warpmeter::model::ptx {

/// Where in a function an order leads.
struct OrderReach {
  std::vector<bool>
      accesses;  ///< the accesses of each instruction: its address depends on it, or who comes
  std::vector<PieceId> memory;  ///< pieces beyond the block whose contents do
};

struct OrderFlow {
  std::vector<MemoryPiece> pieces;
  std::vector<PieceId> stored;  ///< pieces beyond the block that the function may store to
  OrderReach of_atomics;        ///< for what the function's own atomics answer
  /// For each instruction, true if its address or who comes there depends on a load that may find
  /// what others store meanwhile (shared_use.h); empty: no such load leads anywhere.
  std::vector<bool> of_races;
  std::array<OrderReach, unknown_count> of_unknown;  ///< by Unknown; empty: leads nowhere
  Unknowns given = 0;                                ///< to its caller
  std::vector<OrderReach> of_contents;  ///< by piece: of what is loaded of it; empty: leads nowhere
};

/// Facts of each instruction of a function.
struct KnownOfLoops {
  std::vector<bool> is_retried;  ///< it is in a loop that an atomic's answer leaves
  std::vector<bool> waits;       ///< see waiting_loops()
};

/// `given_by_calls`: for each instruction, OrderFlow::given of the function that it calls. Calls
/// are followed around, from what they are handed to what they give, not into.
OrderFlow order_flow(const Function& function, const ControlFlow& graph, const DataFlow& data,
                     const Spaces& variables, const KnownOfLoops& loops,
                     std::span<const Unknowns> given_by_calls);

}  // namespace warpmeter::model::ptx
