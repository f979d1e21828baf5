// SPDX-License-Identifier: MIT
#include "collector/runtime/process/occupancy.h"

#include <cuda_occupancy.h>

#include <algorithm>

#include "collector/model/machine/cluster.h"
#include "collector/model/machine/device_limits.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"

namespace warpmeter::runtime {
namespace {

/// That every device with clusters has.
constexpr std::uint32_t portable_cluster_blocks = 8;

/// The question for NVIDIA's calculation.
struct Asked {
  cudaOccDeviceProp device;
  cudaOccFuncAttributes kernel;
  cudaOccDeviceState state;
};

/// Percent of the cache as shared memory, as an H200 takes what the kernel prefers.
int carveout_of(const Kernel& kernel) {
  if (kernel.shared_carveout != cudaSharedmemCarveoutDefault) return kernel.shared_carveout;
  switch (kernel.cache_preference) {
    case cudaFuncCachePreferShared:
      return cudaSharedmemCarveoutMaxShared;
    case cudaFuncCachePreferL1:
      return cudaSharedmemCarveoutMaxL1;
    case cudaFuncCachePreferEqual:
      return 50;
    default:
      return cudaSharedmemCarveoutDefault;
  }
}

cudaError_t ask(Process& process, Kernel& kernel, Asked& asked) {
  cudaFuncAttributes attributes{};
  const cudaError_t known = attributes_of(process, kernel, attributes);
  if (known != cudaSuccess) return known;
  cudaDeviceProp properties{};
  fill_properties(properties, process.arch(), 0);
  asked.device = cudaOccDeviceProp(properties);
  asked.kernel = cudaOccFuncAttributes(attributes);
  asked.state.carveoutConfig = carveout_of(kernel);
  return cudaSuccess;
}

}  // namespace

cudaError_t attributes_of(Process& process, Kernel& kernel, cudaFuncAttributes& attributes) {
  const model::Program* program = kernel.program();
  const model::Resources& resources = kernel.resources();
  // Who asks this of machine code may not ask what follows: CUB remembers a failure here.
  if (program == nullptr && !resources.registers) return process.cannot_execute(kernel);
  if (!resources.registers) {
    process.say("registers of kernels are not known without their machine code (" +
                kernel.module().why_no_cubin() + "): occupancy is worked out for 32 a thread");
  }
  attributes = {};
  if (program != nullptr) {
    attributes.sharedSizeBytes = program->static_shared_bytes;
    attributes.constSizeBytes = program->constant_memory.size();
  }
  attributes.localSizeBytes = static_cast<std::size_t>(resources.local_bytes.value_or(0));
  attributes.numRegs = static_cast<int>(resources.registers.value_or(32));
  const auto by_registers = static_cast<int>(model::most_threads_of_block(attributes.numRegs));
  attributes.maxThreadsPerBlock = std::min(
      {program != nullptr ? static_cast<int>(program->max_threads) : 1024, by_registers, 1024});
  attributes.ptxVersion = program != nullptr ? kernel.module().ptx_arch() : process.arch();
  attributes.binaryVersion = process.arch();
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(kernel.most_dynamic_shared_bytes);
  attributes.preferredShmemCarveout = kernel.shared_carveout;
  attributes.nonPortableClusterSizeAllowed = kernel.allows_large_clusters ? 1 : 0;
  const Dim3 cluster = program != nullptr ? program->cluster : Dim3();
  if (cluster.count() > 1) {
    attributes.clusterDimMustBeSet = 1;
    attributes.requiredClusterWidth = static_cast<int>(cluster.x);
    attributes.requiredClusterHeight = static_cast<int>(cluster.y);
    attributes.requiredClusterDepth = static_cast<int>(cluster.z);
  }
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

cudaError_t residency_mistake(Process& process, const KernelWork& work) {
  const Geometry& geometry = work.geometry;
  int blocks = 0;
  const cudaError_t known =
      blocks_of(process, blocks, *work.kernel, static_cast<int>(geometry.block.count()),
                geometry.dynamic_shared_bytes);
  if (known != cudaSuccess) return known;
  const auto all =
      static_cast<std::uint64_t>(*attribute(cudaDevAttrMultiProcessorCount, process.arch(), 0));
  const std::uint64_t resident =
      static_cast<std::uint64_t>(blocks) *
      (work.multiprocessors != nullptr ? work.multiprocessors->size() : all);
  return geometry.grid.count() > resident ? cudaErrorCooperativeLaunchTooLarge : cudaSuccess;
}

std::uint32_t most_blocks_of_cluster(const Kernel& kernel) {
  return kernel.allows_large_clusters ? model::most_blocks_of_cluster : portable_cluster_blocks;
}

cudaError_t cluster_mistake(Process& process, Kernel& kernel, const Geometry& geometry) {
  const model::Program* program = kernel.program();
  if (program == nullptr) return process.cannot_execute(kernel);
  const Dim3 cluster = model::in_clusters(*program, geometry).cluster;
  if (cluster.count() == 1) return cudaSuccess;
  const bool is_none = cluster.count() > most_blocks_of_cluster(kernel) ||
                       !model::cluster_failure(*program, geometry).empty();
  const bool has_clusters = *attribute(cudaDevAttrClusterLaunch, process.arch(), 0) != 0;
  return is_none || !has_clusters ? cudaErrorInvalidClusterSize : cudaSuccess;
}

cudaError_t clusters_of(Process& process, int& clusters, Kernel& kernel, const Geometry& geometry,
                        cudaStream_t stream) {
  const Stream* known_stream = process.stream(stream);
  if (known_stream == nullptr) return cudaErrorInvalidResourceHandle;
  const cudaError_t mistake = cluster_mistake(process, kernel, geometry);
  if (mistake != cudaSuccess) return mistake;
  int blocks = 0;
  const cudaError_t known =
      blocks_of(process, blocks, kernel, static_cast<int>(geometry.block.count()),
                geometry.dynamic_shared_bytes);
  if (known != cudaSuccess) return known;
  // As an H100 answered for sizes of 1, 2, 4 and 8; which multiprocessors a cluster of more than
  // two blocks cannot use differs from chip to chip.
  constexpr int most_of_multiprocessor = 8, left_out = 8;
  const int size =
      static_cast<int>(model::in_clusters(*kernel.program(), geometry).cluster.count());
  const int all = *attribute(cudaDevAttrMultiProcessorCount, process.arch(), 0);
  const Context* green = green_of(stream, *known_stream);
  const int usable = green != nullptr ? static_cast<int>(green->multiprocessors->size())
                     : size > 2       ? all - left_out
                                      : all;
  clusters = std::min(blocks, most_of_multiprocessor) * usable / size;
  return cudaSuccess;
}

}  // namespace warpmeter::runtime
