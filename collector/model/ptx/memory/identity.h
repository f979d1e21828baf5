// SPDX-License-Identifier: MIT
// Numbers may differ by who computes them: from thread to thread of a block, or from block to
// block. A number that does not is the same for whichever thread, or block, an atomic let through.
// Answers of atomics differ between threads, and not between blocks: order_flow.h follows that one
// block's answer is another's in another order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collector/model/ptx/flow/branch_regions.h"
#include "collector/model/ptx/flow/live_values.h"
#include "collector/model/ptx/memory/memory_accesses.h"

namespace warpmeter::model::ptx {

class Identity {
 public:
  using Bits = std::uint8_t;
  static constexpr Bits thread = 1, block = 2;

  /// All must outlive it.
  Identity(const Function& function, const DataFlow& data, std::span<const MemoryAccess> accesses,
           std::span<const MemoryPiece> pieces, BranchRegions& regions, const LiveValues& live);

  Bits of(RegisterId id) const { return registers_[id]; }
  Bits of(const std::vector<RegisterId>& registers) const;

 private:
  bool step(std::size_t i);
  Bits given_by(std::size_t i) const;
  Bits loaded_by(std::size_t i) const;
  bool add(Bits& to, Bits bits) const;

  const Function& function_;
  const DataFlow& data_;
  std::span<const MemoryAccess> accesses_;
  std::span<const MemoryPiece> pieces_;
  std::vector<Bits> registers_, contents_;        ///< contents by piece: of what is stored there
  std::vector<std::vector<RegisterId>> decided_;  ///< by branch: what its region leaves
};

}  // namespace warpmeter::model::ptx
