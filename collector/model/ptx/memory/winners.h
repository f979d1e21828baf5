// SPDX-License-Identifier: MIT
// The threads that a branch lets through by an atomic's answer, and what they do until they meet
// the others.
//
// Who took a place by compare-and-swap is for the hardware to say, and so is all that these threads
// do there. Where a constant is added to one number, somebody has each answer: whoever it is, the
// accesses are the same ones if they do not go by who he is. That holds for a block whose threads
// all heard of one answer (the last block sums up what the others left), and for the one thread
// whose answer equals a number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collector/model/ptx/flow/definitions.h"
#include "collector/model/ptx/memory/identity.h"

namespace warpmeter::model::ptx {

/// True if it is a number that the code names.
bool is_number(const Operand& operand, const Function& function, const Definitions& definitions);

struct Won {
  std::vector<bool> accesses;         ///< by instruction: which threads make it, or where
  std::vector<bool> contents;         ///< by instruction: who stores it, or what
  std::vector<RegisterId> registers;  ///< that threads have from there, and others not
};

class Winners {
 public:
  /// On what a register depends: 0: no answer, else the atomic's index and 1, or `several`.
  using Origin = std::uint32_t;
  static constexpr Origin several = ~Origin{0};

  /// All must outlive it.
  Winners(const Function& function, const ControlFlow& graph, const DataFlow& data,
          const Definitions& definitions, std::span<const MemoryAccess> accesses,
          const Identity& identity, BranchRegions& regions, const LiveValues& live);

  /// `origins`: by register, as far as it goes through registers and the block's own memory.
  Won won(const std::vector<Origin>& origins) const;

 private:
  /// Who comes to what a branch lets through.
  enum class Who {
    anybody,     ///< which threads, only the hardware says
    a_block,     ///< all threads of a block, one as good as another
    one_thread,  ///< exactly one
  };

  std::vector<RegisterId> left_by(std::size_t i) const;
  std::vector<bool> region_of(std::size_t i) const;
  Who who_comes(std::size_t i, Origin origin) const;
  bool adds_a_number(const Instruction& atomic) const;
  bool is_for_one_thread(std::size_t i, std::size_t atomic) const;
  void note(std::size_t i, Who who, Won& won) const;
  std::vector<bool> decided_again(const std::vector<bool>& region, std::size_t outer,
                                  Identity::Bits bits) const;

  const Function& function_;
  const ControlFlow& graph_;
  const DataFlow& data_;
  const Definitions& definitions_;
  std::span<const MemoryAccess> accesses_;
  const Identity& identity_;
  BranchRegions& regions_;
  const LiveValues& live_;
};

}  // namespace warpmeter::model::ptx
