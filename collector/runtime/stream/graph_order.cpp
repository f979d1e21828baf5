// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/graph_order.h"

#include <algorithm>

namespace warpmeter::runtime {

GraphOrder::GraphOrder(Races& races, Stream& stream, const Graph& graph, const Clock& before)
    : races_(races), stream_(stream), begin_(races.clock_of(stream)) {
  begin_.join(before);
  end_ = begin_;
  note(graph, nullptr);
  races.begin_graph();
}

void GraphOrder::note(const Graph& graph, const Node* child) {
  children_[&graph] = child;
  for (const auto& node : graph.nodes) {
    const auto* inner = std::get_if<ChildWork>(&node->work);
    if (inner != nullptr) note(*inner->graph, node.get());
  }
}

const Clock& GraphOrder::before(const Node& node) {
  const auto [place, is_new] = before_.try_emplace(&node);
  if (!is_new) return place->second;
  const auto child = children_.find(node.graph);
  const Node* owner = child == children_.end() ? nullptr : child->second;
  Clock clock = owner == nullptr ? begin_ : before(*owner);
  for (const Node* other : node.after) clock.join(behind(*other));
  return place->second = std::move(clock);
}

const Clock& GraphOrder::behind(const Node& node) {
  const auto [place, is_new] = behind_.try_emplace(&node);
  if (!is_new) return place->second;
  Clock clock = before(node);
  if (const auto* inner = std::get_if<ChildWork>(&node.work)) {
    for (const auto& one : inner->graph->nodes) clock.join(behind(*one));
  }
  return place->second = std::move(clock);
}

Given GraphOrder::give(const Node& node) {
  std::uint32_t lane = 0;
  const auto follows = [&](const Node* last) {
    return std::find(node.after.begin(), node.after.end(), last) != node.after.end();
  };
  while (lane < last_of_lane_.size() && !follows(last_of_lane_[lane])) ++lane;
  if (lane == last_of_lane_.size()) last_of_lane_.push_back(nullptr);
  last_of_lane_[lane] = &node;
  Given given = races_.give_node(stream_, lane, before(node), node.work);
  behind_[&node] = given.clock;
  end_.join(given.clock);
  return given;
}

void GraphOrder::pass(const Node& node, const Clock& more) {
  Clock clock = before(node);
  clock.join(more);
  end_.join(clock);
  behind_[&node] = std::move(clock);
}

const Clock& GraphOrder::end() { return end_; }

}  // namespace warpmeter::runtime
