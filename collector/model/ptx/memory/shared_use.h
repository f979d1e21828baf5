// SPDX-License-Identifier: MIT
// Memory that threads of one launch use at the same time with nothing between to order them, as far
// as the code shows it. Where what they find there decides what is accessed, the hardware has the
// say how often: a ticket that is overwritten before all have read it, a distance that others write
// while the neighbours are looked at.
//
// In shared memory a barrier orders. In global memory nothing does within a launch, so that there a
// load is suspect whose piece of memory the function changes by atomics, or changes while the one
// or the other goes to places that it has loaded (a list of neighbours, whom others have too) or to
// another place than the thread stores to itself (the cell beside its own). Not where both go to
// other members of structures, whosever they are: their addresses are the same number of bytes
// apart but for multiples of a structure's. In shared memory those loads are not
// that load what the thread stores at the same place itself, unless others store where they loaded
// nothing.
//
// Loads that ask for an order (volatile, relaxed, acquire) are suspect in the same way, but not
// where a loop of the function waits for such memory: it is handed on then. In shared memory they
// are where all threads have one place; else warps use volatile memory for themselves.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/definitions.h"
#include "collector/model/ptx/memory/addresses.h"
#include "collector/model/ptx/memory/memory_accesses.h"

namespace warpmeter::model::ptx {

class SharedUse {
 public:
  SharedUse(const Function& function, const ControlFlow& graph, const DataFlow& data,
            std::span<const MemoryAccess> accesses, std::span<const MemoryPiece> pieces);

  /// By instruction: a store to one place of shared memory that some warps may make while others
  /// are still on the way to load what was there before.
  std::vector<bool> overtaken_stores() const;
  /// By instruction: a load that may find what another thread stores meanwhile.
  /// `waits`: see waiting_loops().
  std::vector<bool> contested_loads(const std::vector<bool>& waits) const;

 private:
  enum class Way { on, back };

  /// By instruction: what others may do while a load is on its way, no barrier being between.
  std::vector<bool> near(std::size_t load) const;
  std::vector<bool> awaited_pieces(const std::vector<bool>& waits) const;
  bool is_handed_on(std::size_t load, const std::vector<bool>& awaited) const;
  bool may_meet(std::size_t load, std::size_t store) const;
  bool is_private(std::size_t access) const;
  bool is_of_block(std::size_t store) const;
  bool is_contested(std::size_t load, std::size_t store) const;
  bool are_other_members(std::size_t load, std::size_t store) const;
  bool is_one_place(std::size_t access) const;  ///< the same for all threads
  bool is_of_its_own(std::size_t load) const;
  bool is_of_its_own_too(std::size_t load, std::size_t store) const;
  bool is_of_driver(std::size_t call) const;
  bool is_same_number(std::string_view one, std::string_view other, int depth) const;
  bool is_at_the_same_place(std::size_t load, std::size_t store) const;
  bool is_barrier(std::size_t i) const;
  std::vector<bool> reached(std::size_t from, Way way) const;
  void note_loaded_places(const DataFlow& data);

  const Function& function_;
  const ControlFlow& graph_;
  const Definitions definitions_;
  std::span<const MemoryAccess> accesses_;
  std::span<const MemoryPiece> pieces_;
  std::vector<std::optional<RelativeAddress>> addresses_;  ///< by instruction
  std::vector<std::vector<std::size_t>> before_;           ///< by block: those that lead to it
  std::vector<bool> is_at_loaded_place_;  ///< by instruction: its address was loaded
};

}  // namespace warpmeter::model::ptx
