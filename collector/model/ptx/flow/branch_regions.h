// SPDX-License-Identifier: MIT
// The reach of a branch: the blocks on the one way from it and not on the other, up to where both
// meet, without going round a loop; and the loops that one of its ways leaves.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "collector/model/ptx/flow/control_flow.h"
#include "collector/model/ptx/flow/loops.h"

namespace warpmeter::model::ptx {

class BranchRegions {
 public:
  explicit BranchRegions(const ControlFlow& graph);

  /// Blocks, ascending; none: the instruction has one way only.
  const std::vector<std::size_t>& of(std::size_t branch);
  /// The same, and all blocks of the loops that the branch leaves or not. None where one of its
  /// ways traps: a launch that ends so has no counts.
  std::vector<std::size_t> with_loops_of(std::size_t branch, const Function& function);
  /// By block, true where control comes to from the block `first` without going round a loop.
  std::vector<bool> ahead_of(std::size_t first) const;

 private:
  const ControlFlow& graph_;
  std::vector<std::size_t> place_of_;  ///< by block: in the graph's order
  std::unordered_map<std::size_t, std::vector<std::size_t>> known_;
  std::optional<std::vector<Loop>> loops_;  ///< once somebody asks for them
};

}  // namespace warpmeter::model::ptx
