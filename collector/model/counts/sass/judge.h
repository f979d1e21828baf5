// SPDX-License-Identifier: MIT
// The audit grades the machine code of each access of a PTX function. Every access is looked up
// among the machine's by its line:
//   - machine accesses of its own width: it stands for itself;
//   - wider ones: it leads a group (judge_groups.cpp). The other members are accesses of the same
//     block, or behind it, at known distances, without machine accesses of their own. A wide access
//     is aligned to its width, so the window that it covers is where the leader's address lies;
//   - narrower ones: what of a vector is not used was left out;
//   - none: it was merged into a leader's, or another access had its value already.
// Then the loops around both must be the same, because a load that was taken out of a loop executes
// less often; nor may the rounds of an unrolled loop share what one of them loads or stores; no
// branch that PTX has behind a load may decide whether the machine executes it; and between copies
// of an access no warp may part, which only a run shows.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "collector/model/counts/sass/function_accesses.h"
#include "collector/model/counts/sass/machine_code.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::sass {

inline bool same_kind(AccessKind a, AccessKind b) {
  return a == b || (is_atomic(a) && is_atomic(b));
}
inline bool same_space(AddressSpace a, AddressSpace b) {
  return a == b || a == AddressSpace::generic || b == AddressSpace::generic;
}

/// The verdict on one PTX access.
struct Verdict {
  std::string_view doubt;
  std::optional<std::vector<Request>> requests;  ///< nothing: as they were
  AccessKind kind = AccessKind::load;
  bool retries = false, counts_lanes = false;
  bool counts_left_out = false;  ///< lanes that a guard leaves out count too
  std::vector<int> together;     ///< lines of branches at which no warp may part
};

/// A function's accesses, judged one after the other. Its parts must outlive it.
class Judge {
 public:
  /// `on_line`: the machine's accesses by PTX line.
  Judge(const FunctionAccesses& function, const MachineCode& code,
        const std::map<int, std::vector<const MachineAccess*>>& on_line);

  /// One for each of the function's accesses.
  std::vector<Verdict> judge();

 private:
  using Machine = std::vector<const MachineAccess*>;
  Machine machine_of(const PtxAccess& access) const;
  /// True if it is clear why no machine instruction does this access.
  bool needs_none(std::size_t i) const;
  /// Not judged yet.
  bool is_open(std::size_t i) const;
  static bool have_width(const Machine& machine, unsigned width);
  /// Accesses that ptxas merged and then took apart again all bear the first one's line. They go to
  /// the neighbours at the same distances.
  void share_out();
  /// True if every machine access but `own` has a neighbour without any to go to.
  bool give_to_neighbours(const std::vector<std::size_t>& members, std::size_t i,
                          const MachineAccess& own, const Machine& machine);
  void judge_alone(std::size_t i);
  /// wmma.load and wmma.store: all of the accesses that they are made of, or as many times each.
  void judge_fragment(std::size_t i);
  /// A vector of which parts are dead: the runs of live parts, in aligned pieces.
  void judge_parts(std::size_t i);
  void judge_atomic(std::size_t i);
  /// Accesses that a wide one may have been made of: in one block, of one kind and width.
  void judge_groups();
  static bool leads(const Machine& machine, unsigned width);
  unsigned width_of_leader(std::size_t i) const;
  /// Members with known distances. Where the windows lie depends on the root's alignment, which
  /// only ptxas knew: any that gives every member a window will do, since each leader's window
  /// counts once, wherever it lies.
  void judge_group(const std::vector<std::size_t>& members);
  bool fits(const std::vector<std::size_t>& members, std::int64_t alignment) const;
  /// A load that was merged with loads of blocks behind it, which ran early that way.
  void judge_across();
  /// Members at distances that are not known here, but ptxas knew: taken for a group when there are
  /// exactly as many as the wide accesses have room for.
  void judge_by_number(const std::vector<std::size_t>& members);
  void settle_group(const std::vector<std::size_t>& members);
  std::string_view doubt_of_flow(std::size_t i) const;
  /// True if a branch that is behind it in PTX decides in the machine code whether it is executed.
  bool is_moved_behind_branch(std::size_t i) const;
  /// True if only some lanes execute it in the machine code, and no branch of the PTX says which.
  bool is_for_some_lanes(std::size_t i) const;
  /// True if a copy in front of a loop is for lanes whose first round is the last, which others may
  /// have elsewhere.
  bool has_early_copy(std::size_t i) const;
  std::size_t times_once(std::size_t i) const;
  /// A load or store by registers that the machine code executes in a loop of the PTX.
  bool is_in_loop(std::size_t i) const;
  /// How many of its machine instructions stand in the innermost loops of the machine code.
  std::size_t copies_in_loops(std::size_t i) const;
  void find_rounds();
  /// True if ptxas unrolled the loop around it and left it out of some of the rounds: a load whose
  /// value another round has already, or a store that another round's covers.
  bool is_left_out_of_rounds(std::size_t i) const;
  /// Copies of an access are the rounds of a loop that was unrolled, or on different paths that
  /// lead to it. Where a warp parts between them, it executes several copies for one execution in
  /// PTX.
  std::vector<int> together(std::size_t i) const;

  const FunctionAccesses& function_;
  const MachineCode& code_;
  const std::map<int, std::vector<const MachineAccess*>>& on_line_;
  std::vector<Machine> found_;
  std::vector<Verdict> verdicts_;
  /// The accesses of a block that are in a loop.
  struct Rounds {
    std::size_t most_copies = 0;  ///< see copies_in_loops
    /// Copies of those that another round cannot do: each round has another address.
    std::set<std::size_t> copies_of_moving;
  };
  std::map<Node, Rounds> rounds_;  ///< by block
};

}  // namespace warpmeter::model::sass
