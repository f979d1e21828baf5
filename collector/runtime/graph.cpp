#include "collector/runtime/graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace warpmeter::runtime {

Node* Graph::add(Work work, std::vector<Node*> after) {
  auto node = std::make_unique<Node>();
  node->work = std::move(work);
  node->after = std::move(after);
  node->graph = this;
  return nodes.emplace_back(std::move(node)).get();
}

std::vector<Node*> Graph::in_order() const {
  std::vector<Node*> order;
  std::set<const Node*> done;
  // Each round takes what has nothing left before it, in the order of adding.
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& node : nodes) {
      const bool is_free = std::all_of(node->after.begin(), node->after.end(),
                                       [&](const Node* before) { return done.contains(before); });
      if (done.contains(node.get()) || !is_free) continue;
      done.insert(node.get());
      order.push_back(node.get());
      goes_on = true;
    }
  }
  return order;
}

std::shared_ptr<Graph> Graph::copy() const {
  auto copied = std::make_shared<Graph>();
  std::map<const Node*, Node*> places;
  for (const auto& node : nodes) {
    Node* added = copied->add(node->work, {});
    added->is_enabled = node->is_enabled;
    if (auto* child = std::get_if<ChildWork>(&added->work)) child->graph = child->graph->copy();
    places[node.get()] = added;
  }
  for (const auto& node : nodes) {
    for (const Node* before : node->after) places[node.get()]->after.push_back(places[before]);
  }
  return copied;
}

}  // namespace warpmeter::runtime
