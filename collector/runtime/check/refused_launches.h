// SPDX-License-Identifier: MIT
// Launches by kernels that the device's runtime refuses, and whose threads do not ask.
#pragma once

#include "collector/model/machine/device_runtime.h"
#include "collector/model/machine/program.h"
#include "collector/runtime/check/checks.h"

namespace warpmeter::runtime {

/// Reports those of the grid that has ended; `program` is its kernel.
void find_refused_launches(Checks& checks, const model::Program& program,
                           const model::DeviceRuntime& runtime);

}  // namespace warpmeter::runtime
