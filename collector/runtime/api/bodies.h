// SPDX-License-Identifier: MIT
// The bodies of the API's functions that other bodies call.
#pragma once

#include <functional>

#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/node_work.h"

namespace warpmeter::runtime {

namespace driver_launches {
CUresult launch_kernel(Process& process, CUfunction function, unsigned grid_x, unsigned grid_y,
                       unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                       unsigned shared, CUstream stream, void** arguments, void** extra);
}  // namespace driver_launches

namespace textures {
cudaError_t device_get_texture_1d_linear_max_width(Process& process, std::size_t* most,
                                                   const cudaChannelFormatDesc* channels,
                                                   int device);
}  // namespace textures

namespace streams {
cudaError_t device_synchronize(Process& process);
cudaError_t event_record(Process& process, cudaEvent_t event, cudaStream_t stream);
cudaError_t create_with_priority(Process& process, cudaStream_t* stream, unsigned flags,
                                 int priority);
}  // namespace streams

namespace launches {
cudaError_t function_get_attributes(Process& process, cudaFuncAttributes* attributes,
                                    const void* function);
cudaError_t function_set_attribute(Process& process, const void* function, cudaFuncAttribute which,
                                   int value);
cudaError_t function_set_cache_config(Process& process, const void* function, cudaFuncCache config);
cudaError_t launch_cooperative_kernel(Process& process, const void* function, dim3 grid, dim3 block,
                                      void** arguments, std::size_t shared, cudaStream_t stream);
cudaError_t launch_kernel_ex_c(Process& process, const cudaLaunchConfig_t* config,
                               const void* function, void** arguments);
cudaError_t occupancy_max_active_blocks_per_multiprocessor_with_flags(Process& process, int* blocks,
                                                                      const void* function,
                                                                      int block_size,
                                                                      std::size_t shared,
                                                                      unsigned flags);
cudaError_t occupancy_max_active_clusters(Process& process, int* clusters, const void* function,
                                          const cudaLaunchConfig_t* config);
cudaError_t occupancy_max_potential_cluster_size(Process& process, int* size, const void* function,
                                                 const cudaLaunchConfig_t* config);
}  // namespace launches

namespace edges {
cudaError_t add_dependencies(Process&, cudaGraph_t graph, const cudaGraphNode_t* from,
                             const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                             std::size_t count);
cudaError_t get_edges(Process&, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                      cudaGraphEdgeData* edges, std::size_t* count);
cudaError_t node_get_dependencies(Process&, cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                  cudaGraphEdgeData* edges, std::size_t* count);
cudaError_t node_get_dependent_nodes(Process&, cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                     cudaGraphEdgeData* edges, std::size_t* count);
cudaError_t remove_dependencies(Process&, cudaGraph_t graph, const cudaGraphNode_t* from,
                                const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                std::size_t count);
}  // namespace edges

/// Makes the work of a node.
using MakeWork = std::function<cudaError_t(Work&)>;

namespace graphs {
/// Adds a node with the work that `make` makes, behind its dependencies.
cudaError_t add(Process& process, cudaGraphNode_t* result, cudaGraph_t handle,
                const cudaGraphNode_t* dependencies, std::size_t count, const MakeWork& make,
                const cudaGraphEdgeData* edges = nullptr);
template <class Parameters>
cudaError_t add_node_with(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                          const cudaGraphNode_t* dependencies, std::size_t count,
                          Parameters* parameters) {
  return add(process, node, graph, dependencies, count,
             [&](Work& work) { return make_work(process, parameters, work); });
}
cudaError_t add_node(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                     const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                     std::size_t count, cudaGraphNodeParams* parameters);
}  // namespace graphs

namespace nodes {
/// Work of the same type in the node's place: in the graph, or in what was made executable of it.
cudaError_t change(cudaGraphNode_t node, const MakeWork& make);
cudaError_t change(Process& process, cudaGraphExec_t handle, cudaGraphNode_t original,
                   const MakeWork& make);
template <class Parameters>
cudaError_t set_parameters(Process& process, cudaGraphNode_t node, Parameters* parameters) {
  return change(node, [&](Work& work) { return make_work(process, parameters, work); });
}
template <class Parameters>
cudaError_t exec_set_parameters(Process& process, cudaGraphExec_t graph, cudaGraphNode_t node,
                                Parameters* parameters) {
  return change(process, graph, node,
                [&](Work& work) { return make_work(process, parameters, work); });
}
cudaError_t kernel_node_get_parameters(Process&, cudaGraphNode_t node,
                                       cudaKernelNodeParams* parameters);
cudaError_t copy_node_get_parameters(Process&, cudaGraphNode_t node, cudaMemcpy3DParms* parameters);
}  // namespace nodes

namespace executables {
cudaError_t exec_update(Process& process, cudaGraphExec_t handle, cudaGraph_t graph,
                        cudaGraphExecUpdateResultInfo* info);
cudaError_t instantiate_with_flags(Process& process, cudaGraphExec_t* result, cudaGraph_t graph,
                                   unsigned long long flags);
}  // namespace executables

namespace captures {
cudaError_t stream_begin_capture(Process& process, cudaStream_t handle, cudaStreamCaptureMode mode);
cudaError_t get_capture_info(Process& process, cudaStream_t handle, cudaStreamCaptureStatus* status,
                             unsigned long long* number, cudaGraph_t* graph,
                             const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                             std::size_t* count);
cudaError_t update_capture_dependencies(Process& process, cudaStream_t handle,
                                        cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData* edges, std::size_t count,
                                        unsigned flags);
}  // namespace captures

}  // namespace warpmeter::runtime
