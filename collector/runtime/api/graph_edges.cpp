// SPDX-License-Identifier: MIT
// Graphs asked for their nodes, and their edges: added, removed, asked.
#include <algorithm>
#include <cstring>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/graph/graph_edges.h"
#include "collector/runtime/stream/graphs.h"

namespace warpmeter::runtime {
namespace {

bool is_order_only(const cudaGraphEdgeData& edge) {
  constexpr cudaGraphEdgeData order{};
  return std::memcmp(&edge, &order, sizeof edge) == 0;
}

bool is_kernel(const Work& work) { return std::holds_alternative<KernelWork>(work); }

/// Only from a kernel to a kernel anything is said, and a type has its ports.
bool can_be(const cudaGraphEdgeData& edge, const Work& from, const Work* to) {
  constexpr decltype(edge.reserved) none{};
  if (is_order_only(edge)) return true;
  return edge.type == cudaGraphDependencyTypeProgrammatic && edge.to_port == 0 &&
         (edge.from_port == cudaGraphKernelNodePortProgrammatic ||
          edge.from_port == cudaGraphKernelNodePortLaunchCompletion) &&
         std::memcmp(edge.reserved, none, sizeof none) == 0 && is_kernel(from) &&
         (to == nullptr || is_kernel(*to));
}

cudaGraphEdgeData edge_from(const Node* node, const Ports& ports) {
  const auto found = ports.find(node);
  return found == ports.end() ? cudaGraphEdgeData{} : found->second;
}

/// As the API hands out lists: how many there are, or as many as there is room for, the rest null.
cudaError_t hand_out(const std::vector<Node*>& nodes, cudaGraphNode_t* results,
                     std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (results == nullptr) {
    *count = nodes.size();
    return cudaSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i) {
    results[i] = i < nodes.size() ? handle_of(nodes[i]) : nullptr;
  }
  *count = std::min(*count, nodes.size());
  return cudaSuccess;
}

/// Before hand_out(): what is said of the edges is asked for too, or there is nothing.
cudaError_t hand_out(const std::vector<cudaGraphEdgeData>& edges, cudaGraphEdgeData* results,
                     bool is_list, const std::size_t* count) {
  if (results == nullptr) {
    const bool is_lossy = is_list && !std::all_of(edges.begin(), edges.end(), is_order_only);
    return is_lossy ? cudaErrorLossyQuery : cudaSuccess;
  }
  std::copy_n(edges.begin(), std::min(*count, edges.size()), results);
  return cudaSuccess;
}

std::vector<Node*> followers(const Node& node) {
  std::vector<Node*> found;
  for (const auto& other : node.graph->nodes) {
    const auto& after = other->after;
    if (std::find(after.begin(), after.end(), &node) != after.end()) found.push_back(other.get());
  }
  return found;
}

}  // namespace

std::vector<cudaGraphEdgeData> edges_of(const std::vector<Node*>& nodes, const Ports& ports) {
  std::vector<cudaGraphEdgeData> edges;
  for (const Node* node : nodes) edges.push_back(edge_from(node, ports));
  return edges;
}

cudaError_t ports_of(const std::vector<Node*>& nodes, const cudaGraphEdgeData* edges,
                     const Work* to, Ports& ports) {
  if (edges == nullptr) return cudaSuccess;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!can_be(edges[i], nodes[i]->work, to)) return cudaErrorInvalidValue;
    if (!is_order_only(edges[i])) ports[nodes[i]] = edges[i];
  }
  return cudaSuccess;
}

namespace edges {
namespace {

cudaError_t get_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  std::vector<Node*> all;
  for (const auto& node : graph_of(graph)->nodes) all.push_back(node.get());
  return hand_out(all, nodes, count);
}

cudaError_t get_root_nodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  std::vector<Node*> roots;
  for (const auto& node : graph_of(graph)->nodes) {
    if (node->after.empty()) roots.push_back(node.get());
  }
  return hand_out(roots, nodes, count);
}

}  // namespace

cudaError_t add_dependencies(Process&, cudaGraph_t graph, const cudaGraphNode_t* from,
                             const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                             std::size_t count) {
  if (graph == nullptr || (count > 0 && (from == nullptr || to == nullptr))) {
    return cudaErrorInvalidValue;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Node *before = node_of(from[i]), *node = node_of(to[i]);
    if (before == nullptr || node == nullptr || before == node) return cudaErrorInvalidValue;
    if (before->graph != graph_of(graph) || node->graph != before->graph) {
      return cudaErrorInvalidValue;
    }
    auto& after = node->after;
    if (std::find(after.begin(), after.end(), before) != after.end()) {
      return cudaErrorInvalidValue;  // there already
    }
    const cudaGraphEdgeData* edge = edges == nullptr ? nullptr : edges + i;
    const cudaError_t wrong = ports_of({before}, edge, &node->work, node->ports);
    if (wrong != cudaSuccess) return wrong;
    after.push_back(before);
  }
  return cudaSuccess;
}

cudaError_t get_edges(Process&, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                      cudaGraphEdgeData* edges, std::size_t* count) {
  if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) {
    return cudaErrorInvalidValue;
  }
  std::vector<Node*> begins, ends;
  std::vector<cudaGraphEdgeData> all;
  for (const auto& node : graph_of(graph)->nodes) {
    for (Node* before : node->after) {
      begins.push_back(before);
      ends.push_back(node.get());
      all.push_back(edge_from(before, node->ports));
    }
  }
  const cudaError_t lossy = hand_out(all, edges, from != nullptr, count);
  if (lossy != cudaSuccess) return lossy;
  std::size_t same = *count;
  const cudaError_t result = hand_out(begins, from, &same);
  return result != cudaSuccess ? result : hand_out(ends, to, count);
}

cudaError_t node_get_dependencies(Process&, cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                  cudaGraphEdgeData* edges, std::size_t* count) {
  if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
  const auto& after = node_of(node)->after;
  const cudaError_t lossy =
      hand_out(edges_of(after, node_of(node)->ports), edges, nodes != nullptr, count);
  return lossy != cudaSuccess ? lossy : hand_out(after, nodes, count);
}

cudaError_t node_get_dependent_nodes(Process&, cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                     cudaGraphEdgeData* edges, std::size_t* count) {
  if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
  const std::vector<Node*> all = followers(*node_of(node));
  std::vector<cudaGraphEdgeData> own;
  for (const Node* follower : all) own.push_back(edge_from(node_of(node), follower->ports));
  const cudaError_t lossy = hand_out(own, edges, nodes != nullptr, count);
  return lossy != cudaSuccess ? lossy : hand_out(all, nodes, count);
}

/// Whatever is said of the edge, as an H200 did it.
cudaError_t remove_dependencies(Process&, cudaGraph_t graph, const cudaGraphNode_t* from,
                                const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                std::size_t count) {
  if (graph == nullptr || (count > 0 && (from == nullptr || to == nullptr))) {
    return cudaErrorInvalidValue;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Node *before = node_of(from[i]), *node = node_of(to[i]);
    if (before == nullptr || node == nullptr) return cudaErrorInvalidValue;
    if (std::erase(node->after, before) == 0) return cudaErrorInvalidValue;
    node->ports.erase(before);
  }
  return cudaSuccess;
}

}  // namespace edges

std::vector<Answer> graph_edge_answers() {
  return {
      BOTH(cudaGraphAddDependencies, cuGraphAddDependencies_v2, edges::add_dependencies,
           Needs::context),
      BOTH(cudaGraphRemoveDependencies, cuGraphRemoveDependencies_v2, edges::remove_dependencies,
           Needs::context),
      BOTH(cudaGraphGetNodes, cuGraphGetNodes, edges::get_nodes, Needs::context),
      BOTH(cudaGraphGetRootNodes, cuGraphGetRootNodes, edges::get_root_nodes, Needs::context),
      BOTH(cudaGraphGetEdges, cuGraphGetEdges_v2, edges::get_edges, Needs::context),
      BOTH(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2,
           edges::node_get_dependencies, Needs::context),
      BOTH(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2,
           edges::node_get_dependent_nodes, Needs::context),
  };
}

}  // namespace warpmeter::runtime
