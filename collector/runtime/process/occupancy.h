// SPDX-License-Identifier: MIT
// The resources of a kernel on a multiprocessor, and how many of its blocks one holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// An error where the kernel cannot run.
cudaError_t attributes_of(Process& process, Kernel& kernel, cudaFuncAttributes& attributes);

/// Blocks of so many threads and bytes of dynamic shared memory that a multiprocessor holds at
/// once; the bytes have 32 bits, as on hardware.
cudaError_t blocks_of(Process& process, int& blocks, Kernel& kernel, int block_size,
                      std::size_t shared);

/// Bytes of dynamic shared memory that each of so many blocks may have.
cudaError_t shared_of(Process& process, std::size_t& bytes, Kernel& kernel, int blocks,
                      int block_size);

/// cudaErrorCooperativeLaunchTooLarge where the blocks cannot all be resident at once.
cudaError_t residency_mistake(Process& process, const KernelWork& work);

/// Blocks that a cluster of the kernel may have.
std::uint32_t most_blocks_of_cluster(const Kernel& kernel);
/// cudaErrorInvalidClusterSize where the grid cannot be launched in such clusters.
cudaError_t cluster_mistake(Process& process, Kernel& kernel, const Geometry& geometry);
/// Clusters that are resident at once, in the stream's context.
cudaError_t clusters_of(Process& process, int& clusters, Kernel& kernel, const Geometry& geometry,
                        cudaStream_t stream);

}  // namespace warpmeter::runtime
