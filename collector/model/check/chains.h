// SPDX-License-Identifier: MIT
// Short chains of values that share one store of nodes: what cells of memory keep beyond the one
// write and the one read that most of them have. A chain is the number of its first node, 0 an
// empty one; nodes that were dropped are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace warpmeter::model::check {

template <class Value>
class Chains {
 public:
  struct Node {
    Value value{};
    std::uint32_t next = 0;
  };

  /// By number, which is not 0. Valid until the next push().
  Node& operator[](std::uint32_t node) { return nodes_[node]; }
  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }

  /// Puts a value first.
  void push(std::uint32_t& chain, Value value) {
    std::uint32_t node = free_;
    if (node != 0) {
      free_ = nodes_[node].next;
    } else {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    nodes_[node] = {std::move(value), chain};
    chain = node;
  }

  /// Takes the first node away.
  void pop(std::uint32_t& chain) {
    const std::uint32_t node = chain;
    chain = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
  }

  /// Takes all of them away.
  void drop(std::uint32_t& chain) {
    while (chain != 0) pop(chain);
  }

  /// All chains are empty.
  void clear() {
    nodes_.assign(1, {});
    free_ = 0;
  }

  std::size_t bytes() const { return nodes_.size() * sizeof(Node); }

 private:
  std::vector<Node> nodes_ = std::vector<Node>(1);  ///< number 0 is none
  std::uint32_t free_ = 0;                          ///< a chain
};

}  // namespace warpmeter::model::check
