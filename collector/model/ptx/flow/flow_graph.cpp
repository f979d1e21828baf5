// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/flow_graph.h"

#include <algorithm>
#include <utility>

namespace warpmeter::model {
namespace {

/// Nodes looked at in the search for loops. Compiled code needs a thousandth.
constexpr std::size_t most_steps = std::size_t{1} << 24;

}  // namespace

FlowGraph::FlowGraph(std::vector<std::vector<Node>> successors, const std::vector<Node>& entries)
    : successors_(std::move(successors)) {
  root_ = static_cast<Node>(successors_.size());
  successors_.push_back(entries);
  predecessors_.resize(successors_.size());
  for (Node node = 0; node < successors_.size(); ++node) {
    for (const Node successor : successors_[node]) predecessors_[successor].push_back(node);
  }
  number();
  find_dominators();
  find_loops();
}

void FlowGraph::number() {
  position_.assign(successors_.size(), none);
  std::vector<bool> seen(successors_.size(), false);
  std::vector<std::pair<Node, std::size_t>> path = {{root_, 0}};
  seen[root_] = true;
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == successors_[node].size()) {
      order_.push_back(node);
      path.pop_back();
      continue;
    }
    const Node successor = successors_[node][next++];
    if (seen[successor]) continue;
    seen[successor] = true;
    path.emplace_back(successor, 0);
  }
  std::reverse(order_.begin(), order_.end());
  for (Node i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
}

void FlowGraph::find_dominators() {
  dominator_.assign(successors_.size(), none);
  dominator_[root_] = root_;
  const auto meet = [&](Node a, Node b) {
    while (a != b) {
      while (position_[a] > position_[b]) a = dominator_[a];
      while (position_[b] > position_[a]) b = dominator_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node node : order_) {
      if (node == root_) continue;
      Node best = none;
      for (const Node predecessor : predecessors_[node]) {
        if (dominator_[predecessor] == none) continue;
        best = best == none ? predecessor : meet(best, predecessor);
      }
      if (best == dominator_[node]) continue;
      dominator_[node] = best;
      changed = true;
    }
  }
}

void FlowGraph::find_loops() {
  std::map<Node, std::vector<Node>>
      ends;  // the ends of each header: sources of the edges back to it
  for (const Node node : order_) {
    for (const Node successor : successors_[node]) {
      if (!is_retreating(node, successor)) continue;
      if (!dominates(successor, node)) has_plain_loops_ = false;
      ends[successor].push_back(node);
    }
  }
  std::size_t steps = 0;
  for (auto& [header, open] : ends) {
    std::vector<bool> inside(successors_.size(), false);
    Loop loop{header, {header}};
    inside[header] = true;
    while (!open.empty() && has_plain_loops_) {
      const Node node = open.back();
      open.pop_back();
      if (inside[node]) continue;
      inside[node] = true;
      loop.nodes.push_back(node);
      for (const Node predecessor : predecessors_[node]) {
        if (position_[predecessor] != none) open.push_back(predecessor);
      }
      if (++steps > most_steps) has_plain_loops_ = false;
    }
    steps += successors_.size() / 64;
    if (steps > most_steps) has_plain_loops_ = false;
    if (!has_plain_loops_) return;
    std::sort(loop.nodes.begin(), loop.nodes.end());
    loops_.push_back(std::move(loop));
  }
}

bool FlowGraph::holds(const Loop& loop, Node node) const {
  return std::binary_search(loop.nodes.begin(), loop.nodes.end(), node);
}

unsigned FlowGraph::depth(Node node) const {
  return static_cast<unsigned>(std::count_if(loops_.begin(), loops_.end(),
                                             [&](const Loop& loop) { return holds(loop, node); }));
}

std::vector<Node> FlowGraph::loop_around(Node node) const {
  const Loop* innermost = nullptr;
  for (const Loop& loop : loops_) {
    if (!holds(loop, node)) continue;
    if (innermost == nullptr || loop.nodes.size() < innermost->nodes.size()) innermost = &loop;
  }
  return innermost == nullptr ? std::vector<Node>() : innermost->nodes;
}

std::vector<Node> FlowGraph::exits_around(Node node) const {
  std::vector<Node> result;
  for (const Loop& loop : loops_) {
    if (!holds(loop, node)) continue;
    for (const Node inner : loop.nodes) {
      const auto& successors = successors_[inner];
      if (std::any_of(successors.begin(), successors.end(),
                      [&](Node successor) { return !holds(loop, successor); })) {
        result.push_back(inner);
      }
    }
  }
  return result;
}

bool FlowGraph::dominates(Node upper, Node lower) const {
  if (position_[upper] == none || position_[lower] == none) return false;
  while (position_[lower] > position_[upper]) lower = dominator_[lower];
  return lower == upper;
}

bool FlowGraph::leads_to(Node from, Node to) const {
  if (from == to) return true;
  const auto known = reached_.find(from);
  if (known != reached_.end()) return known->second[to];
  std::vector<bool> reached(successors_.size(), false);
  std::vector<Node> open = {from};
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    for (const Node successor : successors_[node]) {
      if (reached[successor] || position_[node] == none || is_retreating(node, successor)) continue;
      reached[successor] = true;
      open.push_back(successor);
    }
  }
  return reached_.emplace(from, std::move(reached)).first->second[to];
}

}  // namespace warpmeter::model
