// Launches by function, what a kernel takes, and how many of its blocks a multiprocessor holds.
#include <cuda_occupancy.h>

#include <algorithm>

#include "collector/runtime/answer.h"
#include "collector/runtime/call.h"
#include "collector/runtime/device.h"
#include "collector/runtime/process.h"
#include "collector/runtime/submit.h"

namespace warpmeter::runtime {
namespace {

/// What a kernel takes; false where it cannot run.
cudaError_t attributes_of(Process& process, const void* function, cudaFuncAttributes& attributes) {
  Kernel* kernel = process.kernel(function);
  if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
  const model::Program* program = kernel->program();
  if (program == nullptr) return cudaErrorNoKernelImageForDevice;
  const model::Resources& resources = kernel->resources();
  if (!resources.registers) {
    process.say("registers of kernels are not known without their machine code (" +
                kernel->module().why_no_cubin() + "): occupancy is worked out for 32 a thread");
  }
  attributes = {};
  attributes.sharedSizeBytes = program->static_shared_bytes;
  attributes.constSizeBytes = program->constant_memory.size();
  attributes.localSizeBytes = static_cast<std::size_t>(resources.local_bytes.value_or(0));
  attributes.numRegs = static_cast<int>(resources.registers.value_or(32));
  const int by_registers = 65536 / std::max(attributes.numRegs, 1) / 32 * 32;
  attributes.maxThreadsPerBlock =
      std::min({static_cast<int>(program->max_threads), by_registers, 1024});
  attributes.ptxVersion = kernel->module().ptx_arch();
  attributes.binaryVersion = process.arch();
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(kernel->most_dynamic_shared_bytes);
  attributes.preferredShmemCarveout = -1;
  return cudaSuccess;
}

cudaOccDeviceProp occupancy_device(Process& process) {
  cudaDeviceProp properties{};
  fill_properties(properties, process.arch(), 0);
  return cudaOccDeviceProp(properties);
}

cudaError_t blocks_of(Process& process, int& blocks, const void* function, int block_size,
                      std::size_t shared) {
  cudaFuncAttributes attributes{};
  const cudaError_t known = attributes_of(process, function, attributes);
  if (known != cudaSuccess) return known;
  const cudaOccDeviceProp device = occupancy_device(process);
  const cudaOccFuncAttributes kernel(attributes);
  const cudaOccDeviceState state;
  cudaOccResult result;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block_size,
                                              shared) != CUDA_OCC_SUCCESS) {
    return cudaErrorInvalidValue;
  }
  blocks = result.activeBlocksPerMultiprocessor;
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
    int blocks = 0;
    const cudaError_t known =
        blocks_of(p, blocks, function, static_cast<int>(block.x * block.y * block.z), shared);
    if (known != cudaSuccess) return known;
    const std::uint64_t resident =
        static_cast<std::uint64_t>(blocks) *
        static_cast<std::uint64_t>(*attribute(cudaDevAttrMultiProcessorCount, p.arch(), 0));
    if (std::uint64_t{grid.x} * grid.y * grid.z > resident) {
      return cudaErrorCooperativeLaunchTooLarge;
    }
    return launch(p, function, grid, block, arguments, shared, stream, true);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return call("cudaLaunchKernelExC", [&](Process& p) {
    if (config == nullptr) return cudaErrorInvalidValue;
    bool is_cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const cudaLaunchAttribute& attribute = config->attrs[i];
      is_cooperative |=
          attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
      const auto& cluster = attribute.val.clusterDim;
      if (attribute.id == cudaLaunchAttributeClusterDimension &&
          cluster.x * cluster.y * cluster.z > 1) {
        p.say("the model executes no clusters of blocks: such a launch fails");
        return cudaErrorNotSupported;
      }
    }
    return launch(p, function, config->gridDim, config->blockDim, arguments,
                  config->dynamicSmemBytes, config->stream, is_cooperative);
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call("cudaFuncGetAttributes", [&](Process& p) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    return attributes_of(p, function, *attributes);
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute which, int value) {
  return call("cudaFuncSetAttribute", [&](Process& p) {
    Kernel* kernel = p.kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
    if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    const model::Program* program = kernel->program();
    if (program == nullptr) return cudaErrorNoKernelImageForDevice;
    const int most = *attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, p.arch(), 0);
    if (value < 0 || value + static_cast<int>(program->static_shared_bytes) > most) {
      return cudaErrorInvalidValue;
    }
    kernel->most_dynamic_shared_bytes = static_cast<std::uint32_t>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return call("cudaFuncSetCacheConfig", [&](Process& p) {
    return p.kernel(function) != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, int) {
  return call("cudaFuncSetSharedMemConfig", [&](Process& p) {
    return p.kernel(function) != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call("cudaFuncGetName", [&](Process& p) {
    const Kernel* kernel = p.kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
    *name = kernel->entry().c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return call("cudaGetFuncBySymbol", [&](Process& p) {
    Kernel* kernel = p.kernel(symbol);
    if (function == nullptr || kernel == nullptr) return cudaErrorInvalidResourceHandle;
    *function = reinterpret_cast<cudaFunction_t>(kernel);
    return cudaSuccess;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* result, const void* symbol) {
  return call("cudaGetKernel", [&](Process& p) {
    const Kernel* kernel = p.kernel(symbol);
    if (result == nullptr || kernel == nullptr) return cudaErrorInvalidResourceHandle;
    *result = reinterpret_cast<cudaKernel_t>(const_cast<void*>(symbol));  // it is no device's
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, std::size_t shared) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Process& p) {
    if (blocks == nullptr) return cudaErrorInvalidValue;
    return blocks_of(p, *blocks, function, block_size, shared);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int block_size,
                                                                   std::size_t shared, unsigned) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&](Process& p) {
    if (blocks == nullptr) return cudaErrorInvalidValue;
    return blocks_of(p, *blocks, function, block_size, shared);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Process& p) {
    cudaFuncAttributes attributes{};
    const cudaError_t known = attributes_of(p, function, attributes);
    if (known != cudaSuccess) return known;
    const cudaOccDeviceProp device = occupancy_device(p);
    const cudaOccFuncAttributes kernel(attributes);
    const cudaOccDeviceState state;
    return cudaOccAvailableDynamicSMemPerBlock(bytes, &device, &kernel, &state, blocks,
                                               block_size) == CUDA_OCC_SUCCESS
               ? cudaSuccess
               : cudaErrorInvalidValue;
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
  };
  return table;
}

}  // namespace warpmeter::runtime
