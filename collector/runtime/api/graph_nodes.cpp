// SPDX-License-Identifier: MIT
// The nodes of graphs: asked, and changed, in the graph or in what was made executable of it.
#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/stream/copies.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/launch_mistakes.h"
#include "collector/runtime/stream/node_work.h"

namespace warpmeter::runtime {
namespace nodes {
namespace {

/// Work of the same type in the node's place.
cudaError_t put(Node* node, Work work) {
  if (node == nullptr || type_of(node->work) != type_of(work)) return cudaErrorInvalidValue;
  if (std::holds_alternative<AllocationWork>(work)) return cudaErrorInvalidValue;  // it stays
  if (auto* kernel = std::get_if<KernelWork>(&work)) {
    for (const auto& [id, value] : node->attributes) apply_attribute(*kernel, id, value);
  }
  node->work = std::move(work);
  return cudaSuccess;
}

/// The executable keeps the shape of its sets: of more than one row all of it, else that it has
/// one. And how many values it waits for and writes.
bool keeps_shape(const Node* node, const Work& work) {
  const auto* values = node != nullptr ? std::get_if<ValuesWork>(&node->work) : nullptr;
  const auto* others = std::get_if<ValuesWork>(&work);
  if (values != nullptr && others != nullptr) {
    return values->operations.size() == others->operations.size();
  }
  const auto* before = node != nullptr ? std::get_if<SetWork>(&node->work) : nullptr;
  const auto* after = std::get_if<SetWork>(&work);
  if (before == nullptr || after == nullptr) return true;
  if (before->height <= 1) return after->height <= 1;
  return before->height == after->height && before->width == after->width &&
         before->pitch == after->pitch && before->element_bytes == after->element_bytes;
}

/// The work of a node that is of that kind; null for others.
template <class Kind>
Kind* work_of(cudaGraphNode_t node) {
  return node == nullptr ? nullptr : std::get_if<Kind>(&node_of(node)->work);
}

cudaError_t to_symbol(Process& p, const void* symbol, const void* from, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind, Work& work) {
  CopyWork copy;
  const cudaError_t mistake = copy_to(p, {symbol, bytes, offset}, from, kind, copy);
  return mistake != cudaSuccess ? mistake : make_copy(p, copy, work);
}

cudaError_t from_symbol(Process& p, void* to, const void* symbol, std::size_t bytes,
                        std::size_t offset, cudaMemcpyKind kind, Work& work) {
  CopyWork copy;
  const cudaError_t mistake = copy_from(p, to, {symbol, bytes, offset}, kind, copy);
  return mistake != cudaSuccess ? mistake : make_copy(p, copy, work);
}

cudaError_t kernel_node_set_attribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                      const cudaLaunchAttributeValue* value) {
  auto* kernel = work_of<KernelWork>(node);
  if (kernel == nullptr || value == nullptr) return cudaErrorInvalidValue;
  node_of(node)->attributes[id] = *value;
  apply_attribute(*kernel, id, *value);
  return cudaSuccess;
}

cudaError_t kernel_node_get_attribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                      cudaLaunchAttributeValue* value) {
  if (work_of<KernelWork>(node) == nullptr || value == nullptr) return cudaErrorInvalidValue;
  *value = {};
  const auto set = node_of(node)->attributes.find(id);
  if (set != node_of(node)->attributes.end()) *value = set->second;
  return cudaSuccess;
}

cudaError_t kernel_node_copy_attributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  auto* kernel = work_of<KernelWork>(to);
  if (kernel == nullptr || work_of<KernelWork>(from) == nullptr) return cudaErrorInvalidValue;
  node_of(to)->attributes = node_of(from)->attributes;
  for (const auto& [id, value] : node_of(to)->attributes) apply_attribute(*kernel, id, value);
  return cudaSuccess;
}

cudaError_t copy_node_set_parameters_1d(Process& process, cudaGraphNode_t node, void* to,
                                        const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return change(node,
                [&](Work& work) { return make_copy(process, line(to, from, bytes, kind), work); });
}

cudaError_t copy_node_set_parameters_to_symbol(Process& process, cudaGraphNode_t node,
                                               const void* symbol, const void* from,
                                               std::size_t bytes, std::size_t offset,
                                               cudaMemcpyKind kind) {
  return change(node, [&](Work& work) {
    return to_symbol(process, symbol, from, bytes, offset, kind, work);
  });
}

cudaError_t copy_node_set_parameters_from_symbol(Process& process, cudaGraphNode_t node, void* to,
                                                 const void* symbol, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  return change(node, [&](Work& work) {
    return from_symbol(process, to, symbol, bytes, offset, kind, work);
  });
}

cudaError_t set_node_get_parameters(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  const auto* set = work_of<SetWork>(node);
  if (set == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
  *parameters = parameters_of(*set);
  return cudaSuccess;
}

cudaError_t host_node_get_parameters(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  const auto* host = work_of<HostWork>(node);
  if (host == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
  *parameters = {host->function, host->data};
  return cudaSuccess;
}

cudaError_t child_graph_node_get_graph(cudaGraphNode_t node, cudaGraph_t* graph) {
  const auto* child = work_of<ChildWork>(node);
  if (child == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  *graph = handle_of(child->graph.get());
  return cudaSuccess;
}

template <bool records>
cudaError_t event_node_get_event(cudaGraphNode_t node, cudaEvent_t* event) {
  const auto* work = work_of<EventWork>(node);
  if (work == nullptr || event == nullptr || work->records != records) {
    return cudaErrorInvalidValue;
  }
  *event = reinterpret_cast<cudaEvent_t>(work->event);
  return cudaSuccess;
}

template <bool records>
cudaError_t event_node_set_event(Process& process, cudaGraphNode_t node, cudaEvent_t event) {
  return change(node, [&](Work& work) { return make_work(process, event, records, work); });
}

template <bool records>
cudaError_t exec_event_node_set_event(Process& process, cudaGraphExec_t graph, cudaGraphNode_t node,
                                      cudaEvent_t event) {
  return change(process, graph, node,
                [&](Work& work) { return make_work(process, event, records, work); });
}

cudaError_t mem_allocate_node_get_parameters(cudaGraphNode_t node,
                                             cudaMemAllocNodeParams* parameters) {
  const auto* allocation = work_of<AllocationWork>(node);
  if (allocation == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
  *parameters = allocation->parameters;
  return cudaSuccess;
}

cudaError_t mem_free_node_get_parameters(cudaGraphNode_t node, void* pointer) {
  const auto* freed = work_of<FreeWork>(node);
  if (freed == nullptr || pointer == nullptr) return cudaErrorInvalidValue;
  *static_cast<void**>(pointer) = reinterpret_cast<void*>(freed->address);
  return cudaSuccess;
}

cudaError_t exec_copy_node_set_parameters_1d(Process& process, cudaGraphExec_t graph,
                                             cudaGraphNode_t node, void* to, const void* from,
                                             std::size_t bytes, cudaMemcpyKind kind) {
  return change(process, graph, node,
                [&](Work& work) { return make_copy(process, line(to, from, bytes, kind), work); });
}

cudaError_t exec_copy_node_set_parameters_to_symbol(Process& process, cudaGraphExec_t graph,
                                                    cudaGraphNode_t node, const void* symbol,
                                                    const void* from, std::size_t bytes,
                                                    std::size_t offset, cudaMemcpyKind kind) {
  return change(process, graph, node, [&](Work& work) {
    return to_symbol(process, symbol, from, bytes, offset, kind, work);
  });
}

cudaError_t exec_copy_node_set_parameters_from_symbol(Process& process, cudaGraphExec_t graph,
                                                      cudaGraphNode_t node, void* to,
                                                      const void* symbol, std::size_t bytes,
                                                      std::size_t offset, cudaMemcpyKind kind) {
  return change(process, graph, node, [&](Work& work) {
    return from_symbol(process, to, symbol, bytes, offset, kind, work);
  });
}

}  // namespace

cudaError_t change(cudaGraphNode_t node, const MakeWork& make) {
  if (node == nullptr) return cudaErrorInvalidValue;
  Work work;
  const cudaError_t made = make(work);
  return made != cudaSuccess ? made : put(node_of(node), std::move(work));
}

cudaError_t change(Process& process, cudaGraphExec_t handle, cudaGraphNode_t original,
                   const MakeWork& make) {
  const Executable* executable = executable_of(handle);
  if (executable == nullptr) return cudaErrorInvalidValue;
  Work work;
  const cudaError_t made = make(work);
  if (made != cudaSuccess) return made;
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    if (const cudaError_t mistake = register_mistake(process, *kernel)) return mistake;
  }
  Node* node = executable->node(node_of(original));
  return keeps_shape(node, work) ? put(node, std::move(work)) : cudaErrorInvalidValue;
}

cudaError_t kernel_node_get_parameters(Process&, cudaGraphNode_t node,
                                       cudaKernelNodeParams* parameters) {
  if (parameters == nullptr || work_of<KernelWork>(node) == nullptr) return cudaErrorInvalidValue;
  *parameters = kernel_parameters(*node_of(node));
  return cudaSuccess;
}

cudaError_t copy_node_get_parameters(Process&, cudaGraphNode_t node,
                                     cudaMemcpy3DParms* parameters) {
  const auto* copy = work_of<CopyWork>(node);
  if (copy == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
  *parameters = parameters_of(*copy);
  return cudaSuccess;
}

}  // namespace nodes

std::vector<Answer> graph_node_answers() {
  return {
      ANSWER(cudaGraphKernelNodeGetParams, nodes::kernel_node_get_parameters, Needs::context),
      ANSWER(cudaGraphKernelNodeSetParams, nodes::set_parameters<const cudaKernelNodeParams>,
             Needs::context),
      BOTH(cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute,
           nodes::kernel_node_set_attribute, Needs::context),
      BOTH(cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute,
           nodes::kernel_node_get_attribute, Needs::context),
      BOTH(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes,
           nodes::kernel_node_copy_attributes, Needs::context),
      ANSWER(cudaGraphMemcpyNodeGetParams, nodes::copy_node_get_parameters, Needs::context),
      ANSWER(cudaGraphMemcpyNodeSetParams, nodes::set_parameters<const cudaMemcpy3DParms>,
             Needs::context),
      ANSWER(cudaGraphMemcpyNodeSetParams1D, nodes::copy_node_set_parameters_1d, Needs::context),
      ANSWER(cudaGraphMemcpyNodeSetParamsToSymbol, nodes::copy_node_set_parameters_to_symbol,
             Needs::context),
      ANSWER(cudaGraphMemcpyNodeSetParamsFromSymbol, nodes::copy_node_set_parameters_from_symbol,
             Needs::context),
      BOTH(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, nodes::set_node_get_parameters,
           Needs::context),
      BOTH(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams,
           nodes::set_parameters<const cudaMemsetParams>, Needs::context),
      BOTH(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams, nodes::host_node_get_parameters,
           Needs::context),
      BOTH(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams,
           nodes::set_parameters<const cudaHostNodeParams>, Needs::context),
      BOTH(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph,
           nodes::child_graph_node_get_graph, Needs::context),
      BOTH(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent,
           nodes::event_node_get_event<true>, Needs::context),
      BOTH(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent,
           nodes::event_node_get_event<false>, Needs::context),
      BOTH(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent,
           nodes::event_node_set_event<true>, Needs::context),
      BOTH(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent,
           nodes::event_node_set_event<false>, Needs::context),
      BOTH(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams,
           nodes::mem_allocate_node_get_parameters, Needs::context),
      BOTH(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams,
           nodes::mem_free_node_get_parameters, Needs::context),
      ANSWER(cudaGraphNodeSetParams, nodes::set_parameters<cudaGraphNodeParams>, Needs::context),
      ANSWER(cudaGraphExecKernelNodeSetParams,
             nodes::exec_set_parameters<const cudaKernelNodeParams>, Needs::context),
      ANSWER(cudaGraphExecMemcpyNodeSetParams, nodes::exec_set_parameters<const cudaMemcpy3DParms>,
             Needs::context),
      ANSWER(cudaGraphExecMemcpyNodeSetParams1D, nodes::exec_copy_node_set_parameters_1d,
             Needs::context),
      ANSWER(cudaGraphExecMemcpyNodeSetParamsToSymbol,
             nodes::exec_copy_node_set_parameters_to_symbol, Needs::context),
      ANSWER(cudaGraphExecMemcpyNodeSetParamsFromSymbol,
             nodes::exec_copy_node_set_parameters_from_symbol, Needs::context),
      ANSWER(cudaGraphExecMemsetNodeSetParams, nodes::exec_set_parameters<const cudaMemsetParams>,
             Needs::context),
      BOTH(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams,
           nodes::exec_set_parameters<const cudaHostNodeParams>, Needs::context),
      BOTH(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent,
           nodes::exec_event_node_set_event<true>, Needs::context),
      BOTH(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,
           nodes::exec_event_node_set_event<false>, Needs::context),
      ANSWER(cudaGraphExecNodeSetParams, nodes::exec_set_parameters<cudaGraphNodeParams>,
             Needs::context),
  };
}

}  // namespace warpmeter::runtime
