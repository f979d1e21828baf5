// SPDX-License-Identifier: MIT
#include "collector/runtime/graph/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "collector/model/machine/memory/align.h"

namespace warpmeter::runtime {

Graph::Graph()
    : number([] {
        static std::uint64_t made = 0;
        return ++made;
      }()) {}

Node* Graph::add(Work work, std::vector<Node*> after) {
  auto node = std::make_unique<Node>();
  node->work = std::move(work);
  node->after = std::move(after);
  node->graph = this;
  note_memory(*node);
  return nodes.emplace_back(std::move(node)).get();
}

void Graph::note_memory(const Node& node) {
  if (const auto* freed = std::get_if<FreeWork>(&node.work)) {
    const auto found = std::find_if(placed.rbegin(), placed.rend(), [&](const auto& each) {
      return each.address == freed->address && each.freed_by == nullptr;
    });
    if (found != placed.rend()) found->freed_by = &node;
    return;
  }
  const auto* allocation = std::get_if<AllocationWork>(&node.work);
  if (allocation == nullptr) return;
  const std::uint64_t bytes =
      model::round_up(allocation->parameters.bytesize, graph_memory_alignment);
  placed.push_back({allocation->offset, bytes,
                    reinterpret_cast<std::uint64_t>(allocation->parameters.dptr), nullptr});
  memory_bytes = std::max(memory_bytes, allocation->offset + bytes);
  if (memory_bytes > reserved_bytes) reserved_bytes += model::round_up(bytes, graph_memory_step);
}

bool Graph::has_memory() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return std::holds_alternative<AllocationWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work);
  });
}

bool Graph::has_conditions() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return std::holds_alternative<ConditionalWork>(node->work);
  });
}

std::vector<Node*> Graph::in_order() const {
  std::map<const Node*, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) places[nodes[i].get()] = i;
  std::vector<std::size_t> waits_for(nodes.size());
  std::vector<std::vector<std::size_t>> followers(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    waits_for[i] = nodes[i]->after.size();
    for (const Node* before : nodes[i]->after) followers[places[before]].push_back(i);
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (waits_for[i] == 0) free.push(i);
  }
  std::vector<Node*> order;
  while (!free.empty()) {
    const std::size_t next = free.top();
    free.pop();
    order.push_back(nodes[next].get());
    for (const std::size_t follower : followers[next]) {
      if (--waits_for[follower] == 0) free.push(follower);
    }
  }
  return order;
}

std::shared_ptr<Graph> Graph::copy() const {
  auto made = std::make_shared<Graph>();
  for (const auto& node : nodes) {
    Node* added = made->add(node->work, {});
    added->is_enabled = node->is_enabled;
    added->attributes = node->attributes;
    if (auto* child = std::get_if<ChildWork>(&added->work)) child->graph = child->graph->copy();
    if (auto* conditional = std::get_if<ConditionalWork>(&added->work)) {
      for (auto& body : conditional->bodies) body = body->copy();
    }
    made->copied[node.get()] = added;
  }
  for (const auto& node : nodes) {
    for (const Node* before : node->after) {
      made->copied[node.get()]->after.push_back(made->copied[before]);
    }
    for (const auto& [before, port] : node->ports) {
      made->copied[node.get()]->ports[made->copied[before]] = port;
    }
  }
  made->kept = kept;
  return made;
}

std::set<const Node*> ancestors(const std::vector<Node*>& ends) {
  std::set<const Node*> seen;
  std::vector<const Node*> open(ends.begin(), ends.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    open.insert(open.end(), node->after.begin(), node->after.end());
  }
  return seen;
}

bool are_before(const std::vector<Node*>& nodes, const std::vector<Node*>& ends) {
  const std::set<const Node*> seen = ancestors(ends);
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const Node* node) { return seen.contains(node); });
}

}  // namespace warpmeter::runtime
