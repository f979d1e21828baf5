// SPDX-License-Identifier: MIT
// Natural loops of a graph: a header that dominates the blocks that jump back to it, and every
// block on the way from it to them (Aho, Lam, Sethi and Ullman, "Compilers", 9.6).
#pragma once

#include <cstddef>
#include <vector>

namespace warpmeter::model::ptx {

using Edges = std::vector<std::vector<std::size_t>>;

struct Loop {
  std::size_t header = 0;
  std::vector<std::size_t> members;  ///< the header first
};

/// The loops of what `order` (a reverse postorder of the reachable nodes, the entry first) holds,
/// inner ones before the loops around them; one for each header. Empty when they nest too deeply to
/// be listed.
std::vector<Loop> natural_loops(const Edges& successors, const std::vector<std::size_t>& order);

/// The immediate post-dominator of each node; the last node is the end, which every node must reach
/// (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm").
std::vector<std::size_t> post_dominators(const Edges& successors);

}  // namespace warpmeter::model::ptx
