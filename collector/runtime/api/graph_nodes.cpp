// SPDX-License-Identifier: MIT
// The nodes of graphs: asked, and changed, in the graph or in what was made executable of it.
#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/stream/copies.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/launcher.h"
#include "collector/runtime/stream/node_work.h"

namespace warpmeter::runtime {
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

template <class Make>
cudaError_t change(std::string_view name, cudaGraphNode_t node, const Make& make) {
  return call(name, [&](Process& p) {
    if (node == nullptr) return cudaErrorInvalidValue;
    Work work;
    const cudaError_t made = make(p, work);
    return made != cudaSuccess ? made : put(node_of(node), std::move(work));
  });
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

template <class Make>
cudaError_t change(std::string_view name, cudaGraphExec_t handle, cudaGraphNode_t original,
                   const Make& make) {
  return call(name, [&](Process& p) {
    const Executable* executable = executable_of(handle);
    if (executable == nullptr) return cudaErrorInvalidValue;
    Work work;
    const cudaError_t made = make(p, work);
    if (made != cudaSuccess) return made;
    if (const auto* kernel = std::get_if<KernelWork>(&work)) {
      if (const cudaError_t mistake = register_mistake(p, *kernel)) return mistake;
    }
    Node* node = executable->node(node_of(original));
    return keeps_shape(node, work) ? put(node, std::move(work)) : cudaErrorInvalidValue;
  });
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

}  // namespace

namespace api {
namespace {

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return call("cudaGraphKernelNodeGetParams", [&](Process&) {
    if (parameters == nullptr || work_of<KernelWork>(node) == nullptr) return cudaErrorInvalidValue;
    *parameters = kernel_parameters(*node_of(node));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return change("cudaGraphKernelNodeSetParams", node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue* value) {
  return call("cudaGraphKernelNodeSetAttribute", [&](Process&) {
    auto* kernel = work_of<KernelWork>(node);
    if (kernel == nullptr || value == nullptr) return cudaErrorInvalidValue;
    node_of(node)->attributes[id] = *value;
    apply_attribute(*kernel, id, *value);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue* value) {
  return call("cudaGraphKernelNodeGetAttribute", [&](Process&) {
    if (work_of<KernelWork>(node) == nullptr || value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    const auto set = node_of(node)->attributes.find(id);
    if (set != node_of(node)->attributes.end()) *value = set->second;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return call("cudaGraphKernelNodeCopyAttributes", [&](Process&) {
    auto* kernel = work_of<KernelWork>(to);
    if (kernel == nullptr || work_of<KernelWork>(from) == nullptr) return cudaErrorInvalidValue;
    node_of(to)->attributes = node_of(from)->attributes;
    for (const auto& [id, value] : node_of(to)->attributes) apply_attribute(*kernel, id, value);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return call("cudaGraphMemcpyNodeGetParams", [&](Process&) {
    const auto* copy = work_of<CopyWork>(node);
    if (copy == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = parameters_of(*copy);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  return change("cudaGraphMemcpyNodeSetParams", node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  return change("cudaGraphMemcpyNodeSetParams1D", node, [&](Process& p, Work& work) {
    return make_copy(p, line(to, from, bytes, kind), work);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  return change("cudaGraphMemcpyNodeSetParamsToSymbol", node, [&](Process& p, Work& work) {
    return to_symbol(p, symbol, from, bytes, offset, kind, work);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to,
                                                   const void* symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind) {
  return change("cudaGraphMemcpyNodeSetParamsFromSymbol", node, [&](Process& p, Work& work) {
    return from_symbol(p, to, symbol, bytes, offset, kind, work);
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return call("cudaGraphMemsetNodeGetParams", [&](Process&) {
    const auto* set = work_of<SetWork>(node);
    if (set == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = parameters_of(*set);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return change("cudaGraphMemsetNodeSetParams", node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return call("cudaGraphHostNodeGetParams", [&](Process&) {
    const auto* host = work_of<HostWork>(node);
    if (host == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = {host->function, host->data};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return change("cudaGraphHostNodeSetParams", node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return call("cudaGraphChildGraphNodeGetGraph", [&](Process&) {
    const auto* child = work_of<ChildWork>(node);
    if (child == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    *graph = handle_of(child->graph.get());
    return cudaSuccess;
  });
}

cudaError_t event_of(std::string_view name, cudaGraphNode_t node, bool records,
                     cudaEvent_t* event) {
  return call(name, [&](Process&) {
    const auto* work = work_of<EventWork>(node);
    if (work == nullptr || event == nullptr || work->records != records) {
      return cudaErrorInvalidValue;
    }
    *event = reinterpret_cast<cudaEvent_t>(work->event);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of("cudaGraphEventRecordNodeGetEvent", node, true, event);
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return event_of("cudaGraphEventWaitNodeGetEvent", node, false, event);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return change("cudaGraphEventRecordNodeSetEvent", node,
                [&](Process& p, Work& work) { return make_work(p, event, true, work); });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return change("cudaGraphEventWaitNodeSetEvent", node,
                [&](Process& p, Work& work) { return make_work(p, event, false, work); });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           cudaMemAllocNodeParams* parameters) {
  return call("cudaGraphMemAllocNodeGetParams", [&](Process&) {
    const auto* allocation = work_of<AllocationWork>(node);
    if (allocation == nullptr || parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = allocation->parameters;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return call("cudaGraphMemFreeNodeGetParams", [&](Process&) {
    const auto* freed = work_of<FreeWork>(node);
    if (freed == nullptr || pointer == nullptr) return cudaErrorInvalidValue;
    *static_cast<void**>(pointer) = reinterpret_cast<void*>(freed->address);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* parameters) {
  return change("cudaGraphNodeSetParams", node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

// The same of executable graphs.

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  return change("cudaGraphExecKernelNodeSetParams", graph, node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* parameters) {
  return change("cudaGraphExecMemcpyNodeSetParams", graph, node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node,
                                               void* to, const void* from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  return change("cudaGraphExecMemcpyNodeSetParams1D", graph, node, [&](Process& p, Work& work) {
    return make_copy(p, line(to, from, bytes, kind), work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                     const void* symbol, const void* from,
                                                     std::size_t bytes, std::size_t offset,
                                                     cudaMemcpyKind kind) {
  return change("cudaGraphExecMemcpyNodeSetParamsToSymbol", graph, node,
                [&](Process& p, Work& work) {
                  return to_symbol(p, symbol, from, bytes, offset, kind, work);
                });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                       void* to, const void* symbol,
                                                       std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  return change("cudaGraphExecMemcpyNodeSetParamsFromSymbol", graph, node,
                [&](Process& p, Work& work) {
                  return from_symbol(p, to, symbol, bytes, offset, kind, work);
                });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaMemsetParams* parameters) {
  return change("cudaGraphExecMemsetNodeSetParams", graph, node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                           const cudaHostNodeParams* parameters) {
  return change("cudaGraphExecHostNodeSetParams", graph, node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t graph, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return change("cudaGraphExecEventRecordNodeSetEvent", graph, node,
                [&](Process& p, Work& work) { return make_work(p, event, true, work); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t graph, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return change("cudaGraphExecEventWaitNodeSetEvent", graph, node,
                [&](Process& p, Work& work) { return make_work(p, event, false, work); });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                       cudaGraphNodeParams* parameters) {
  return change("cudaGraphExecNodeSetParams", graph, node,
                [&](Process& p, Work& work) { return make_work(p, parameters, work); });
}

}  // namespace
}  // namespace api

std::span<const Answer> graph_node_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cudaGraphKernelNodeGetParams),
      WARPMETER_ANSWER(cudaGraphKernelNodeSetParams),
      WARPMETER_ANSWER(cudaGraphKernelNodeSetAttribute),
      WARPMETER_ANSWER(cudaGraphKernelNodeGetAttribute),
      WARPMETER_ANSWER(cudaGraphKernelNodeCopyAttributes),
      WARPMETER_ANSWER(cudaGraphMemcpyNodeGetParams),
      WARPMETER_ANSWER(cudaGraphMemcpyNodeSetParams),
      WARPMETER_ANSWER(cudaGraphMemcpyNodeSetParams1D),
      WARPMETER_ANSWER(cudaGraphMemcpyNodeSetParamsToSymbol),
      WARPMETER_ANSWER(cudaGraphMemcpyNodeSetParamsFromSymbol),
      WARPMETER_ANSWER(cudaGraphMemsetNodeGetParams),
      WARPMETER_ANSWER(cudaGraphMemsetNodeSetParams),
      WARPMETER_ANSWER(cudaGraphHostNodeGetParams),
      WARPMETER_ANSWER(cudaGraphHostNodeSetParams),
      WARPMETER_ANSWER(cudaGraphChildGraphNodeGetGraph),
      WARPMETER_ANSWER(cudaGraphEventRecordNodeGetEvent),
      WARPMETER_ANSWER(cudaGraphEventWaitNodeGetEvent),
      WARPMETER_ANSWER(cudaGraphEventRecordNodeSetEvent),
      WARPMETER_ANSWER(cudaGraphEventWaitNodeSetEvent),
      WARPMETER_ANSWER(cudaGraphMemAllocNodeGetParams),
      WARPMETER_ANSWER(cudaGraphMemFreeNodeGetParams),
      WARPMETER_ANSWER(cudaGraphNodeSetParams),
      WARPMETER_ANSWER(cudaGraphExecKernelNodeSetParams),
      WARPMETER_ANSWER(cudaGraphExecMemcpyNodeSetParams),
      WARPMETER_ANSWER(cudaGraphExecMemcpyNodeSetParams1D),
      WARPMETER_ANSWER(cudaGraphExecMemcpyNodeSetParamsToSymbol),
      WARPMETER_ANSWER(cudaGraphExecMemcpyNodeSetParamsFromSymbol),
      WARPMETER_ANSWER(cudaGraphExecMemsetNodeSetParams),
      WARPMETER_ANSWER(cudaGraphExecHostNodeSetParams),
      WARPMETER_ANSWER(cudaGraphExecEventRecordNodeSetEvent),
      WARPMETER_ANSWER(cudaGraphExecEventWaitNodeSetEvent),
      WARPMETER_ANSWER(cudaGraphExecNodeSetParams),
  };
  return table;
}

}  // namespace warpmeter::runtime
