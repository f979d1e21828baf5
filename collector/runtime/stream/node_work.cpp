// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/node_work.h"
#include "collector/runtime/device/device.h"

#include <cstring>
#include <utility>

#include "collector/runtime/process/stream_values.h"
#include "collector/runtime/stream/conditions.h"
#include "collector/runtime/stream/copies.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/launch_mistakes.h"
#include "collector/runtime/stream/launcher.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

/// Which the runtime has no name for.
constexpr auto values_node_type = static_cast<cudaGraphNodeType>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);

/// Arguments in one stretch, as the driver's "extra" brings them: a list of keys and values.
cudaError_t packed_arguments(void* const* extra, std::vector<std::byte>& parameters) {
  const void* bytes = nullptr;
  std::size_t count = 0;
  for (; *extra != nullptr; extra += 2) {
    if (*extra == reinterpret_cast<void*>(1)) bytes = extra[1];
    if (*extra == reinterpret_cast<void*>(2)) count = *static_cast<const std::size_t*>(extra[1]);
  }
  if (count > parameters.size()) return cudaErrorLaunchOutOfResources;
  if (parameters.empty()) return cudaSuccess;
  if (bytes == nullptr || count == 0) return cudaErrorInvalidValue;
  std::memcpy(parameters.data(), bytes, count);  // the rest stays zero
  return cudaSuccess;
}

}  // namespace

cudaGraphNodeType type_of(const Work& work) {
  struct {
    cudaGraphNodeType operator()(const std::monostate&) { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const KernelWork&) { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const LibraryWork&) { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const CopyWork&) { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const SetWork&) { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const HostWork&) { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const ChildWork&) { return cudaGraphNodeTypeGraph; }
    cudaGraphNodeType operator()(const GraphMark&) { return cudaGraphNodeTypeGraph; }  // never one
    cudaGraphNodeType operator()(const ConditionalWork&) { return cudaGraphNodeTypeConditional; }
    cudaGraphNodeType operator()(const FreeWork&) { return cudaGraphNodeTypeMemFree; }
    cudaGraphNodeType operator()(const AllocationWork&) { return cudaGraphNodeTypeMemAlloc; }
    cudaGraphNodeType operator()(const ValuesWork&) { return values_node_type; }
    cudaGraphNodeType operator()(const EventWork& event) {
      return event.records ? cudaGraphNodeTypeEventRecord : cudaGraphNodeTypeWaitEvent;
    }
  } type;
  return std::visit(type, work);
}

cudaError_t make_work(Process& process, const cudaKernelNodeParams* parameters, Work& work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  KernelWork kernel;
  kernel.function = parameters->func;
  kernel.device = current_device;
  kernel.kernel = process.kernel(parameters->func);
  if (kernel.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  const dim3 &grid = parameters->gridDim, &block = parameters->blockDim;
  kernel.geometry.grid = {grid.x, grid.y, grid.z};
  kernel.geometry.block = {block.x, block.y, block.z};
  kernel.geometry.dynamic_shared_bytes = parameters->sharedMemBytes;
  const cudaError_t mistake = launch_mistake(process, kernel);
  if (mistake != cudaSuccess) return mistake;
  const model::Program& program = *kernel.kernel->program();
  const bool is_packed = parameters->kernelParams == nullptr && parameters->extra != nullptr;
  if (is_packed) {
    kernel.parameters.resize(program.parameter_bytes);
    if (const cudaError_t wrong = packed_arguments(parameters->extra, kernel.parameters)) {
      return wrong;
    }
  } else if (parameters->kernelParams == nullptr && !program.parameters.empty()) {
    return cudaErrorInvalidValue;
  } else {
    kernel.parameters = runtime::parameters_of(*kernel.kernel, parameters->kernelParams);
  }
  work = std::move(kernel);
  return cudaSuccess;
}

cudaError_t make_copy(Process& process, const CopyWork& copy, Work& work) {
  if (copy.width == 0) return cudaErrorInvalidValue;
  const cudaError_t mistake = copy_mistake(process, copy, true);
  if (mistake == cudaSuccess) work = copy;
  return mistake;
}

cudaError_t make_work(Process& process, const cudaMemcpy3DParms* parameters, Work& work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t mistake = box_mistake(*parameters)) return mistake;
  CopyWork copy = box_of(*parameters);
  copy.described = std::make_shared<const cudaMemcpy3DParms>(*parameters);
  return make_copy(process, copy, work);
}

cudaError_t make_work(Process& process, const cudaMemsetParams* parameters, Work& work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const unsigned bytes = parameters->elementSize;
  if (bytes != 1 && bytes != 2 && bytes != 4) return cudaErrorInvalidValue;
  SetWork set;
  set.to = reinterpret_cast<std::uint64_t>(parameters->dst);
  set.value = parameters->value;
  set.element_bytes = bytes;
  set.width = parameters->width;
  set.height = parameters->height;
  set.pitch = set.height > 1 ? parameters->pitch : set.width * bytes;
  const cudaError_t mistake = set_mistake(process, set, true);
  if (mistake == cudaSuccess) work = set;
  return mistake;
}

cudaError_t make_work(Process&, const cudaHostNodeParams* parameters, Work& work) {
  if (parameters == nullptr || parameters->fn == nullptr) return cudaErrorInvalidValue;
  work = HostWork{parameters->fn, parameters->userData};
  return cudaSuccess;
}

cudaError_t make_work(Process&, cudaGraph_t child, bool moves, Work& work) {
  if (child == nullptr) return cudaErrorInvalidValue;
  std::shared_ptr<Graph> own = moves ? kept_graph(child) : graph_of(child)->copy();
  if (own == nullptr) return cudaErrorInvalidValue;
  if (moves) destroy_graph(child);  // the node has it
  work = ChildWork{std::move(own)};
  return cudaSuccess;
}

cudaError_t make_work(Process& process, cudaEvent_t handle, bool records, Work& work) {
  Event* event = process.event(handle);
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  work = EventWork{event, records};
  return cudaSuccess;
}

cudaError_t make_work(Process&, cudaMemAllocNodeParams* parameters, Work& work) {
  if (parameters == nullptr || parameters->bytesize == 0) return cudaErrorInvalidValue;
  work = AllocationWork{*parameters};  // whoever adds it to a graph places it
  return cudaSuccess;
}

cudaError_t make_free(Process& process, const void* freed, Work& work) {
  const auto address = reinterpret_cast<std::uint64_t>(freed);
  const Block* block = process.memory().find(address);
  const bool is_of_graph = process.memory().is_reserved(address) ||
                           (block != nullptr && block->is_of_graph && block->address == address);
  if (!is_of_graph) return cudaErrorInvalidValue;
  work = FreeWork{address};
  return cudaSuccess;
}

cudaError_t make_work(Process& process, cudaGraphNodeParams* parameters, Work& work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (parameters->type == values_node_type) {
    return make_work(process, reinterpret_cast<CUgraphNodeParams*>(parameters)->memOp, work);
  }
  switch (parameters->type) {
    case cudaGraphNodeTypeKernel: {
      const auto& given = parameters->kernel;
      const cudaKernelNodeParams kernel{given.func,           given.gridDim,      given.blockDim,
                                        given.sharedMemBytes, given.kernelParams, given.extra};
      return make_work(process, &kernel, work);
    }
    case cudaGraphNodeTypeMemcpy:
      return make_work(process, &parameters->memcpy.copyParams, work);
    case cudaGraphNodeTypeMemset: {
      const auto& given = parameters->memset;
      const cudaMemsetParams set{given.dst,         given.pitch, given.value,
                                 given.elementSize, given.width, given.height};
      return make_work(process, &set, work);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{parameters->host.fn, parameters->host.userData};
      return make_work(process, &host, work);
    }
    case cudaGraphNodeTypeGraph:
      return make_work(process, parameters->graph.graph,
                       parameters->graph.ownership == cudaGraphChildGraphOwnershipMove, work);
    case cudaGraphNodeTypeEmpty:
      work = std::monostate();
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      return make_work(process, parameters->eventWait.event, false, work);
    case cudaGraphNodeTypeEventRecord:
      return make_work(process, parameters->eventRecord.event, true, work);
    case cudaGraphNodeTypeMemAlloc: {
      auto& given = parameters->alloc;
      cudaMemAllocNodeParams allocation{given.poolProps, given.accessDescs, given.accessDescCount,
                                        given.bytesize, nullptr};
      return make_work(process, &allocation, work);
    }
    case cudaGraphNodeTypeConditional:
      return make_work(parameters->conditional, work);
    case cudaGraphNodeTypeMemFree:
      return make_free(process, parameters->free.dptr, work);
    default:
      if (parameters->type < 0 || parameters->type >= cudaGraphNodeTypeCount) {
        return cudaErrorInvalidValue;
      }
      process.say("graphs are executed without external semaphores");
      return cudaErrorNotSupported;
  }
}

cudaKernelNodeParams kernel_parameters(Node& node) {
  auto& kernel = std::get<KernelWork>(node.work);
  node.parameters.clear();
  for (const model::Parameter& parameter : kernel.kernel->program()->parameters) {
    node.parameters.push_back(kernel.parameters.data() + parameter.offset);
  }
  const Geometry& geometry = kernel.geometry;
  return {const_cast<void*>(kernel.function),
          dim3(geometry.grid.x, geometry.grid.y, geometry.grid.z),
          dim3(geometry.block.x, geometry.block.y, geometry.block.z),
          geometry.dynamic_shared_bytes,
          node.parameters.data(),
          nullptr};
}

cudaMemsetParams parameters_of(const SetWork& set) {
  return {reinterpret_cast<void*>(set.to),
          set.pitch,
          set.value,
          set.element_bytes,
          set.width,
          set.height};
}

Dim3 cluster_of(const cudaLaunchAttributeValue& value) {
  return {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
}

void apply_attribute(KernelWork& kernel, int attribute, const cudaLaunchAttributeValue& value) {
  if (attribute == cudaLaunchAttributeCooperative) {
    kernel.geometry.is_cooperative = value.cooperative != 0;
  } else if (attribute == cudaLaunchAttributeClusterDimension) {
    kernel.geometry.cluster = cluster_of(value);
  }
}

}  // namespace warpmeter::runtime
