// SPDX-License-Identifier: MIT
// Launches by function, what a kernel takes, and how many of its blocks a multiprocessor holds.
#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/graph/graph_edges.h"
#include "collector/runtime/process/occupancy.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/node_work.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
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
  static auto* const record = runtime_function<decltype(::cudaEventRecord)>("cudaEventRecord");
  const cudaError_t result = record(handle, stream);
  Event* event = process.event(handle);
  if (result != cudaSuccess || event->captured_in == nullptr) return result;
  for (const Node* node : event->captured_after) {
    event->captured_ports[node] = programmatic_edge(is_at_start);
  }
  return cudaSuccess;
}

}  // namespace

namespace api {
namespace {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return call("cudaLaunchKernel", [&](Process& p) {
    return launch(p, function, grid, block, arguments, shared, stream);
  });
}

/// All blocks have to be resident at once.
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, std::size_t shared, cudaStream_t stream) {
  return call("cudaLaunchCooperativeKernel", [&](Process& p) {
    return launch(p, function, grid, block, arguments, shared, stream, true);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return call("cudaLaunchKernelExC", [&](Process& p) {
    if (config == nullptr) return cudaErrorInvalidValue;
    bool is_cooperative = false, is_programmatic = false;
    Dim3 cluster;
    const cudaLaunchAttribute* records = nullptr;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      const int number =
          attribute.id;  // the number of a caller that may have made it of any number
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
        launch(p, function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
               config->stream, is_cooperative, cluster, is_programmatic);
    return launched != cudaSuccess || records == nullptr
               ? launched
               : record_launch(p, *records, config->stream);
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call("cudaFuncGetAttributes", [&](Process& p) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    return of_kernel(p, function,
                     [&](Kernel& kernel) { return attributes_of(p, kernel, *attributes); });
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  return call("cudaFuncSetAttribute", [&](Process& p) {
    const int number = which;  // the number of a caller that may have made it of any number
    if (number < cudaFuncAttributeMaxDynamicSharedMemorySize || number >= cudaFuncAttributeMax) {
      return cudaErrorInvalidValue;
    }
    return of_kernel(p, function, [&](Kernel& kernel) {
      if (which == cudaFuncAttributePreferredSharedMemoryCarveout) {
        if (value < cudaSharedmemCarveoutDefault || value > 100) return cudaErrorInvalidValue;
        kernel.shared_carveout = value;
      }
      if (which == cudaFuncAttributeNonPortableClusterSizeAllowed) {
        kernel.allows_large_clusters = value != 0;
      }
      if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
      const model::Program* program = kernel.program();
      if (program == nullptr) return cudaErrorNoKernelImageForDevice;
      const int most = *attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, p.arch(), 0);
      if (value < 0 || value + static_cast<int>(program->static_shared_bytes) > most) {
        return cudaErrorInvalidValue;
      }
      kernel.most_dynamic_shared_bytes = static_cast<std::uint32_t>(value);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return call("cudaFuncSetCacheConfig", [&](Process& p) {
    const int number = config;  // the number of a caller that may have made it of any number
    if (number < 0 || number > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    return of_kernel(p, function, [&](Kernel& kernel) {
      kernel.cache_preference = config;
      return cudaSuccess;
    });
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, int) {
  return call("cudaFuncSetSharedMemConfig", [&](Process& p) {
    return of_kernel(p, function, [](Kernel&) { return cudaSuccess; });
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call_without_context("cudaFuncGetName", [&](Process& p) {
    if (name == nullptr) return cudaErrorInvalidValue;
    return of_kernel(p, function, [&](const Kernel& kernel) {
      *name = kernel.entry().c_str();
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return call("cudaGetFuncBySymbol", [&](Process& p) {
    if (p.kernel(symbol) == nullptr) return cudaErrorInvalidDeviceFunction;
    return of_kernel(p, symbol, [&](Kernel& kernel) {
      if (function != nullptr) *function = reinterpret_cast<cudaFunction_t>(&kernel);
      return cudaSuccess;
    });
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* result, const void* symbol) {
  return call_without_context("cudaGetKernel", [&](Process& p) {
    if (result == nullptr) return cudaErrorInvalidValue;
    if (p.kernel(symbol) == nullptr) return cudaErrorInvalidDeviceFunction;
    return of_kernel(p, symbol, [&](Kernel&) {
      *result = reinterpret_cast<cudaKernel_t>(const_cast<void*>(symbol));  // it is no device's
      return cudaSuccess;
    });
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, std::size_t shared) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Process& p) {
    if (blocks == nullptr) return cudaErrorInvalidValue;
    return of_kernel(p, function, [&](Kernel& kernel) {
      return blocks_of(p, *blocks, kernel, block_size, shared);
    });
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, std::size_t shared, unsigned flags) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&](Process& p) {
    if (blocks == nullptr || flags > cudaOccupancyDisableCachingOverride) {
      return cudaErrorInvalidValue;
    }
    return of_kernel(p, function, [&](Kernel& kernel) {
      return blocks_of(p, *blocks, kernel, block_size, shared);
    });
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Process& p) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    return of_kernel(p, function, [&](Kernel& kernel) {
      return shared_of(p, *bytes, kernel, blocks, block_size);
    });
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxPotentialClusterSize", [&](Process& p) {
    if (size == nullptr || config == nullptr) return cudaErrorInvalidValue;
    return of_kernel(p, function, [&](Kernel& kernel) {
      const cudaError_t mistake = cluster_mistake(p, kernel, geometry_of(*config));
      if (mistake == cudaSuccess) *size = static_cast<int>(most_blocks_of_cluster(kernel));
      return mistake;
    });
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxActiveClusters", [&](Process& p) {
    if (clusters == nullptr || config == nullptr) return cudaErrorInvalidValue;
    return of_kernel(p, function, [&](Kernel& kernel) {
      return clusters_of(p, *clusters, kernel, geometry_of(*config), config->stream);
    });
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> launch_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cudaLaunchKernel),
      WARPMETER_ANSWER(cudaLaunchCooperativeKernel),
      WARPMETER_ANSWER(cudaLaunchKernelExC),
      WARPMETER_ANSWER(cudaFuncGetAttributes),
      WARPMETER_ANSWER(cudaFuncSetAttribute),
      WARPMETER_ANSWER(cudaFuncSetCacheConfig),
      WARPMETER_UNDECLARED(cudaFuncSetSharedMemConfig),
      WARPMETER_ANSWER(cudaFuncGetName),
      WARPMETER_ANSWER(cudaGetFuncBySymbol),
      WARPMETER_UNDECLARED(cudaGetKernel),
      WARPMETER_ANSWER(cudaOccupancyMaxActiveBlocksPerMultiprocessor),
      WARPMETER_ANSWER(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags),
      WARPMETER_ANSWER(cudaOccupancyAvailableDynamicSMemPerBlock),
      WARPMETER_ANSWER(cudaOccupancyMaxPotentialClusterSize),
      WARPMETER_ANSWER(cudaOccupancyMaxActiveClusters),
  };
  return table;
}

}  // namespace warpmeter::runtime
