#include "collector/runtime/occupancy.h"

#include <cuda_occupancy.h>

#include <algorithm>

#include "collector/runtime/device.h"

namespace warpmeter::runtime {
namespace {

/// What NVIDIA's calculation asks for.
struct Asked {
  cudaOccDeviceProp device;
  cudaOccFuncAttributes kernel;
  cudaOccDeviceState state;
};

cudaError_t ask(Process& process, Kernel& kernel, Asked& asked) {
  cudaFuncAttributes attributes{};
  const cudaError_t known = attributes_of(process, kernel, attributes);
  if (known != cudaSuccess) return known;
  cudaDeviceProp properties{};
  fill_properties(properties, process.arch(), 0);
  asked.device = cudaOccDeviceProp(properties);
  asked.kernel = cudaOccFuncAttributes(attributes);
  asked.state.carveoutConfig = attributes.preferredShmemCarveout;
  return cudaSuccess;
}

}  // namespace

cudaError_t attributes_of(Process& process, Kernel& kernel, cudaFuncAttributes& attributes) {
  const model::Program* program = kernel.program();
  if (program == nullptr) return cudaErrorNoKernelImageForDevice;
  const model::Resources& resources = kernel.resources();
  if (!resources.registers) {
    process.say("registers of kernels are not known without their machine code (" +
                kernel.module().why_no_cubin() + "): occupancy is worked out for 32 a thread");
  }
  attributes = {};
  attributes.sharedSizeBytes = program->static_shared_bytes;
  attributes.constSizeBytes = program->constant_memory.size();
  attributes.localSizeBytes = static_cast<std::size_t>(resources.local_bytes.value_or(0));
  attributes.numRegs = static_cast<int>(resources.registers.value_or(32));
  const int by_registers = 65536 / std::max(attributes.numRegs, 1) / 32 * 32;
  attributes.maxThreadsPerBlock =
      std::min({static_cast<int>(program->max_threads), by_registers, 1024});
  attributes.ptxVersion = kernel.module().ptx_arch();
  attributes.binaryVersion = process.arch();
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(kernel.most_dynamic_shared_bytes);
  attributes.preferredShmemCarveout = kernel.shared_carveout;
  return cudaSuccess;
}

cudaError_t blocks_of(Process& process, int& blocks, Kernel& kernel, int block_size,
                      std::size_t shared) {
  Asked asked;
  const cudaError_t known = ask(process, kernel, asked);
  if (known != cudaSuccess) return known;
  cudaOccResult result;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &asked.device, &asked.kernel, &asked.state,
                                              block_size, static_cast<std::uint32_t>(shared)) !=
      CUDA_OCC_SUCCESS) {
    return cudaErrorInvalidValue;
  }
  blocks = result.activeBlocksPerMultiprocessor;
  return cudaSuccess;
}

cudaError_t shared_of(Process& process, std::size_t& bytes, Kernel& kernel, int blocks,
                      int block_size) {
  Asked asked;
  const cudaError_t known = ask(process, kernel, asked);
  if (known != cudaSuccess) return known;
  return cudaOccAvailableDynamicSMemPerBlock(&bytes, &asked.device, &asked.kernel, &asked.state,
                                             blocks, block_size) == CUDA_OCC_SUCCESS
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

cudaError_t residency_mistake(Process& process, Kernel& kernel, const Geometry& geometry) {
  int blocks = 0;
  const cudaError_t known =
      blocks_of(process, blocks, kernel, static_cast<int>(geometry.block.count()),
                geometry.dynamic_shared_bytes);
  if (known != cudaSuccess) return known;
  const auto resident =
      static_cast<std::uint64_t>(blocks) *
      static_cast<std::uint64_t>(*attribute(cudaDevAttrMultiProcessorCount, process.arch(), 0));
  return geometry.grid.count() > resident ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

}  // namespace warpmeter::runtime
