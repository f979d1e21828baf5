// SPDX-License-Identifier: MIT
// Graphs that a program builds, and their nodes.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "base/kernel_name.h"
#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/graph/graph_addresses.h"
#include "collector/runtime/graph/graph_edges.h"
#include "collector/runtime/stream/copies.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/node_work.h"

namespace warpmeter::runtime {
namespace {

/// Adds a node with the work that `make` makes, behind its dependencies.
template <class Make>
cudaError_t add(std::string_view name, cudaGraphNode_t* result, cudaGraph_t handle,
                const cudaGraphNode_t* dependencies, std::size_t count, const Make& make,
                const cudaGraphEdgeData* edges = nullptr) {
  return call(name, [&](Process& p) {
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
    const cudaError_t made = make(p, work);
    if (made != cudaSuccess) return made;
    auto* allocation = std::get_if<AllocationWork>(&work);
    if (allocation != nullptr && !place(p.memory(), *graph, after, *allocation)) {
      return cudaErrorMemoryAllocation;
    }
    Ports ports;
    const cudaError_t wrong = ports_of(after, edges, &work, ports);
    if (wrong != cudaSuccess) return wrong;
    Node* node = graph->add(std::move(work), std::move(after));
    node->ports = std::move(ports);
    *result = handle_of(node);
    return cudaSuccess;
  });
}

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

}  // namespace

namespace api {
namespace {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call("cudaGraphCreate", [&](Process&) {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = keep_graph(std::make_shared<Graph>());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call("cudaGraphDestroy",
              [&](Process&) { return destroy_graph(graph) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return call("cudaGraphClone", [&](Process&) {
    if (clone == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    if (graph_of(graph)->has_memory() || graph_of(graph)->has_conditions()) {
      return cudaErrorNotSupported;
    }
    *clone = keep_graph(graph_of(graph)->copy());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return call("cudaGraphNodeFindInClone", [&](Process&) {
    if (node == nullptr || clone == nullptr) return cudaErrorInvalidValue;
    const auto& copied = graph_of(clone)->copied;
    const auto found = copied.find(node_of(original));
    if (found == copied.end()) return cudaErrorInvalidValue;
    *node = handle_of(found->second);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return add("cudaGraphAddKernelNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add("cudaGraphAddMemcpyNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  return add(
      "cudaGraphAddMemcpyNode1D", node, graph, dependencies, count,
      [&](Process& p, Work& work) { return make_copy(p, line(to, from, bytes, kind), work); });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, std::size_t count,
                                           const void* symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeToSymbol", node, graph, dependencies, count,
             [&](Process& p, Work& work) {
               CopyWork copy;
               const cudaError_t mistake = copy_to(p, {symbol, bytes, offset}, from, kind, copy);
               return mistake != cudaSuccess ? mistake : make_copy(p, copy, work);
             });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, std::size_t count,
                                             void* to, const void* symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  return add("cudaGraphAddMemcpyNodeFromSymbol", node, graph, dependencies, count,
             [&](Process& p, Work& work) {
               CopyWork copy;
               const cudaError_t mistake = copy_from(p, to, {symbol, bytes, offset}, kind, copy);
               return mistake != cudaSuccess ? mistake : make_copy(p, copy, work);
             });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, std::size_t count,
                                   const cudaMemsetParams* parameters) {
  return add("cudaGraphAddMemsetNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, std::size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add("cudaGraphAddHostNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, std::size_t count,
                                       cudaGraph_t child) {
  return add("cudaGraphAddChildGraphNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) { return make_work(p, child, false, work); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, std::size_t count) {
  return add("cudaGraphAddEmptyNode", node, graph, dependencies, count,
             [](Process&, Work&) { return cudaSuccess; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, std::size_t count,
                                        cudaEvent_t event) {
  return add("cudaGraphAddEventRecordNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) { return make_work(p, event, true, work); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, std::size_t count,
                                      cudaEvent_t event) {
  return add("cudaGraphAddEventWaitNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) { return make_work(p, event, false, work); });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  const cudaError_t result =
      add("cudaGraphAddMemAllocNode", node, graph, dependencies, count,
          [&](Process& p, Work& work) { return make_work(p, parameters, work); });
  if (result == cudaSuccess) parameters->dptr = address_of(*node);
  return result;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* pointer) {
  return add("cudaGraphAddMemFreeNode", node, graph, dependencies, count,
             [&](Process& p, Work& work) {
               const auto address = reinterpret_cast<std::uint64_t>(pointer);
               if (is_freed(*graph_of(graph), address)) return cudaErrorInvalidValue;
               return make_free(p, pointer, work);
             });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                             std::size_t count, cudaGraphNodeParams* parameters) {
  const cudaError_t result = add(
      "cudaGraphAddNode", node, graph, dependencies, count,
      [&](Process& p, Work& work) { return make_work(p, parameters, work); }, edges);
  const bool allocates = result == cudaSuccess && parameters->type == cudaGraphNodeTypeMemAlloc;
  if (allocates) parameters->alloc.dptr = address_of(*node);
  return result;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return call("cudaGraphDestroyNode", [&](Process&) {
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
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call("cudaGraphNodeGetType", [&](Process&) {
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(node_of(node)->work);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned) {
  return call("cudaGraphDebugDotPrint", [&](Process&) {
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
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> graph_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cudaGraphCreate),
      WARPMETER_ANSWER(cudaGraphDestroy),
      WARPMETER_ANSWER(cudaGraphClone),
      WARPMETER_ANSWER(cudaGraphNodeFindInClone),
      WARPMETER_ANSWER(cudaGraphAddKernelNode),
      WARPMETER_ANSWER(cudaGraphAddMemcpyNode),
      WARPMETER_ANSWER(cudaGraphAddMemcpyNode1D),
      WARPMETER_ANSWER(cudaGraphAddMemcpyNodeToSymbol),
      WARPMETER_ANSWER(cudaGraphAddMemcpyNodeFromSymbol),
      WARPMETER_ANSWER(cudaGraphAddMemsetNode),
      WARPMETER_ANSWER(cudaGraphAddHostNode),
      WARPMETER_ANSWER(cudaGraphAddChildGraphNode),
      WARPMETER_ANSWER(cudaGraphAddEmptyNode),
      WARPMETER_ANSWER(cudaGraphAddEventRecordNode),
      WARPMETER_ANSWER(cudaGraphAddEventWaitNode),
      WARPMETER_ANSWER(cudaGraphAddMemAllocNode),
      WARPMETER_ANSWER(cudaGraphAddMemFreeNode),
      WARPMETER_ANSWER(cudaGraphAddNode),
      answer("cudaGraphAddNode_v2", &api::cudaGraphAddNode),
      WARPMETER_ANSWER(cudaGraphDestroyNode),
      WARPMETER_ANSWER(cudaGraphNodeGetType),
      WARPMETER_ANSWER(cudaGraphDebugDotPrint),
  };
  return table;
}

}  // namespace warpmeter::runtime
