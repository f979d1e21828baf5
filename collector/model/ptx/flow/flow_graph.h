// SPDX-License-Identifier: MIT
// Dominators and loops of a flow graph, whether its nodes are blocks of PTX or of machine code
// (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"; a loop is what reaches the
// source of an edge back to a node that dominates it).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace warpmeter::model {

using Node = std::uint32_t;

class FlowGraph {
 public:
  /// Nodes that no entry leads to are in no loop and dominate nothing.
  FlowGraph(std::vector<std::vector<Node>> successors, const std::vector<Node>& entries);

  /// True if loops are known: every cycle is entered at one node, and there are not too many.
  bool has_plain_loops() const { return has_plain_loops_; }
  bool is_reachable(Node node) const { return position_[node] != none; }
  /// How many loops a node lies in.
  unsigned depth(Node node) const;
  /// The nodes of the innermost loop that holds the node; empty where none does.
  std::vector<Node> loop_around(Node node) const;
  /// Branches out of the loops that hold the node: nodes of such a loop with a successor outside.
  std::vector<Node> exits_around(Node node) const;
  bool dominates(Node upper, Node lower) const;
  /// True if control can go from one node to the other without starting a loop's next round.
  bool leads_to(Node from, Node to) const;

 private:
  struct Loop {
    Node header = 0;
    std::vector<Node> nodes;  ///< sorted
  };
  static constexpr Node none = ~Node{0};

  void number();
  void find_dominators();
  void find_loops();
  bool holds(const Loop& loop, Node node) const;
  bool is_retreating(Node from, Node to) const { return position_[to] <= position_[from]; }

  std::vector<std::vector<Node>> successors_, predecessors_;
  Node root_ = 0;                ///< leads to every entry
  std::vector<Node> order_;      ///< reverse postorder
  std::vector<Node> position_;   ///< the position of a node in it; none: unreachable
  std::vector<Node> dominator_;  ///< immediate
  std::vector<Loop> loops_;
  bool has_plain_loops_ = true;
  mutable std::map<Node, std::vector<bool>> reached_;  ///< answers of leads_to
};

}  // namespace warpmeter::model
