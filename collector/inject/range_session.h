// The counters of one launch of somebody else's program: CUPTI's Range Profiler with automatic
// ranges and kernel replay, around one launch at a time.
//
// The image holds one range, because CUPTI walks the whole image after every launch: with one it
// takes 0.5 to 0.7 ms a launch, with 300 ranges 37 ms (measured on an H200).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/cupti/planner.h"

namespace warpmeter::inject {

class RangeSession {
 public:
  /// Takes the counters of `context`. Keeps references to `api` and `plan`. Throws
  /// Error{no_hardware}.
  RangeSession(const cupti::CuptiApi& api, CUcontext context, const cupti::Plan& plan);
  ~RangeSession();
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  /// To be called right before the launch. Throws Error{no_hardware}.
  void start();
  /// To be called right after it: the counters in the plan's order. Throws Error{no_hardware};
  /// either way the session is ready for the next launch.
  std::vector<schema::Counter> finish();

 private:
  void configure();

  const cupti::CuptiApi& api_;
  const cupti::Plan& plan_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> pristine_, image_;
};

}  // namespace warpmeter::inject
