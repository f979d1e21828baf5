// SPDX-License-Identifier: MIT
// The counters of one launch of somebody else's program: kernel replay around one launch at a time.
//
// The image holds one range, because CUPTI walks the whole image after every launch: with one it
// takes 0.2 to 0.4 ms a launch, with 300 ranges 37 ms (measured on an H200).
#pragma once

#include <vector>

#include "collector/cupti/range_profiler.h"

namespace warpmeter::inject {

class RangeSession {
 public:
  /// Takes the counters of `context`. Keeps references to `api` and `plan`. Throws
  /// Error{no_hardware}.
  RangeSession(const cupti::CuptiApi& api, CUcontext context, const cupti::Plan& plan);

  /// To be called right before the launch. Throws Error{no_hardware}.
  void start() { profiler_.start(); }
  /// To be called right after it: the counters in the plan's order; `code`: of what was launched.
  /// Throws Error{no_hardware}; either way the session is ready for the next launch.
  std::vector<schema::Counter> finish(const cupti::KernelCode& code);

 private:
  const cupti::Plan& plan_;
  cupti::RangeProfiler profiler_;
  cupti::RangeProfiler::Image image_;
};

}  // namespace warpmeter::inject
