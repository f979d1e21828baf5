// SPDX-License-Identifier: MIT
// The accesses to memory in a PTX function, with what the audit asks of each: where it lies towards
// the others, what of it is used, and which branches lead to it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "collector/model/machine/program.h"
#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/flow_graph.h"
#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::sass {

/// A load, store, atomic or reduction of shared, global or generic memory.
struct PtxAccess {
  std::size_t instruction = 0;  ///< in the function's body
  int line = 0;                 ///< the line of the PTX
  AccessKind kind = AccessKind::load;
  AddressSpace space = AddressSpace::generic;
  std::uint8_t width = 0, parts = 1;  ///< bytes of all parts together; registers
  std::uint32_t live_parts = ~0u;     ///< a bit each; of a load: registers that something reads
  bool is_used = true;                ///< not a load whose value nothing reads
  bool is_compare_and_swap = false;
  Carrier carrier = Carrier::registers;
  std::size_t pieces = 0;    ///< accesses of a width that wmma.load or wmma.store is made of
  bool shares_line = false;  ///< another access stands on the same line
  std::uint32_t root = 0;    ///< see ptx/addresses.h
  std::int64_t offset = 0;
  bool is_lasting = false;
  bool repeats_address = false;  ///< every round of the innermost loop around it has the same one
};

/// The key that the members of a group of merged accesses share.
struct GroupKey {
  std::size_t block = 0;
  AccessKind kind = AccessKind::load;
  AddressSpace space = AddressSpace::generic;
  unsigned width = 0;
  std::string_view guard;
  bool is_negated = false;
  std::uint32_t root = 0;
  Carrier carrier = Carrier::registers;

  auto fields() const {
    return std::tie(block, kind, space, width, guard, is_negated, root, carrier);
  }
  bool operator<(const GroupKey& other) const { return fields() < other.fields(); }
};

class FunctionAccesses {
 public:
  /// Nothing for a function whose jumps lead nowhere; the decoder refuses it.
  static std::optional<FunctionAccesses> of(const ptx::Function& function);

  const std::vector<PtxAccess>& accesses() const { return accesses_; }
  const FlowGraph& graph() const { return *graph_; }
  Node block_of(std::size_t access) const;
  bool is_entry() const { return function_->is_entry; }

  GroupKey group_of(std::size_t access) const;
  /// True if an earlier access of the block, or one on every path to it, has the same address and
  /// width, so that its value is at hand; of a store: whether a later one of the block has.
  bool has_value_already(std::size_t access) const;
  /// True if something of the innermost loop around a store may see what each round stored: a load
  /// of the same memory, an atomic, a barrier, a fence or a call; or the store is volatile.
  bool is_seen_each_round(std::size_t access) const;
  /// Lines of the branches out of the loops around the access.
  std::vector<int> exits_around(std::size_t access) const;
  /// Lines of the branches that may lead to the access, but for those that only end threads.
  std::vector<int> branches_before(std::size_t access) const;
  /// The branches and guarded instructions that come behind the access, in the same round of the
  /// loops around it: whichever way they go, it was executed. Machine code may branch for a guard.
  /// By line: whether one leads out of a loop around the access.
  std::map<int, bool> branches_behind(std::size_t access) const;
  /// Lines of all branches and ends of threads that decide whether it is come to, its own guard
  /// among them; maybe of more.
  std::vector<int> deciders_of(std::size_t access) const;

 private:
  void add(std::size_t instruction);
  int last_line(std::size_t block) const;
  void find_uses();
  /// The instructions of the innermost loop around the access.
  std::vector<std::size_t> loop_around(std::size_t access) const;
  /// By register: whether rounds of the loop may set it to different values. A register that is
  /// computed from others of the loop varies if one of them does, or if it depends on itself.
  std::vector<bool> varying_in(const std::vector<std::size_t>& loop) const;
  void find_repeated_addresses();

  const ptx::Function* function_ = nullptr;
  ptx::ControlFlow flow_;
  ptx::DataFlow data_;
  std::unique_ptr<FlowGraph> graph_;  ///< the graph of flow_
  std::vector<PtxAccess> accesses_;
};

}  // namespace warpmeter::model::sass
