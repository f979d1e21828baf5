// SPDX-License-Identifier: MIT
// CUPTI's Range Profiler on one context, as its calls want to be made: what backend and injector
// have in common. Automatic ranges: each kernel launch is one.
//
// Facts that were measured on an H200 with CUPTI 13.0.1 and driver 580, and not documented:
// - The first Start after Enable takes 130 ms, and 0.7 ms more for each range that a pass may have;
//   the configuration, the mode of replay and the number of ranges stay as they were then. A later
//   SetConfig with others succeeds and is ignored, and launches past the number are lost without a
//   word. So an object has one plan, one mode and one number of ranges for life.
// - A decoded image keeps its ranges: decoded into again it returns the old values. It has to be
//   initialised again, or copied from an initialised one, which is twice as fast.
// - SASS counters, which are added to the kernel's code, cost 0.15 ms a pass. Counters of hardware
//   units are armed and released in every pass: 21 ms for those of L1, 11 ms for DRAM, 3 ms for
//   smsp__inst_executed, whatever the mode of replay.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/cupti/planner.h"

namespace warpmeter::cupti {

class RangeProfiler {
 public:
  using Image = std::vector<std::uint8_t>;  ///< counter data of a number of ranges

  /// Takes the counters of `context` for passes of at most `ranges` launches. Keeps references to
  /// `api` and `plan`, which collects at least one metric. Throws Error{no_hardware}.
  RangeProfiler(const CuptiApi& api, CUcontext context, const Plan& plan,
                CUpti_ProfilerReplayMode replay, std::size_t ranges);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  /// An image without a range, to be copied.
  const Image& pristine() const { return pristine_; }
  /// The next passes go into `image`, which has to stay where it is; the first of them is the
  /// plan's pass `first_pass`. The four throw Error{no_hardware}.
  void configure(Image& image, std::size_t first_pass);
  void start();
  bool stop();  ///< true when it was the last pass of the plan
  /// Decodes the counts into the image of configure(). Throws, too, when it is not `ranges`.
  void decode(const Image& image, std::size_t ranges);
  /// The same, whatever number of ranges there is.
  void decode();

 private:
  void enable(CUcontext context);
  void disable();
  void make_pristine();

  const CuptiApi& api_;
  const Plan& plan_;
  const CUpti_ProfilerReplayMode replay_;
  const std::size_t ranges_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  Image pristine_;
  std::size_t dropped_ = 0;  ///< ranges of the last decode
};

}  // namespace warpmeter::cupti
