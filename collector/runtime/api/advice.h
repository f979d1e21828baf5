// SPDX-License-Identifier: MIT
// The advice of a program on its managed memory: where it should lie, who reads it, where it was
// prefetched to. It lies where host and kernels both reach it whatever is said; what was said is
// remembered, for programs ask.
#pragma once

#include <cstdint>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

cudaError_t advise(Process& process, std::uint64_t address, std::uint64_t bytes,
                   cudaMemoryAdvise advice, const cudaMemLocation& location);
cudaError_t prefetch(Process& process, std::uint64_t address, std::uint64_t bytes,
                     const cudaMemLocation& location, cudaStream_t stream);
/// A location as programs named it before CUDA 13: a device, or cudaCpuDeviceId.
cudaMemLocation location_of(int device);

}  // namespace warpmeter::runtime
