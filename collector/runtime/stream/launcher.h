// SPDX-License-Identifier: MIT
// Runs kernels for the program, counted or not.
#pragma once

#include "collector/runtime/graph/graph.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// The parameters as one stretch of bytes, from the pointers that a launch is given; empty where
/// `kernel` cannot run.
std::vector<std::byte> parameters_of(Kernel& kernel, void* const* arguments);

/// Runs it now, to its end. A kernel that fails is noticed by a later call, as on hardware.
void run_kernel(Process& process, const KernelWork& work, std::uint32_t stream);

}  // namespace warpmeter::runtime
