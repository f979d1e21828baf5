// SPDX-License-Identifier: MIT
// The work of a node, made of the parameters that the API describes it with, and those again.
#pragma once

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

cudaGraphNodeType type_of(const Work& work);

cudaError_t make_work(Process& process, const cudaKernelNodeParams* parameters, Work& work);
cudaError_t make_work(Process& process, const cudaMemcpy3DParms* parameters, Work& work);
cudaError_t make_work(Process& process, const cudaMemsetParams* parameters, Work& work);
cudaError_t make_work(Process& process, const cudaHostNodeParams* parameters, Work& work);
cudaError_t make_work(Process& process, cudaGraph_t child, bool moves, Work& work);
cudaError_t make_work(Process& process, cudaEvent_t event, bool records, Work& work);
/// Chooses the address, which the parameters take.
cudaError_t make_work(Process& process, cudaMemAllocNodeParams* parameters, Work& work);
/// Makes a free of any type of memory that a graph allocates. It is memory that a graph allocates.
cudaError_t make_free(Process& process, const void* pointer, Work& work);
cudaError_t make_work(Process& process, cudaGraphNodeParams* parameters, Work& work);
cudaError_t make_copy(Process& process, const CopyWork& copy, Work& work);

/// Points into the node.
cudaKernelNodeParams kernel_parameters(Node& node);
cudaMemsetParams parameters_of(const SetWork& set);

/// Attributes of a kernel's node that change how it is executed.
Dim3 cluster_of(const cudaLaunchAttributeValue& value);
void apply_attribute(KernelWork& kernel, int attribute, const cudaLaunchAttributeValue& value);

}  // namespace warpmeter::runtime
