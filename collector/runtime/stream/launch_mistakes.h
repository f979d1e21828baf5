// SPDX-License-Identifier: MIT
// Launches that the API refuses before they run.
#pragma once

#include "collector/runtime/graph/graph.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// The mistake in a launch before it runs, as the API says it; cudaSuccess: nothing.
cudaError_t launch_mistake(Process& process, const KernelWork& work);

/// The same of the registers of its blocks, which graphs are asked for when they are made
/// executable (measured on an H200). Where nobody counts, a kernel without machine code passes.
cudaError_t register_mistake(Process& process, const KernelWork& work);

}  // namespace warpmeter::runtime
