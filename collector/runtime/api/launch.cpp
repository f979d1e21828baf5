// SPDX-License-Identifier: MIT
// Launches by function, what a kernel takes, and how many of its blocks a multiprocessor holds.
#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/graph/graph_edges.h"
#include "collector/runtime/process/occupancy.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/node_work.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace launches {
namespace {

/// `ask(kernel)` of the kernel that the program names.
template <class Ask>
cudaError_t of_kernel(Process& process, const void* function, const Ask& ask) {
  Kernel* kernel = process.kernel(function);
  return kernel != nullptr ? ask(*kernel) : Process::kernel_mistake(function);
}

Geometry geometry_of(const cudaLaunchConfig_t& config) {
  Geometry geometry;
  geometry.grid = {config.gridDim.x, config.gridDim.y, config.gridDim.z};
  geometry.block = {config.blockDim.x, config.blockDim.y, config.blockDim.z};
  geometry.dynamic_shared_bytes = static_cast<std::uint32_t>(config.dynamicSmemBytes);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      geometry.cluster = cluster_of(config.attrs[i].val);
    }
  }
  return geometry;
}

/// The event that the launch's attribute names: recorded once the kernel has begun or says so,
/// which here is when it has ended.
cudaError_t record_launch(Process& process, const cudaLaunchAttribute& attribute,
                          cudaStream_t stream) {
  const bool is_completion = attribute.id == cudaLaunchAttributeLaunchCompletionEvent;
  const cudaEvent_t handle = is_completion ? attribute.val.launchCompletionEvent.event
                                           : attribute.val.programmaticEvent.event;
  const bool is_at_start =
      is_completion || attribute.val.programmaticEvent.triggerAtBlockStart != 0;
  const cudaError_t result = streams::event_record(process, handle, stream);
  Event* event = process.event(handle);
  if (result != cudaSuccess || event->captured_in == nullptr) return result;
  for (const Node* node : event->captured_after) {
    event->captured_ports[node] = programmatic_edge(is_at_start);
  }
  return cudaSuccess;
}

cudaError_t launch_kernel(Process& process, const void* function, dim3 grid, dim3 block,
                          void** arguments, std::size_t shared, cudaStream_t stream) {
  const OnDevice device(device_of_launch(process, stream));
  return launch(process, function, grid, block, arguments, shared, stream);
}

cudaError_t function_set_shared_mem_config(Process& process, const void* function, int) {
  return of_kernel(process, function, [](Kernel&) { return cudaSuccess; });
}

cudaError_t function_get_name(Process& process, const char** name, const void* function) {
  if (name == nullptr) return cudaErrorInvalidValue;
  return of_kernel(process, function, [&](const Kernel& kernel) {
    *name = kernel.entry().c_str();
    return cudaSuccess;
  });
}

cudaError_t get_function_by_symbol(Process& process, cudaFunction_t* function, const void* symbol) {
  if (process.kernel(symbol) == nullptr) return cudaErrorInvalidDeviceFunction;
  return of_kernel(process, symbol, [&](Kernel& kernel) {
    if (function != nullptr) *function = reinterpret_cast<cudaFunction_t>(&kernel);
    return cudaSuccess;
  });
}

cudaError_t get_kernel(Process& process, cudaKernel_t* result, const void* symbol) {
  if (result == nullptr) return cudaErrorInvalidValue;
  if (process.kernel(symbol) == nullptr) return cudaErrorInvalidDeviceFunction;
  return of_kernel(process, symbol, [&](Kernel&) {
    *result = reinterpret_cast<cudaKernel_t>(const_cast<void*>(symbol));  // it is no device's
    return cudaSuccess;
  });
}

cudaError_t occupancy_max_active_blocks_per_multiprocessor(Process& process, int* blocks,
                                                           const void* function, int block_size,
                                                           std::size_t shared) {
  if (blocks == nullptr) return cudaErrorInvalidValue;
  return of_kernel(process, function, [&](Kernel& kernel) {
    return blocks_of(process, *blocks, kernel, block_size, shared);
  });
}

cudaError_t occupancy_available_dynamic_smem_per_block(Process& process, std::size_t* bytes,
                                                       const void* function, int blocks,
                                                       int block_size) {
  if (bytes == nullptr) return cudaErrorInvalidValue;
  return of_kernel(process, function, [&](Kernel& kernel) {
    return shared_of(process, *bytes, kernel, blocks, block_size);
  });
}

}  // namespace

cudaError_t function_get_attributes(Process& process, cudaFuncAttributes* attributes,
                                    const void* function) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  return of_kernel(process, function,
                   [&](Kernel& kernel) { return attributes_of(process, kernel, *attributes); });
}

cudaError_t function_set_attribute(Process& process, const void* function, cudaFuncAttribute which,
                                   int value) {
  const int number = which;  // the number of a caller that may have made it of any number
  if (number < cudaFuncAttributeMaxDynamicSharedMemorySize || number >= cudaFuncAttributeMax) {
    return cudaErrorInvalidValue;
  }
  return of_kernel(process, function, [&](Kernel& kernel) {
    if (which == cudaFuncAttributePreferredSharedMemoryCarveout) {
      if (value < cudaSharedmemCarveoutDefault || value > 100) return cudaErrorInvalidValue;
      kernel.shared_carveout = value;
    }
    if (which == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      kernel.allows_large_clusters = value != 0;
    }
    if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    const model::Program* program = kernel.program();
    if (program == nullptr) return process.cannot_execute(kernel);
    const int most = *attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, process.arch(), 0);
    if (value < 0 || value + static_cast<int>(program->static_shared_bytes) > most) {
      return cudaErrorInvalidValue;
    }
    kernel.most_dynamic_shared_bytes = static_cast<std::uint32_t>(value);
    return cudaSuccess;
  });
}

cudaError_t function_set_cache_config(Process& process, const void* function,
                                      cudaFuncCache config) {
  const int number = config;  // the number of a caller that may have made it of any number
  if (number < 0 || number > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
  return of_kernel(process, function, [&](Kernel& kernel) {
    kernel.cache_preference = config;
    return cudaSuccess;
  });
}

/// All blocks have to be resident at once.
cudaError_t launch_cooperative_kernel(Process& process, const void* function, dim3 grid, dim3 block,
                                      void** arguments, std::size_t shared, cudaStream_t stream) {
  const OnDevice device(device_of_launch(process, stream));
  return launch(process, function, grid, block, arguments, shared, stream, true);
}

cudaError_t launch_kernel_ex_c(Process& process, const cudaLaunchConfig_t* config,
                               const void* function, void** arguments) {
  if (config == nullptr) return cudaErrorInvalidValue;
  bool is_cooperative = false, is_programmatic = false;
  Dim3 cluster;
  const cudaLaunchAttribute* records = nullptr;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    const int number = attribute.id;  // the number of a caller that may have made it of any number
    if (number < 0 || number > cudaLaunchAttributeNvlinkUtilCentricScheduling) {
      return cudaErrorInvalidValue;
    }
    is_cooperative |=
        attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      cluster = cluster_of(attribute.val);
    }
    is_programmatic |= attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
                       attribute.val.programmaticStreamSerializationAllowed != 0;
    if (attribute.id == cudaLaunchAttributeProgrammaticEvent ||
        attribute.id == cudaLaunchAttributeLaunchCompletionEvent) {
      records = &attribute;
    }
  }
  const cudaError_t launched =
      launch(process, function, config->gridDim, config->blockDim, arguments,
             config->dynamicSmemBytes, config->stream, is_cooperative, cluster, is_programmatic);
  return launched != cudaSuccess || records == nullptr
             ? launched
             : record_launch(process, *records, config->stream);
}

cudaError_t launch_with_config(Process& process, const cudaLaunchConfig_t* config,
                               const void* function, void** arguments) {
  if (config == nullptr) return cudaErrorInvalidValue;
  const OnDevice device(device_of_launch(process, config->stream));
  return launch_kernel_ex_c(process, config, function, arguments);
}

cudaError_t occupancy_max_active_blocks_per_multiprocessor_with_flags(Process& process, int* blocks,
                                                                      const void* function,
                                                                      int block_size,
                                                                      std::size_t shared,
                                                                      unsigned flags) {
  if (blocks == nullptr || flags > cudaOccupancyDisableCachingOverride) {
    return cudaErrorInvalidValue;
  }
  return of_kernel(process, function, [&](Kernel& kernel) {
    return blocks_of(process, *blocks, kernel, block_size, shared);
  });
}

cudaError_t occupancy_max_active_clusters(Process& process, int* clusters, const void* function,
                                          const cudaLaunchConfig_t* config) {
  if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
  return of_kernel(process, function, [&](Kernel& kernel) {
    return clusters_of(process, *clusters, kernel, geometry_of(*config), config->stream);
  });
}

cudaError_t occupancy_max_potential_cluster_size(Process& process, int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
  return of_kernel(process, function, [&](Kernel& kernel) {
    const cudaError_t mistake = cluster_mistake(process, kernel, geometry_of(*config));
    if (mistake == cudaSuccess) *size = static_cast<int>(most_blocks_of_cluster(kernel));
    return mistake;
  });
}

}  // namespace launches

std::vector<Answer> launch_answers() {
  return {
      ANSWER(cudaLaunchKernel, launches::launch_kernel, Needs::context),
      ANSWER(cudaLaunchCooperativeKernel, launches::launch_cooperative_kernel, Needs::context),
      ANSWER(cudaLaunchKernelExC, launches::launch_with_config, Needs::context),
      ANSWER(cudaFuncGetAttributes, launches::function_get_attributes, Needs::context),
      ANSWER(cudaFuncSetAttribute, launches::function_set_attribute, Needs::context),
      BOTH(cudaFuncSetCacheConfig, cuFuncSetCacheConfig, launches::function_set_cache_config,
           Needs::context),
      ANSWER_AS("cudaFuncSetSharedMemConfig", launches::function_set_shared_mem_config,
                Needs::context),
      ANSWER(cudaFuncGetName, launches::function_get_name, Needs::device),
      ANSWER(cuKernelGetName, launches::function_get_name, Needs::initialised),
      ANSWER(cuFuncGetName, launches::function_get_name, Needs::context),
      ANSWER(cudaGetFuncBySymbol, launches::get_function_by_symbol, Needs::context),
      ANSWER(cudaGetKernel, launches::get_kernel, Needs::device),
      BOTH(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
           cuOccupancyMaxActiveBlocksPerMultiprocessor,
           launches::occupancy_max_active_blocks_per_multiprocessor, Needs::context),
      BOTH(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           launches::occupancy_max_active_blocks_per_multiprocessor_with_flags, Needs::context),
      BOTH(cudaOccupancyAvailableDynamicSMemPerBlock, cuOccupancyAvailableDynamicSMemPerBlock,
           launches::occupancy_available_dynamic_smem_per_block, Needs::context),
      ANSWER(cudaOccupancyMaxPotentialClusterSize, launches::occupancy_max_potential_cluster_size,
             Needs::context),
      ANSWER(cudaOccupancyMaxActiveClusters, launches::occupancy_max_active_clusters,
             Needs::context),
  };
}

}  // namespace warpmeter::runtime
