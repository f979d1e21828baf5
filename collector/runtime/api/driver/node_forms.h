// SPDX-License-Identifier: MIT
// The driver's descriptions of nodes as the runtime's, and those again.
#pragma once

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// A kernel by its function, or else by its library's kernel; what is wrong with it, if anything.
CUresult as_runtime(Process& process, const CUDA_KERNEL_NODE_PARAMS& given,
                    cudaKernelNodeParams& wanted);
/// As the node was told; the pointers point into it.
CUDA_KERNEL_NODE_PARAMS as_driver(Process& process, const cudaKernelNodeParams& known);

CUresult as_runtime(const CUDA_MEMCPY3D& given, cudaMemcpy3DParms& wanted);
CUDA_MEMCPY3D as_driver(const cudaMemcpy3DParms& known);

CUresult as_runtime(Process& process, const CUgraphNodeParams& given, cudaGraphNodeParams& wanted);

}  // namespace warpmeter::runtime
