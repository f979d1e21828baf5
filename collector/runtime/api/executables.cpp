// SPDX-License-Identifier: MIT
// Graphs made executable, launched and updated; and the program's objects that graphs keep.
#include <algorithm>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/stream/graph_launches.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/launch_mistakes.h"
#include "collector/runtime/stream/node_work.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace executables {
namespace {

constexpr unsigned long long known_flags =
    cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
    cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;

/// The mistake of kernels in the graph that take too many registers, as a launch is asked. `wrong`:
/// the first such node.
cudaError_t register_mistake(Process& process, const Graph& graph, Node*& wrong) {
  for (const auto& node : graph.nodes) {
    cudaError_t mistake = cudaSuccess;
    if (const auto* kernel = std::get_if<KernelWork>(&node->work)) {
      mistake = runtime::register_mistake(process, *kernel);
      if (mistake != cudaSuccess) wrong = node.get();
    } else if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      mistake = register_mistake(process, *child->graph, wrong);
    } else if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : conditional->bodies) {
        if (mistake == cudaSuccess) mistake = register_mistake(process, *body, wrong);
      }
    }
    if (mistake != cudaSuccess) return mistake;
  }
  return cudaSuccess;
}

/// `wrong`: the node that keeps kernels from launching it, where one does.
cudaError_t instantiate(Process& process, cudaGraphExec_t* result, cudaGraph_t graph,
                        unsigned long long flags, Node*& wrong) {
  if (result == nullptr || graph == nullptr || (flags & ~known_flags) != 0) {
    return cudaErrorInvalidValue;
  }
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    const bool is_empty = graph_of(graph)->nodes.empty();
    if (is_empty || (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0) {
      return cudaErrorInvalidValue;
    }
    wrong = not_for_kernels(process, *graph_of(graph));
    if (wrong != nullptr) {
      return process.refuse(cudaErrorInvalidValue, "failed call", [] {
        return std::string(
            "kernels launch graphs of kernels that call nothing else of the device's runtime, of "
            "sets, and of copies within memory that the device reaches");
      });
    }
  }
  Node* heavy = nullptr;
  if (const cudaError_t mistake = register_mistake(process, *graph_of(graph), heavy)) {
    return mistake;
  }
  return runtime::instantiate(*graph_of(graph), flags, *result);
}
/// Without what only cudaGraphInstantiateWithParams takes.
cudaError_t instantiate(Process& process, cudaGraphExec_t* result, cudaGraph_t graph,
                        unsigned long long flags) {
  Node* wrong = nullptr;
  if ((flags & cudaGraphInstantiateFlagUpload) != 0) return cudaErrorInvalidValue;
  return instantiate(process, result, graph, flags, wrong);
}

std::vector<std::size_t> places_of(const Graph& graph, const std::vector<Node*>& nodes) {
  std::vector<std::size_t> places;
  for (const Node* node : nodes) {
    const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                    [&](const auto& other) { return other.get() == node; });
    places.push_back(static_cast<std::size_t>(found - graph.nodes.begin()));
  }
  std::sort(places.begin(), places.end());
  return places;
}

/// Gives the nodes of `own` the work of those of `other`, which has to be of the same shape.
cudaGraphExecUpdateResult update(Graph& own, const Graph& other, Node*& wrong, bool changes) {
  if (own.nodes.size() != other.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < own.nodes.size(); ++i) {
    Node& to = *own.nodes[i];
    Node& from = *other.nodes[i];
    wrong = &from;
    if (type_of(to.work) != type_of(from.work)) return cudaGraphExecUpdateErrorNodeTypeChanged;
    if (places_of(own, to.after) != places_of(other, from.after)) {
      return cudaGraphExecUpdateErrorTopologyChanged;
    }
    if (std::holds_alternative<AllocationWork>(to.work)) {
      return cudaGraphExecUpdateErrorNotSupported;
    }
    if (auto* child = std::get_if<ChildWork>(&to.work)) {
      const auto result =
          update(*child->graph, *std::get<ChildWork>(from.work).graph, wrong, changes);
      if (result != cudaGraphExecUpdateSuccess) return result;
    } else if (auto* conditional = std::get_if<ConditionalWork>(&to.work)) {
      const auto& other_one = std::get<ConditionalWork>(from.work);
      if (conditional->handle != other_one.handle) return cudaGraphExecUpdateErrorNotSupported;
      for (std::size_t body = 0; body < conditional->bodies.size(); ++body) {
        const auto result =
            update(*conditional->bodies[body], *other_one.bodies[body], wrong, changes);
        if (result != cudaGraphExecUpdateSuccess) return result;
      }
    } else if (changes) {
      to.work = from.work;
      to.attributes = from.attributes;
    }
    if (changes) own.copied[&from] = &to;
  }
  wrong = nullptr;
  return cudaGraphExecUpdateSuccess;
}

cudaError_t graph_instantiate(Process& process, cudaGraphExec_t* result, cudaGraph_t graph,
                              unsigned long long flags) {
  return instantiate(process, result, graph, flags);
}

cudaError_t instantiate_with_parameters(Process& process, cudaGraphExec_t* result,
                                        cudaGraph_t graph, cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  Node* wrong = nullptr;
  const cudaError_t made = instantiate(process, result, graph, parameters->flags, wrong);
  const bool is_for_kernels = (parameters->flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
  if (made == cudaSuccess && (parameters->flags & cudaGraphInstantiateFlagUpload) != 0) {
    executable_of(*result)->is_uploaded = true;
  }
  parameters->errNode_out = handle_of(wrong);
  parameters->result_out =
      made == cudaSuccess ? cudaGraphInstantiateSuccess
      : wrong != nullptr  ? cudaGraphInstantiateNodeOperationNotSupported
      : made == cudaErrorNotSupported || is_for_kernels || made == cudaErrorLaunchOutOfResources
          ? cudaGraphInstantiateError
          : cudaGraphInstantiateInvalidStructure;
  return made;
}

cudaError_t exec_get_flags(cudaGraphExec_t handle, unsigned long long* flags) {
  const Executable* executable = executable_of(handle);
  if (executable == nullptr || flags == nullptr) return cudaErrorInvalidValue;
  // Priorities have none that would be told.
  *flags = executable->flags & ~cudaGraphInstantiateFlagUseNodePriority;
  return cudaSuccess;
}

cudaError_t exec_destroy(cudaGraphExec_t handle) {
  return destroy_executable(handle) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t graph_launch(Process& process, cudaGraphExec_t handle, cudaStream_t stream) {
  Executable* executable = executable_of(handle);
  if (executable == nullptr) return cudaErrorInvalidValue;
  return launch(process, *executable, stream);
}

cudaError_t upload(Process& process, cudaGraphExec_t handle, cudaStream_t stream) {
  if (process.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
  Executable* executable = executable_of(handle);
  if (executable == nullptr) return cudaErrorInvalidValue;
  executable->is_uploaded = true;
  return cudaSuccess;
}

cudaError_t exec_child_graph_node_set_parameters(Process& process, cudaGraphExec_t handle,
                                                 cudaGraphNode_t original, cudaGraph_t graph) {
  const Executable* executable = executable_of(handle);
  if (executable == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  Node* node = executable->node(node_of(original));
  auto* child = node == nullptr ? nullptr : std::get_if<ChildWork>(&node->work);
  if (child == nullptr) return cudaErrorInvalidValue;
  Node* wrong = nullptr;
  const Graph& other = *graph_of(graph);
  if (update(*child->graph, other, wrong, false) != cudaGraphExecUpdateSuccess) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t mistake = register_mistake(process, other, wrong)) return mistake;
  update(*child->graph, other, wrong, true);
  return cudaSuccess;
}

/// Only of kernels, copies and sets.
Node* switchable(cudaGraphExec_t handle, cudaGraphNode_t original) {
  const Executable* executable = executable_of(handle);
  Node* node = executable == nullptr ? nullptr : executable->node(node_of(original));
  if (node == nullptr || type_of(node->work) > cudaGraphNodeTypeMemset) return nullptr;
  return node;
}

cudaError_t node_set_enabled(cudaGraphExec_t handle, cudaGraphNode_t original,
                             unsigned is_enabled) {
  Node* node = switchable(handle, original);
  if (node == nullptr) return cudaErrorInvalidValue;
  node->is_enabled = is_enabled != 0;
  return cudaSuccess;
}

cudaError_t node_get_enabled(cudaGraphExec_t handle, cudaGraphNode_t original,
                             unsigned* is_enabled) {
  const Node* node = switchable(handle, original);
  if (node == nullptr || is_enabled == nullptr) return cudaErrorInvalidValue;
  *is_enabled = node->is_enabled ? 1 : 0;
  return cudaSuccess;
}

// Memory of graphs.

cudaError_t device_graph_mem_trim(Process& process, int device) {
  if (device < 0 || device >= process.devices()) return cudaErrorInvalidDevice;
  wait_for_device(process, device);
  count_graph_memory(process.memory(), device, true);
  return cudaSuccess;
}

cudaError_t device_get_graph_mem_attribute(Process& process, int device,
                                           cudaGraphMemAttributeType which, void* value) {
  if (device < 0 || device >= process.devices()) return cudaErrorInvalidDevice;
  if (value == nullptr) return cudaErrorInvalidValue;
  const GraphMemory& memory = graph_memory(device);
  auto& result = *static_cast<std::uint64_t*>(value);
  switch (which) {
    case cudaGraphMemAttrUsedMemCurrent:
      result = memory.used;
      return cudaSuccess;
    case cudaGraphMemAttrReservedMemCurrent:
      result = memory.reserved;
      return cudaSuccess;
    case cudaGraphMemAttrUsedMemHigh:
      result = memory.used_high;
      return cudaSuccess;
    case cudaGraphMemAttrReservedMemHigh:
      result = memory.reserved_high;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

/// The highest that there was is set back, to what there is now.
cudaError_t device_set_graph_mem_attribute(Process& process, int device,
                                           cudaGraphMemAttributeType which, void* value) {
  if (device < 0 || device >= process.devices()) return cudaErrorInvalidDevice;
  const bool is_high =
      which == cudaGraphMemAttrUsedMemHigh || which == cudaGraphMemAttrReservedMemHigh;
  if (!is_high || value == nullptr || *static_cast<std::uint64_t*>(value) != 0) {
    return cudaErrorInvalidValue;
  }
  GraphMemory& memory = graph_memory(device);
  if (which == cudaGraphMemAttrUsedMemHigh) {
    memory.used_high = memory.used;
  } else {
    memory.reserved_high = memory.reserved;
  }
  return cudaSuccess;
}

// Objects of the program.

const UserObject* object_of(cudaUserObject_t handle) {
  return reinterpret_cast<const UserObject*>(handle);
}

cudaError_t user_object_create(cudaUserObject_t* result, void* data, cudaHostFn_t destroy,
                               unsigned references, unsigned flags) {
  if (result == nullptr || destroy == nullptr || references == 0 ||
      flags != cudaUserObjectNoDestructorSync) {
    return cudaErrorInvalidValue;
  }
  auto object = std::make_shared<UserObject>();
  object->destroy = destroy;
  object->data = data;
  *result = reinterpret_cast<cudaUserObject_t>(keep_object(std::move(object), references));
  return cudaSuccess;
}

cudaError_t user_object_retain(cudaUserObject_t object, unsigned count) {
  return add_references(object_of(object), static_cast<int>(count)) ? cudaSuccess
                                                                    : cudaErrorInvalidValue;
}

cudaError_t user_object_release(cudaUserObject_t object, unsigned count) {
  return add_references(object_of(object), -static_cast<int>(count)) ? cudaSuccess
                                                                     : cudaErrorInvalidValue;
}

cudaError_t retain_user_object(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                               unsigned flags) {
  std::shared_ptr<UserObject> kept = kept_object(object_of(object));
  if (graph == nullptr || kept == nullptr || count == 0 || flags > cudaGraphUserObjectMove) {
    return cudaErrorInvalidValue;
  }
  auto& all = graph_of(graph)->kept;
  all.insert(all.end(), count, kept);
  if (flags == cudaGraphUserObjectMove) {
    add_references(object_of(object), -static_cast<int>(count));
  }
  return cudaSuccess;
}

cudaError_t release_user_object(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  if (graph == nullptr) return cudaErrorInvalidValue;
  std::vector<std::shared_ptr<UserObject>> released;  // let go when the graph is whole again
  auto& all = graph_of(graph)->kept;
  for (std::size_t i = all.size(); i-- > 0 && released.size() < count;) {
    if (all[i].get() != object_of(object)) continue;
    released.push_back(std::move(all[i]));
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return released.size() == count ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t exec_update(Process& process, cudaGraphExec_t handle, cudaGraph_t graph,
                        cudaGraphExecUpdateResultInfo* info) {
  Executable* executable = executable_of(handle);
  if (executable == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  Node* wrong = nullptr;
  const Graph& other = *graph_of(graph);
  const cudaGraphExecUpdateResult result = update(*executable->graph, other, wrong, false);
  if (info != nullptr) *info = {result, handle_of(wrong), nullptr};
  if (result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
  if (const cudaError_t mistake = register_mistake(process, other, wrong)) {
    if (info != nullptr) *info = {cudaGraphExecUpdateError, handle_of(wrong), nullptr};
    return mistake;
  }
  update(*executable->graph, other, wrong, true);
  return cudaSuccess;
}

cudaError_t instantiate_with_flags(Process& process, cudaGraphExec_t* result, cudaGraph_t graph,
                                   unsigned long long flags) {
  return instantiate(process, result, graph, flags);
}

}  // namespace executables

std::vector<Answer> executable_answers() {
  return {
      ANSWER(cudaGraphInstantiate, executables::graph_instantiate, Needs::context),
      BOTH(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,
           executables::instantiate_with_flags, Needs::context),
      BOTH(cudaGraphInstantiateWithParams, cuGraphInstantiateWithParams,
           executables::instantiate_with_parameters, Needs::context),
      BOTH(cudaGraphExecGetFlags, cuGraphExecGetFlags, executables::exec_get_flags, Needs::context),
      BOTH(cudaGraphExecDestroy, cuGraphExecDestroy, executables::exec_destroy, Needs::context),
      BOTH(cudaGraphLaunch, cuGraphLaunch, executables::graph_launch, Needs::context),
      BOTH(cudaGraphUpload, cuGraphUpload, executables::upload, Needs::context),
      BOTH(cudaGraphExecUpdate, cuGraphExecUpdate_v2, executables::exec_update, Needs::context,
           No(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)),
      BOTH(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams,
           executables::exec_child_graph_node_set_parameters, Needs::context),
      BOTH(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled, executables::node_set_enabled,
           Needs::context),
      BOTH(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled, executables::node_get_enabled,
           Needs::context),
      ANSWER(cudaDeviceGraphMemTrim, executables::device_graph_mem_trim, Needs::context),
      ANSWER(cuDeviceGraphMemTrim, executables::device_graph_mem_trim, Needs::initialised),
      ANSWER(cudaDeviceGetGraphMemAttribute, executables::device_get_graph_mem_attribute,
             Needs::device),
      ANSWER(cuDeviceGetGraphMemAttribute, executables::device_get_graph_mem_attribute,
             Needs::initialised),
      ANSWER(cudaDeviceSetGraphMemAttribute, executables::device_set_graph_mem_attribute,
             Needs::device),
      ANSWER(cuDeviceSetGraphMemAttribute, executables::device_set_graph_mem_attribute,
             Needs::initialised),
      BOTH(cudaUserObjectCreate, cuUserObjectCreate, executables::user_object_create,
           Needs::context),
      BOTH(cudaUserObjectRetain, cuUserObjectRetain, executables::user_object_retain,
           Needs::context),
      BOTH(cudaUserObjectRelease, cuUserObjectRelease, executables::user_object_release,
           Needs::context),
      BOTH(cudaGraphRetainUserObject, cuGraphRetainUserObject, executables::retain_user_object,
           Needs::context),
      BOTH(cudaGraphReleaseUserObject, cuGraphReleaseUserObject, executables::release_user_object,
           Needs::context),
  };
}

}  // namespace warpmeter::runtime
