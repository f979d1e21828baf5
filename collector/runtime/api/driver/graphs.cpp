// SPDX-License-Identifier: MIT
// The driver's graphs: the runtime's by other names, and nodes that it describes in its own words.
#include <cstring>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/driver/node_forms.h"
#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace driver_graphs {
namespace {

/// The runtime's errors that the driver has no number for.
CUresult as_graph_error(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
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
CUresult with_kernel_node(Process& process, const Given* given, const Body& body) {
  if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaKernelNodeParams parameters{};
  const CUresult mistake = as_runtime(process, with_kernel(*given), parameters);
  return mistake != CUDA_SUCCESS ? mistake : as_graph_error(body(&parameters));
}
template <class Body>
CUresult with_copy_node(const CUDA_MEMCPY3D* given, const Body& body) {
  if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaMemcpy3DParms parameters{};
  const CUresult mistake = as_runtime(*given, parameters);
  return mistake != CUDA_SUCCESS ? mistake : as_graph_error(body(&parameters));
}
template <class Body>
CUresult with_node(Process& process, CUgraphNodeParams* given, const Body& body) {
  if (given == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaGraphNodeParams parameters{};
  const CUresult mistake = as_runtime(process, *given, parameters);
  if (mistake != CUDA_SUCCESS) return mistake;
  const cudaError_t result = body(&parameters);
  if (given->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    given->alloc.dptr = reinterpret_cast<CUdeviceptr>(parameters.alloc.dptr);
  }
  return as_graph_error(result);
}

// Kernels.

template <class Parameters>
CUresult add_kernel(Process& process, CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                    std::size_t count, const Parameters* given) {
  return with_kernel_node(process, given, [&](const cudaKernelNodeParams* k) {
    return graphs::add_node_with(process, node, graph, after, count, k);
  });
}
template <class Parameters>
CUresult set_kernel(Process& process, CUgraphNode node, const Parameters* given) {
  return with_kernel_node(process, given, [&](const cudaKernelNodeParams* k) {
    return nodes::set_parameters(process, node, k);
  });
}
template <class Parameters>
CUresult set_executed_kernel(Process& process, CUgraphExec exec, CUgraphNode node,
                             const Parameters* given) {
  return with_kernel_node(process, given, [&](const cudaKernelNodeParams* k) {
    return nodes::exec_set_parameters(process, exec, node, k);
  });
}
/// The parameters of before CUDA 12 are the first of today's.
template <class Parameters>
CUresult get_kernel(Process& process, CUgraphNode node, Parameters* result) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaKernelNodeParams known{};
  const cudaError_t asked = nodes::kernel_node_get_parameters(process, node, &known);
  if (asked != cudaSuccess) return as_graph_error(asked);
  const CUDA_KERNEL_NODE_PARAMS told = as_driver(process, known);
  static_assert(sizeof *result <= sizeof told);
  std::memcpy(result, &told, sizeof *result);
  return CUDA_SUCCESS;
}

// Copies and sets. All contexts have the same memory here.

CUresult add_copy_node(Process& process, CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                       std::size_t count, const CUDA_MEMCPY3D* given, CUcontext) {
  return with_copy_node(given, [&](const cudaMemcpy3DParms* c) {
    return graphs::add_node_with(process, node, graph, after, count, c);
  });
}
CUresult copy_node_set_parameters(Process& process, CUgraphNode node, const CUDA_MEMCPY3D* given) {
  return with_copy_node(
      given, [&](const cudaMemcpy3DParms* c) { return nodes::set_parameters(process, node, c); });
}
CUresult exec_copy_node_set_parameters(Process& process, CUgraphExec exec, CUgraphNode node,
                                       const CUDA_MEMCPY3D* given, CUcontext) {
  return with_copy_node(given, [&](const cudaMemcpy3DParms* c) {
    return nodes::exec_set_parameters(process, exec, node, c);
  });
}
CUresult copy_node_get_parameters(Process& process, CUgraphNode node, CUDA_MEMCPY3D* result) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaMemcpy3DParms known{};
  const cudaError_t asked = nodes::copy_node_get_parameters(process, node, &known);
  if (asked != cudaSuccess) return as_graph_error(asked);
  *result = as_driver(known);
  return CUDA_SUCCESS;
}
CUresult add_set_node(Process& process, CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                      std::size_t count, const CUDA_MEMSET_NODE_PARAMS* given, CUcontext) {
  return as_graph_error(graphs::add_node_with(process, node, graph, after, count,
                                              reinterpret_cast<const cudaMemsetParams*>(given)));
}
CUresult exec_set_node_set_parameters(Process& process, CUgraphExec exec, CUgraphNode node,
                                      const CUDA_MEMSET_NODE_PARAMS* given, CUcontext) {
  return as_graph_error(nodes::exec_set_parameters(
      process, exec, node, reinterpret_cast<const cudaMemsetParams*>(given)));
}

// Nodes of any type.

CUresult graph_add_node_v2(Process& process, CUgraphNode* node, CUgraph graph,
                           const CUgraphNode* after, const CUgraphEdgeData* edges,
                           std::size_t count, CUgraphNodeParams* given) {
  return with_node(process, given, [&](cudaGraphNodeParams* parameters) {
    return graphs::add_node(process, node, graph, after,
                            reinterpret_cast<const cudaGraphEdgeData*>(edges), count, parameters);
  });
}
CUresult node_set_parameters(Process& process, CUgraphNode node, CUgraphNodeParams* given) {
  return with_node(process, given, [&](cudaGraphNodeParams* parameters) {
    return nodes::set_parameters(process, node, parameters);
  });
}
CUresult exec_node_set_parameters(Process& process, CUgraphExec exec, CUgraphNode node,
                                  CUgraphNodeParams* given) {
  return with_node(process, given, [&](cudaGraphNodeParams* parameters) {
    return nodes::exec_set_parameters(process, exec, node, parameters);
  });
}

// As earlier versions of CUDA called them: edges had no data.

CUresult add_node(Process& process, CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                  std::size_t count, CUgraphNodeParams* given) {
  return graph_add_node_v2(process, node, graph, after, nullptr, count, given);
}
/// The log has nothing to say: the result says it.
CUresult instantiate_with_log(Process& process, CUgraphExec* exec, CUgraph graph,
                              CUgraphNode* wrong, char* log, std::size_t bytes) {
  if (wrong != nullptr) *wrong = nullptr;
  if (log != nullptr && bytes > 0) *log = '\0';
  return as_driver_error(executables::instantiate_with_flags(process, exec, graph, 0));
}
CUresult update_executable(Process& process, CUgraphExec exec, CUgraph graph, CUgraphNode* wrong,
                           CUgraphExecUpdateResult* result) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t updated = executables::exec_update(process, exec, graph, &info);
  if (wrong != nullptr) *wrong = info.errorNode;
  *result = static_cast<CUgraphExecUpdateResult>(info.result);
  return as_driver_error(updated);
}

}  // namespace
}  // namespace driver_graphs

std::vector<Answer> driver_graph_answers() {
  using KernelBefore12 = CUDA_KERNEL_NODE_PARAMS_v1;
  using KernelNode = CUDA_KERNEL_NODE_PARAMS;
  return {
      ANSWER_AS("cuGraphAddKernelNode", driver_graphs::add_kernel<KernelBefore12>, Needs::context),
      ANSWER_AS("cuGraphAddKernelNode_v2", driver_graphs::add_kernel<KernelNode>, Needs::context),
      ANSWER_AS("cuGraphKernelNodeGetParams", driver_graphs::get_kernel<KernelBefore12>,
                Needs::context),
      ANSWER_AS("cuGraphKernelNodeGetParams_v2", driver_graphs::get_kernel<KernelNode>,
                Needs::context),
      ANSWER_AS("cuGraphKernelNodeSetParams", driver_graphs::set_kernel<KernelBefore12>,
                Needs::context),
      ANSWER_AS("cuGraphKernelNodeSetParams_v2", driver_graphs::set_kernel<KernelNode>,
                Needs::context),
      ANSWER_AS("cuGraphExecKernelNodeSetParams",
                driver_graphs::set_executed_kernel<KernelBefore12>, Needs::context),
      ANSWER_AS("cuGraphExecKernelNodeSetParams_v2", driver_graphs::set_executed_kernel<KernelNode>,
                Needs::context),
      ANSWER(cuGraphAddMemcpyNode, driver_graphs::add_copy_node, Needs::context),
      ANSWER(cuGraphMemcpyNodeGetParams, driver_graphs::copy_node_get_parameters, Needs::context),
      ANSWER(cuGraphMemcpyNodeSetParams, driver_graphs::copy_node_set_parameters, Needs::context),
      ANSWER(cuGraphExecMemcpyNodeSetParams, driver_graphs::exec_copy_node_set_parameters,
             Needs::context),
      ANSWER(cuGraphAddMemsetNode, driver_graphs::add_set_node, Needs::context),
      ANSWER(cuGraphExecMemsetNodeSetParams, driver_graphs::exec_set_node_set_parameters,
             Needs::context),
      ANSWER_AS("cuGraphAddNode", driver_graphs::add_node, Needs::context),
      ANSWER(cuGraphAddNode_v2, driver_graphs::graph_add_node_v2, Needs::context),
      ANSWER(cuGraphNodeSetParams, driver_graphs::node_set_parameters, Needs::context),
      ANSWER(cuGraphExecNodeSetParams, driver_graphs::exec_node_set_parameters, Needs::context),
      // Executables.
      ANSWER_AS("cuGraphInstantiate", driver_graphs::instantiate_with_log, Needs::context),
      ANSWER_AS("cuGraphInstantiate_v2", driver_graphs::instantiate_with_log, Needs::context),
      ANSWER_AS("cuGraphExecUpdate", driver_graphs::update_executable, Needs::context,
                No(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)),
  };
}

}  // namespace warpmeter::runtime
