// SPDX-License-Identifier: MIT
// The driver's graphs: the runtime's by other names, and nodes that it describes in its own words.
#include <cstring>

#include "collector/runtime/api/driver/node_forms.h"
#include "collector/runtime/api/driver_call.h"

namespace warpmeter::runtime {
namespace {

// The runtime's parameters are forwarded as they are.
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams));
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
static_assert(sizeof(CUkernelNodeAttrValue) == sizeof(cudaLaunchAttributeValue));
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));

/// The runtime's errors that the driver has no number for.
CUresult as_graph_error(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return as_driver_error(error);
  }
}

/// Before CUDA 12 a kernel was a function only.
CUDA_KERNEL_NODE_PARAMS with_kernel(const CUDA_KERNEL_NODE_PARAMS_v1& given) {
  return {given.func,         given.gridDimX,  given.gridDimY,  given.gridDimZ,
          given.blockDimX,    given.blockDimY, given.blockDimZ, given.sharedMemBytes,
          given.kernelParams, given.extra,     nullptr,         nullptr};
}
const CUDA_KERNEL_NODE_PARAMS& with_kernel(const CUDA_KERNEL_NODE_PARAMS& given) { return given; }

/// `body(parameters)` calls the runtime's function with the runtime's parameters.
template <class Given, class Body>
CUresult with_kernel_node(std::string_view name, const Given* given, const Body& body) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaKernelNodeParams parameters{};
    const CUresult mistake = as_runtime(p, with_kernel(*given), parameters);
    return mistake != CUDA_SUCCESS ? mistake : as_graph_error(body(&parameters));
  });
}
template <class Body>
CUresult with_copy_node(std::string_view name, const CUDA_MEMCPY3D* given, const Body& body) {
  return driver_call(name, Needs::context, [&](Process&) {
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaMemcpy3DParms parameters{};
    const CUresult mistake = as_runtime(*given, parameters);
    return mistake != CUDA_SUCCESS ? mistake : as_graph_error(body(&parameters));
  });
}
template <class Body>
CUresult with_node(std::string_view name, CUgraphNodeParams* given, const Body& body) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaGraphNodeParams parameters{};
    const CUresult mistake = as_runtime(p, *given, parameters);
    if (mistake != CUDA_SUCCESS) return mistake;
    const cudaError_t result = body(&parameters);
    if (given->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      given->alloc.dptr = reinterpret_cast<CUdeviceptr>(parameters.alloc.dptr);
    }
    return as_graph_error(result);
  });
}

/// A function of the driver whose parameters are the runtime's.
template <class Function>
struct SameParameters;
template <class... Given>
struct SameParameters<CUresult(Given...)> {
  using Function = cudaError_t(Given...);
};
template <class Function>
using AsRuntime = typename SameParameters<Function>::Function;

/// The table is looked up once.
#define WARPMETER_RUNTIME(NAME) \
  static auto* const runtime = ::warpmeter::runtime::runtime_function<decltype(::NAME)>(#NAME)

}  // namespace

namespace api {
namespace {

// Kernels.

template <class Parameters>
CUresult add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                    const Parameters* given) {
  WARPMETER_RUNTIME(cudaGraphAddKernelNode);
  return with_kernel_node("cuGraphAddKernelNode", given, [&](const cudaKernelNodeParams* k) {
    return runtime(node, graph, after, count, k);
  });
}
template <class Parameters>
CUresult set_kernel(CUgraphNode node, const Parameters* given) {
  WARPMETER_RUNTIME(cudaGraphKernelNodeSetParams);
  return with_kernel_node("cuGraphKernelNodeSetParams", given,
                          [&](const cudaKernelNodeParams* k) { return runtime(node, k); });
}
template <class Parameters>
CUresult set_executed_kernel(CUgraphExec exec, CUgraphNode node, const Parameters* given) {
  WARPMETER_RUNTIME(cudaGraphExecKernelNodeSetParams);
  return with_kernel_node("cuGraphExecKernelNodeSetParams", given,
                          [&](const cudaKernelNodeParams* k) { return runtime(exec, node, k); });
}
/// The parameters of before CUDA 12 are the first of today's.
template <class Parameters>
CUresult get_kernel(CUgraphNode node, Parameters* result) {
  WARPMETER_RUNTIME(cudaGraphKernelNodeGetParams);
  return driver_call("cuGraphKernelNodeGetParams", Needs::context, [&](Process& p) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaKernelNodeParams known{};
    const cudaError_t asked = runtime(node, &known);
    if (asked != cudaSuccess) return as_graph_error(asked);
    const CUDA_KERNEL_NODE_PARAMS told = as_driver(p, known);
    static_assert(sizeof *result <= sizeof told);
    std::memcpy(result, &told, sizeof *result);
    return CUDA_SUCCESS;
  });
}

// Copies and sets. All contexts have the same memory here.

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMCPY3D* given, CUcontext) {
  WARPMETER_RUNTIME(cudaGraphAddMemcpyNode);
  return with_copy_node("cuGraphAddMemcpyNode", given, [&](const cudaMemcpy3DParms* c) {
    return runtime(node, graph, after, count, c);
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* given) {
  WARPMETER_RUNTIME(cudaGraphMemcpyNodeSetParams);
  return with_copy_node("cuGraphMemcpyNodeSetParams", given,
                        [&](const cudaMemcpy3DParms* c) { return runtime(node, c); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* given, CUcontext) {
  WARPMETER_RUNTIME(cudaGraphExecMemcpyNodeSetParams);
  return with_copy_node("cuGraphExecMemcpyNodeSetParams", given,
                        [&](const cudaMemcpy3DParms* c) { return runtime(exec, node, c); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* result) {
  WARPMETER_RUNTIME(cudaGraphMemcpyNodeGetParams);
  return driver_call("cuGraphMemcpyNodeGetParams", Needs::context, [&](Process&) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaMemcpy3DParms known{};
    const cudaError_t asked = runtime(node, &known);
    if (asked != cudaSuccess) return as_graph_error(asked);
    *result = as_driver(known);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* given, CUcontext) {
  WARPMETER_RUNTIME(cudaGraphAddMemsetNode);
  return driver_call("cuGraphAddMemsetNode", Needs::context, [&](Process&) {
    return as_graph_error(
        runtime(node, graph, after, count, reinterpret_cast<const cudaMemsetParams*>(given)));
  });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* given, CUcontext) {
  WARPMETER_RUNTIME(cudaGraphExecMemsetNodeSetParams);
  return driver_call("cuGraphExecMemsetNodeSetParams", Needs::context, [&](Process&) {
    return as_graph_error(runtime(exec, node, reinterpret_cast<const cudaMemsetParams*>(given)));
  });
}

// Nodes of any type.

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                           const CUgraphEdgeData* edges, std::size_t count,
                           CUgraphNodeParams* given) {
  WARPMETER_RUNTIME(cudaGraphAddNode);
  return with_node("cuGraphAddNode", given, [&](cudaGraphNodeParams* parameters) {
    return runtime(node, graph, after, reinterpret_cast<const cudaGraphEdgeData*>(edges), count,
                   parameters);
  });
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* given) {
  WARPMETER_RUNTIME(cudaGraphNodeSetParams);
  return with_node("cuGraphNodeSetParams", given,
                   [&](cudaGraphNodeParams* parameters) { return runtime(node, parameters); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* given) {
  WARPMETER_RUNTIME(cudaGraphExecNodeSetParams);
  return with_node("cuGraphExecNodeSetParams", given, [&](cudaGraphNodeParams* parameters) {
    return runtime(exec, node, parameters);
  });
}

// As earlier versions of CUDA called them: edges had no data.

CUresult add_node(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, std::size_t count,
                  CUgraphNodeParams* given) {
  return api::cuGraphAddNode_v2(node, graph, after, nullptr, count, given);
}
/// The log has nothing to say: the result says it.
CUresult instantiate_with_log(CUgraphExec* exec, CUgraph graph, CUgraphNode* wrong, char* log,
                              std::size_t bytes) {
  WARPMETER_RUNTIME(cudaGraphInstantiateWithFlags);
  return driver_call("cuGraphInstantiate", Needs::context, [&](Process&) {
    if (wrong != nullptr) *wrong = nullptr;
    if (log != nullptr && bytes > 0) *log = '\0';
    return as_driver_error(runtime(exec, graph, 0));
  });
}
CUresult update_executable(CUgraphExec exec, CUgraph graph, CUgraphNode* wrong,
                           CUgraphExecUpdateResult* result) {
  WARPMETER_RUNTIME(cudaGraphExecUpdate);
  return driver_call("cuGraphExecUpdate", Needs::context, [&](Process&) {
    if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t updated = runtime(exec, graph, &info);
    if (wrong != nullptr) *wrong = info.errorNode;
    *result = static_cast<CUgraphExecUpdateResult>(info.result);
    return as_driver_error(updated);
  });
}

}  // namespace
}  // namespace api

/// The shape that a function had before CUDA 13, in both APIs.
#define WARPMETER_BEFORE_13(DRIVER, RUNTIME, SHAPE) \
  ::warpmeter::runtime::answer(                     \
      #DRIVER,                                      \
      &Forward<#DRIVER, #RUNTIME " of CUDA 12", Needs::context, SHAPE, AsRuntime<SHAPE>>::call)

std::span<const Answer> driver_graph_answers() {
  using KernelBefore12 = CUDA_KERNEL_NODE_PARAMS_v1;
  using KernelNode = CUDA_KERNEL_NODE_PARAMS;
  static const Answer table[] = {
      answer("cuGraphAddKernelNode", &api::add_kernel<KernelBefore12>),
      answer("cuGraphAddKernelNode_v2", &api::add_kernel<KernelNode>),
      answer("cuGraphKernelNodeGetParams", &api::get_kernel<KernelBefore12>),
      answer("cuGraphKernelNodeGetParams_v2", &api::get_kernel<KernelNode>),
      answer("cuGraphKernelNodeSetParams", &api::set_kernel<KernelBefore12>),
      answer("cuGraphKernelNodeSetParams_v2", &api::set_kernel<KernelNode>),
      answer("cuGraphExecKernelNodeSetParams", &api::set_executed_kernel<KernelBefore12>),
      answer("cuGraphExecKernelNodeSetParams_v2", &api::set_executed_kernel<KernelNode>),
      WARPMETER_FORWARD(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute),
      WARPMETER_FORWARD(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute),
      WARPMETER_FORWARD(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes),
      WARPMETER_ANSWER(cuGraphAddMemcpyNode),
      WARPMETER_ANSWER(cuGraphMemcpyNodeGetParams),
      WARPMETER_ANSWER(cuGraphMemcpyNodeSetParams),
      WARPMETER_ANSWER(cuGraphExecMemcpyNodeSetParams),
      WARPMETER_ANSWER(cuGraphAddMemsetNode),
      WARPMETER_FORWARD(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams),
      WARPMETER_FORWARD(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams),
      WARPMETER_ANSWER(cuGraphExecMemsetNodeSetParams),
      WARPMETER_FORWARD(cuGraphAddHostNode, cudaGraphAddHostNode),
      WARPMETER_FORWARD(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams),
      WARPMETER_FORWARD(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams),
      WARPMETER_FORWARD(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams),
      WARPMETER_FORWARD(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode),
      WARPMETER_FORWARD(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams),
      WARPMETER_FORWARD(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode),
      WARPMETER_FORWARD(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams),
      WARPMETER_FORWARD(cuGraphAddEmptyNode, cudaGraphAddEmptyNode),
      WARPMETER_FORWARD(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode),
      WARPMETER_FORWARD(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph),
      WARPMETER_FORWARD(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams),
      WARPMETER_FORWARD(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode),
      WARPMETER_FORWARD(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent),
      WARPMETER_FORWARD(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent),
      WARPMETER_FORWARD(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent),
      WARPMETER_FORWARD(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode),
      WARPMETER_FORWARD(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent),
      WARPMETER_FORWARD(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent),
      WARPMETER_FORWARD(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent),
      answer("cuGraphAddNode", &api::add_node),
      WARPMETER_ANSWER(cuGraphAddNode_v2),
      WARPMETER_ANSWER(cuGraphNodeSetParams),
      WARPMETER_ANSWER(cuGraphExecNodeSetParams),
      // The graph.
      WARPMETER_FORWARD(cuGraphCreate, cudaGraphCreate),
      WARPMETER_FORWARD(cuGraphDestroy, cudaGraphDestroy),
      WARPMETER_FORWARD(cuGraphClone, cudaGraphClone),
      WARPMETER_FORWARD(cuGraphNodeFindInClone, cudaGraphNodeFindInClone),
      WARPMETER_FORWARD(cuGraphDestroyNode, cudaGraphDestroyNode),
      WARPMETER_FORWARD(cuGraphGetNodes, cudaGraphGetNodes),
      WARPMETER_FORWARD(cuGraphGetRootNodes, cudaGraphGetRootNodes),
      WARPMETER_FORWARD(cuGraphNodeGetType, cudaGraphNodeGetType),
      WARPMETER_BEFORE_13(cuGraphGetEdges, cudaGraphGetEdges,
                          CUresult(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*)),
      WARPMETER_FORWARD(cuGraphGetEdges_v2, cudaGraphGetEdges),
      WARPMETER_BEFORE_13(cuGraphNodeGetDependencies, cudaGraphNodeGetDependencies,
                          CUresult(CUgraphNode, CUgraphNode*, std::size_t*)),
      WARPMETER_FORWARD(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies),
      WARPMETER_BEFORE_13(cuGraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes,
                          CUresult(CUgraphNode, CUgraphNode*, std::size_t*)),
      WARPMETER_FORWARD(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes),
      WARPMETER_BEFORE_13(cuGraphAddDependencies, cudaGraphAddDependencies,
                          CUresult(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t)),
      WARPMETER_FORWARD(cuGraphAddDependencies_v2, cudaGraphAddDependencies),
      WARPMETER_BEFORE_13(cuGraphRemoveDependencies, cudaGraphRemoveDependencies,
                          CUresult(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t)),
      WARPMETER_FORWARD(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies),
      WARPMETER_FORWARD(cuGraphDebugDotPrint, cudaGraphDebugDotPrint),
      WARPMETER_FORWARD(cuUserObjectCreate, cudaUserObjectCreate),
      WARPMETER_FORWARD(cuUserObjectRetain, cudaUserObjectRetain),
      WARPMETER_FORWARD(cuUserObjectRelease, cudaUserObjectRelease),
      WARPMETER_FORWARD(cuGraphRetainUserObject, cudaGraphRetainUserObject),
      WARPMETER_FORWARD(cuGraphReleaseUserObject, cudaGraphReleaseUserObject),
      // The functions of executables.
      answer("cuGraphInstantiate", &api::instantiate_with_log),
      answer("cuGraphInstantiate_v2", &api::instantiate_with_log),
      WARPMETER_FORWARD(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags),
      WARPMETER_FORWARD(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams),
      WARPMETER_FORWARD(cuGraphExecGetFlags, cudaGraphExecGetFlags),
      answer("cuGraphExecUpdate", &api::update_executable),
      WARPMETER_FORWARD(cuGraphExecUpdate_v2, cudaGraphExecUpdate),
      WARPMETER_FORWARD(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled),
      WARPMETER_FORWARD(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled),
      WARPMETER_FORWARD(cuGraphUpload, cudaGraphUpload),
      WARPMETER_FORWARD(cuGraphLaunch, cudaGraphLaunch),
      WARPMETER_FORWARD(cuGraphExecDestroy, cudaGraphExecDestroy),
      WARPMETER_FORWARD_IN(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, initialised),
      WARPMETER_FORWARD_IN(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute,
                           initialised),
      WARPMETER_FORWARD_IN(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute,
                           initialised),
      // Captured streams.
      WARPMETER_FORWARD(cuStreamBeginCapture_v2, cudaStreamBeginCapture),
      WARPMETER_FORWARD(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph),
      WARPMETER_FORWARD(cuStreamEndCapture, cudaStreamEndCapture),
      WARPMETER_FORWARD(cuStreamIsCapturing, cudaStreamIsCapturing),
      WARPMETER_BEFORE_13(cuStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies,
                          CUresult(CUstream, CUgraphNode*, std::size_t, unsigned)),
      WARPMETER_FORWARD(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies),
      WARPMETER_FORWARD(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode),
  };
  return table;
}

#undef WARPMETER_BEFORE_13
#undef WARPMETER_RUNTIME

}  // namespace warpmeter::runtime
