// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/branch_regions.h"

#include <algorithm>

namespace warpmeter::model::ptx {
namespace {

bool traps(const Block& block, const Function& function) {
  return std::any_of(function.body.begin() + static_cast<std::ptrdiff_t>(block.first),
                     function.body.begin() + static_cast<std::ptrdiff_t>(block.end),
                     [](const Instruction& instruction) {
                       return instruction.is(Opcode::trap) && !instruction.guard;
                     });
}

}  // namespace

BranchRegions::BranchRegions(const ControlFlow& graph)
    : graph_(graph), place_of_(graph.blocks.size()) {
  for (std::size_t i = 0; i < graph.order.size(); ++i) place_of_[graph.order[i]] = i;
}

const std::vector<std::size_t>& BranchRegions::of(std::size_t branch) {
  const auto [found, is_new] = known_.try_emplace(branch);
  const auto& successors = graph_.blocks[graph_.block_of[branch]].successors;
  if (!is_new || successors.size() < 2) return found->second;
  const std::vector<bool> one = ahead_of(successors[0]), other = ahead_of(successors[1]);
  for (std::size_t number = 0; number < one.size(); ++number) {
    if (one[number] != other[number]) found->second.push_back(number);
  }
  return found->second;
}

std::vector<std::size_t> BranchRegions::with_loops_of(std::size_t branch,
                                                      const Function& function) {
  const std::size_t own = graph_.block_of[branch];
  const auto& ways = graph_.blocks[own].successors;
  const bool may_trap = std::any_of(ways.begin(), ways.end(), [&](std::size_t number) {
    return traps(graph_.blocks[number], function);
  });
  if (may_trap) return {};
  std::vector<std::size_t> blocks = of(branch);
  if (!loops_) loops_ = loops_of(graph_);
  for (const Loop& loop : *loops_) {
    const auto holds = [&](std::size_t block) {
      return std::find(loop.members.begin(), loop.members.end(), block) != loop.members.end();
    };
    const bool leaves = graph_.blocks[own].leaves || !std::all_of(ways.begin(), ways.end(), holds);
    if (holds(own) && leaves) {
      blocks.insert(blocks.end(), loop.members.begin(), loop.members.end());
    }
  }
  return blocks;
}

std::vector<bool> BranchRegions::ahead_of(std::size_t first) const {
  std::vector<bool> is_reached(graph_.blocks.size(), false);
  is_reached[first] = true;
  for (const std::size_t number : graph_.order) {  // a block comes behind those that lead to it
    if (!is_reached[number]) continue;
    for (const std::size_t next : graph_.blocks[number].successors) {
      is_reached[next] = is_reached[next] || place_of_[next] > place_of_[number];
    }
  }
  return is_reached;
}

}  // namespace warpmeter::model::ptx
