// SPDX-License-Identifier: MIT
// Durations of kernels from CUPTI's activity records: start and end on the GPU's own clock in ns,
// without the launch overhead that a timer on the host would see and without the half microsecond
// that CUDA events resolve.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "collector/cupti/context.h"

namespace warpmeter::cupti {

/// Records kernels while `enqueue` runs and until the stream is idle; returns the durations in ns
/// of those called `kernel`, in the order in which they ran. Copies and memsets that `enqueue` puts
/// between them leave no record. Not to be called while a Profiler exists. Throws
/// Error{no_hardware} when CUPTI fails or a record has no time stamps.
std::vector<double> record_durations(const CuptiApi& api, const Context& context,
                                     const std::string& kernel,
                                     const std::function<void()>& enqueue);

/// The same of `calls` calls that each launch the same number of kernels, whatever their names: the
/// sum of a call's kernels, without the gaps between them, which recording widens. Fewer durations
/// than calls when the kernels are no multiple of them.
std::vector<double> record_calls(const CuptiApi& api, const Context& context, std::size_t calls,
                                 const std::function<void()>& enqueue);

/// How many kernels `enqueue` launches.
std::size_t count_kernels(const CuptiApi& api, const Context& context,
                          const std::function<void()>& enqueue);

}  // namespace warpmeter::cupti
