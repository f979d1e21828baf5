// SPDX-License-Identifier: MIT
// The limits of cudaDeviceSetLimit: a device rounds what it is given, and holds some of it once a
// kernel needs it. Limits and how they are rounded are those of an H200 (driver 580).
#pragma once

#include <cstddef>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// Leaves `value` as it is where there is no such limit.
cudaError_t get_limit(std::size_t& value, cudaLimit limit);
cudaError_t set_limit(Process& process, cudaLimit limit, std::size_t value);

/// A kernel that runs now: what it prints into, or allocates from, keeps its size.
void hold_limits(const model::Program& program);

}  // namespace warpmeter::runtime
