// SPDX-License-Identifier: MIT
// The hardware backend: launches on a GPU through the driver API, counters through CUPTI's Range
// Profiler, times through its activity records, the device's state through NVML.
//
// This header and device.h and diagnose.h are what the command line sees; they need no header of
// CUDA.
#pragma once

#include <functional>
#include <memory>

#include "collector/run/backend.h"

namespace warpmeter::cupti {

struct Options {
  int ordinal = 0;                       ///< the ordinal of the device, as the driver counts
  std::function<bool()> cancelled = {};  ///< asked between launches; true ends a measurement early
  double timeout_s = 0;  ///< a kernel's first launch fails when it takes longer; 0: it may
};

/// Throws Error{no_hardware}, with one clause why and one what to do, when driver, device or CUPTI
/// is missing; Error{usage} for an ordinal that there is not. Missing permission for counters is no
/// error here: Backend::counters_unavailable tells.
std::unique_ptr<run::Backend> open(const Options& options = {});

}  // namespace warpmeter::cupti
