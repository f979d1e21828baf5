// SPDX-License-Identifier: MIT
// A problem on a GPU: its launches are executed, counted and timed there.
#pragma once

#include <memory>

#include "collector/cupti/gpu_backend.h"

namespace warpmeter::cupti {

/// `backend` has to outlive the workload, and its context to be current.
std::unique_ptr<run::Workload> load_workload(GpuBackend& backend, const kernels::Problem& problem);

}  // namespace warpmeter::cupti
