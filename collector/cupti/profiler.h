// SPDX-License-Identifier: MIT
// Counters of many launches at once: CUPTI's Range Profiler with automatic ranges (each kernel
// launch is one) and user replay (we launch everything again for each pass).
//
// Why this mode: kernel replay saves and restores device memory around every launch and walks the
// whole counter-data image each time, 0.5 to 37 ms a kernel; with user replay a launch costs about
// 0.1 ms. The price is that the caller has to give every launch the same input in every pass.
//
// These facts were measured on an H200 with CUPTI 13.0.1 and driver 580, and not documented; see
// range_profiler.h, too:
// - Copies and memsets between launches make no range: range i is launch i.
// - Every second pass since Enable costs 0.09 ms more for each range that it may have, used or not,
//   if it is a pass of SASS counters (they come last); a pass of others pays nothing. The standard
//   set takes two passes. An empty pass at the beginning moves the SASS pass to the cheap turn: 175
//   µs a launch without it, 102 µs with it.
// - A profiler that is enabled but not started leaves the times of activity records as they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collector/cupti/context.h"
#include "collector/cupti/planner.h"
#include "collector/cupti/range_profiler.h"

namespace warpmeter::cupti {

/// The counters of a device.
struct CounterSupport {
  std::vector<std::uint8_t> availability;  ///< for a Plan; empty when there is a reason
  std::string unavailable;                 ///< why no counter can be read; empty when they can
};

/// A clause that MPS shares the device, which keeps its counters from everybody; empty: it does
/// not.
std::string sharing(CUdevice device);

/// Makes CUPTI ready to count, once a process: 70 ms, in which another thread can make a context.
/// Throws Error{no_hardware}.
void start_profiling(const CuptiApi& api);

/// Why the device cannot be profiled; empty when it can.
std::string profiling_obstacle(const CuptiApi& api, CUdevice device);
/// Asks for everything that profiling needs, and takes no counters: 0.12 s.
CounterSupport find_counters(const CuptiApi& api, CUcontext context, CUdevice device);
/// The same, and takes the counters for a moment.
CounterSupport probe_counters(const CuptiApi& api, const Context& context);

/// The chip's name as the metrics know it: "GH100"; empty when CUPTI does not tell. Needs a driver.
std::string chip_name(const CuptiApi& api, int ordinal);

/// The counters of one context for one plan, taken when it is made and given back when it goes.
class Profiler {
 public:
  /// Keeps references to its arguments; `plan` collects at least one metric. Throws
  /// Error{no_hardware} when CUPTI does not give the counters.
  Profiler(const CuptiApi& api, const Context& context, const Plan& plan);

  /// Calls `launch(i)`, which enqueues exactly one kernel, whose code is `codes[i]`, for every i of
  /// `codes`, once a pass, and returns the counters of each, in the plan's order. Throws
  /// Error{no_hardware} when CUPTI fails; an exception of `launch` ends the measurement and goes on
  /// to the caller. After either the profiler has to be made anew.
  std::vector<std::vector<schema::Counter>> measure(std::span<const KernelCode> codes,
                                                    const std::function<void(std::size_t)>& launch);

 private:
  using Image = RangeProfiler::Image;

  void prime();
  bool run_pass(const std::function<void()>& launch_all);

  const Context& context_;
  const Plan& plan_;
  RangeProfiler ranges_;
  std::array<Image, 2> images_;  ///< the images of a batch; one is read while the other is filled
};

}  // namespace warpmeter::cupti
