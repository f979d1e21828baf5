// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/partings.h"

#include <algorithm>

#include "collector/model/ptx/flow/branch_regions.h"
#include "collector/model/ptx/flow/one_value.h"

namespace warpmeter::model::ptx {
namespace {

/// Blocks times branches that are followed.
constexpr std::size_t most_parting_steps = std::size_t{1} << 20;

/// By block, true where control comes to from the block `first`, round loops too.
std::vector<bool> reached_from(const ControlFlow& graph, std::size_t first) {
  std::vector<bool> is_reached(graph.blocks.size(), false);
  std::vector<std::size_t> work = {first};
  while (!work.empty()) {
    const std::size_t number = work.back();
    work.pop_back();
    if (is_reached[number]) continue;
    is_reached[number] = true;
    const auto& next = graph.blocks[number].successors;
    work.insert(work.end(), next.begin(), next.end());
  }
  return is_reached;
}

/// True if nothing but the end of the threads comes behind.
bool meets_at_the_end(const ControlFlow& graph, std::size_t meeting) {
  if (meeting == nowhere) return true;
  const Block& block = graph.blocks[meeting];
  return block.leaves && block.end - block.first == 1;
}

}  // namespace

std::vector<std::vector<Parting>> partings(const Function& function, const ControlFlow& graph,
                                           const DataFlow& data) {
  std::vector<std::vector<Parting>> found(graph.blocks.size());
  const std::vector<std::size_t> branches = parting_branches(function, data);
  if (branches.size() * graph.blocks.size() > most_parting_steps) return found;
  BranchRegions regions(graph);
  for (const std::size_t branch : branches) {
    const std::size_t own = graph.block_of[branch];
    const Block& block = graph.blocks[own];
    if (!block.is_reachable || block.successors.size() != 2) continue;
    const std::vector<bool> first = reached_from(graph, block.successors[0]);
    const bool leads_back = first[own];
    if (leads_back != reached_from(graph, block.successors[1])[own]) continue;
    const bool meets = !meets_at_the_end(graph, block.meeting);
    const std::vector<bool> is_first = regions.ahead_of(block.successors[0]);
    for (const std::size_t number : regions.of(branch)) {
      found[number].push_back({static_cast<std::uint32_t>(branch), is_first[number], meets});
    }
  }
  return found;
}

bool are_parted(const std::vector<Parting>& one, const std::vector<Parting>& other) {
  return std::any_of(one.begin(), one.end(), [&](const Parting& own) {
    return std::any_of(other.begin(), other.end(), [&](const Parting& their) {
      return own.branch == their.branch && (own.is_first_way != their.is_first_way || own.meets);
    });
  });
}

}  // namespace warpmeter::model::ptx
