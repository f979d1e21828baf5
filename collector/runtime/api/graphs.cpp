// SPDX-License-Identifier: MIT
// Graphs that a program builds, and their nodes.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/kernel_name.h"
#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/graph/graph_addresses.h"
#include "collector/runtime/graph/graph_edges.h"
#include "collector/runtime/stream/copies.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/node_work.h"

namespace warpmeter::runtime {
namespace graphs {
namespace {

/// Where a node allocates.
void* address_of(cudaGraphNode_t node) {
  return std::get<AllocationWork>(node_of(node)->work).parameters.dptr;
}

std::string label_of(const Node& node) {
  static constexpr const char* names[] = {"KERNEL", "MEMCPY", "MEMSET",     "HOST",
                                          "GRAPH",  "EMPTY",  "WAIT_EVENT", "EVENT_RECORD",
                                          "",       "",       "MEM_ALLOC",  "MEM_FREE"};
  std::string label = names[type_of(node.work)];
  if (const auto* kernel = std::get_if<KernelWork>(&node.work)) {
    label += "\\n" + readable_name(kernel->kernel->entry());
  }
  return label;
}

cudaError_t create(cudaGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
  *graph = keep_graph(std::make_shared<Graph>());
  return cudaSuccess;
}

cudaError_t destroy(cudaGraph_t graph) {
  return destroy_graph(graph) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t clone(cudaGraph_t* clone, cudaGraph_t graph) {
  if (clone == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  if (graph_of(graph)->has_memory() || graph_of(graph)->has_conditions()) {
    return cudaErrorNotSupported;
  }
  *clone = keep_graph(graph_of(graph)->copy());
  return cudaSuccess;
}

cudaError_t node_find_in_clone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  if (node == nullptr || clone == nullptr) return cudaErrorInvalidValue;
  const auto& copied = graph_of(clone)->copied;
  const auto found = copied.find(node_of(original));
  if (found == copied.end()) return cudaErrorInvalidValue;
  *node = handle_of(found->second);
  return cudaSuccess;
}

cudaError_t add_copy_node_1d(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, std::size_t count, void* to,
                             const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return add(process, node, graph, dependencies, count,
             [&](Work& work) { return make_copy(process, line(to, from, bytes, kind), work); });
}

cudaError_t add_copy_node_to_symbol(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind) {
  return add(process, node, graph, dependencies, count, [&](Work& work) {
    CopyWork copy;
    const cudaError_t mistake = copy_to(process, {symbol, bytes, offset}, from, kind, copy);
    return mistake != cudaSuccess ? mistake : make_copy(process, copy, work);
  });
}

cudaError_t add_copy_node_from_symbol(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind) {
  return add(process, node, graph, dependencies, count, [&](Work& work) {
    CopyWork copy;
    const cudaError_t mistake = copy_from(process, to, {symbol, bytes, offset}, kind, copy);
    return mistake != cudaSuccess ? mistake : make_copy(process, copy, work);
  });
}

cudaError_t add_child_graph_node(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 cudaGraph_t child) {
  return add(process, node, graph, dependencies, count,
             [&](Work& work) { return make_work(process, child, false, work); });
}

cudaError_t add_empty_node(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                           const cudaGraphNode_t* dependencies, std::size_t count) {
  return add(process, node, graph, dependencies, count, [](Work&) { return cudaSuccess; });
}

template <bool records>
cudaError_t add_event_node(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                           const cudaGraphNode_t* dependencies, std::size_t count,
                           cudaEvent_t event) {
  return add(process, node, graph, dependencies, count,
             [&](Work& work) { return make_work(process, event, records, work); });
}

cudaError_t add_mem_allocate_node(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count,
                                  cudaMemAllocNodeParams* parameters) {
  const cudaError_t result = add(process, node, graph, dependencies, count,
                                 [&](Work& work) { return make_work(process, parameters, work); });
  if (result == cudaSuccess) parameters->dptr = address_of(*node);
  return result;
}

cudaError_t add_mem_free_node(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                              const cudaGraphNode_t* dependencies, std::size_t count,
                              void* pointer) {
  return add(process, node, graph, dependencies, count, [&](Work& work) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (is_freed(*graph_of(graph), address)) return cudaErrorInvalidValue;
    return make_free(process, pointer, work);
  });
}

cudaError_t destroy_node(cudaGraphNode_t handle) {
  const Node* node = node_of(handle);
  if (node == nullptr) return cudaErrorInvalidValue;
  Graph& graph = *node->graph;
  if (graph.has_memory()) return cudaErrorNotSupported;
  for (const auto& other : graph.nodes) {
    std::erase(other->after, node);
    other->ports.erase(node);
  }
  std::erase_if(graph.nodes, [&](const auto& other) { return other.get() == node; });
  return cudaSuccess;
}

cudaError_t node_get_type(cudaGraphNode_t node, cudaGraphNodeType* type) {
  if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
  *type = type_of(node_of(node)->work);
  return cudaSuccess;
}

cudaError_t debug_dot_print(cudaGraph_t handle, const char* path, unsigned) {
  if (handle == nullptr || path == nullptr) return cudaErrorInvalidValue;
  std::ofstream file(path);
  if (!file) return cudaErrorOperatingSystem;
  const Graph& graph = *graph_of(handle);
  std::map<const Node*, std::size_t> numbers;
  file << "digraph dot {\nsubgraph cluster_1 {\nlabel=\"graph_1\" graph[style=\"dashed\"];\n";
  for (const auto& node : graph.nodes) {
    const std::size_t number = numbers.size();
    numbers[node.get()] = number;
    file << fmt::format("\"graph_1_node_{}\"[shape=\"record\" label=\"{{{}}}\"];\n", number,
                        label_of(*node));
  }
  for (const auto& node : graph.nodes) {
    for (const Node* before : node->after) {
      file << fmt::format("\"graph_1_node_{}\" -> \"graph_1_node_{}\";\n", numbers[before],
                          numbers[node.get()]);
    }
  }
  file << "}\n}\n";
  return cudaSuccess;
}

}  // namespace

cudaError_t add(Process& process, cudaGraphNode_t* result, cudaGraph_t handle,
                const cudaGraphNode_t* dependencies, std::size_t count, const MakeWork& make,
                const cudaGraphEdgeData* edges) {
  Graph* graph = graph_of(handle);
  if (result == nullptr || graph == nullptr || (count > 0 && dependencies == nullptr)) {
    return cudaErrorInvalidValue;
  }
  std::vector<Node*> after;
  for (std::size_t i = 0; i < count; ++i) {
    Node* node = node_of(dependencies[i]);
    const bool is_again = std::find(after.begin(), after.end(), node) != after.end();
    if (node == nullptr || node->graph != graph || is_again) return cudaErrorInvalidValue;
    after.push_back(node);
  }
  Work work;
  const cudaError_t made = make(work);
  if (made != cudaSuccess) return made;
  auto* allocation = std::get_if<AllocationWork>(&work);
  if (allocation != nullptr && !place(process.memory(), *graph, after, *allocation)) {
    return cudaErrorMemoryAllocation;
  }
  Ports ports;
  const cudaError_t wrong = ports_of(after, edges, &work, ports);
  if (wrong != cudaSuccess) return wrong;
  Node* node = graph->add(std::move(work), std::move(after));
  node->ports = std::move(ports);
  *result = handle_of(node);
  return cudaSuccess;
}

cudaError_t add_node(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                     const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                     std::size_t count, cudaGraphNodeParams* parameters) {
  const cudaError_t result = add(
      process, node, graph, dependencies, count,
      [&](Work& work) { return make_work(process, parameters, work); }, edges);
  const bool allocates = result == cudaSuccess && parameters->type == cudaGraphNodeTypeMemAlloc;
  if (allocates) parameters->alloc.dptr = address_of(*node);
  return result;
}

}  // namespace graphs

std::vector<Answer> graph_answers() {
  return {
      BOTH(cudaGraphCreate, cuGraphCreate, graphs::create, Needs::context),
      BOTH(cudaGraphDestroy, cuGraphDestroy, graphs::destroy, Needs::context),
      BOTH(cudaGraphClone, cuGraphClone, graphs::clone, Needs::context),
      BOTH(cudaGraphNodeFindInClone, cuGraphNodeFindInClone, graphs::node_find_in_clone,
           Needs::context),
      ANSWER(cudaGraphAddKernelNode, graphs::add_node_with<const cudaKernelNodeParams>,
             Needs::context),
      ANSWER(cudaGraphAddMemcpyNode, graphs::add_node_with<const cudaMemcpy3DParms>,
             Needs::context),
      ANSWER(cudaGraphAddMemcpyNode1D, graphs::add_copy_node_1d, Needs::context),
      ANSWER(cudaGraphAddMemcpyNodeToSymbol, graphs::add_copy_node_to_symbol, Needs::context),
      ANSWER(cudaGraphAddMemcpyNodeFromSymbol, graphs::add_copy_node_from_symbol, Needs::context),
      ANSWER(cudaGraphAddMemsetNode, graphs::add_node_with<const cudaMemsetParams>, Needs::context),
      BOTH(cudaGraphAddHostNode, cuGraphAddHostNode,
           graphs::add_node_with<const cudaHostNodeParams>, Needs::context),
      BOTH(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode, graphs::add_child_graph_node,
           Needs::context),
      BOTH(cudaGraphAddEmptyNode, cuGraphAddEmptyNode, graphs::add_empty_node, Needs::context),
      BOTH(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode, graphs::add_event_node<true>,
           Needs::context),
      BOTH(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode, graphs::add_event_node<false>,
           Needs::context),
      BOTH(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode, graphs::add_mem_allocate_node,
           Needs::context),
      BOTH(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode, graphs::add_mem_free_node,
           Needs::context),
      ANSWER(cudaGraphAddNode, graphs::add_node, Needs::context),
      BOTH(cudaGraphDestroyNode, cuGraphDestroyNode, graphs::destroy_node, Needs::context),
      BOTH(cudaGraphNodeGetType, cuGraphNodeGetType, graphs::node_get_type, Needs::context),
      BOTH(cudaGraphDebugDotPrint, cuGraphDebugDotPrint, graphs::debug_dot_print, Needs::context),
  };
}

}  // namespace warpmeter::runtime
