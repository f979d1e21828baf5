// Counters of many launches at once: CUPTI's Range Profiler with automatic ranges (each kernel
// launch is one) and user replay (we launch everything again for each pass).
//
// Why this mode: kernel replay saves and restores device memory around every launch and walks the
// whole counter-data image each time, 0.5 to 37 ms a kernel; with user replay a batch costs a start
// and a stop a pass, and a launch little more than itself. The price is that the caller has to
// give every launch the same input in every pass.
//
// Ranges are created by kernel launches only, not by copies and memsets (measured), so a batch may
// restore its buffers between launches, and range i is launch i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collector/cupti/context.h"
#include "collector/cupti/planner.h"

namespace warpmeter::cupti {

/// What a device can count.
struct CounterSupport {
  std::vector<std::uint8_t> availability;  ///< for MetricHost; empty when there is a reason
  std::string unavailable;                 ///< why no counter can be read; empty when they can
};

/// Tries everything that profiling needs, up to taking the counters for a moment.
CounterSupport probe_counters(const CuptiApi& api, const Context& context);

/// The chip's name as the metrics know it: "GH100"; empty when CUPTI does not tell. Needs a driver.
std::string chip_name(const CuptiApi& api, int ordinal);

/// The counters of one context, taken when it is made and given back when it goes. Other
/// measurements of time have to wait until then.
class Profiler {
 public:
  Profiler(const CuptiApi& api, const Context& context);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Calls `launch(i)`, which enqueues exactly one kernel, for every i below `launches`, once a
  /// pass, and returns the counters of each, in the plan's order. Throws Error{no_hardware} when
  /// CUPTI fails; an exception of `launch` ends the measurement and goes on to the caller.
  std::vector<std::vector<schema::Counter>> measure(const Plan& plan, std::size_t launches,
                                                    const std::function<void(std::size_t)>& launch);

 private:
  void prepare(const Plan& plan, std::size_t ranges);
  void run_passes(const std::function<void()>& launch_all);
  void decode(std::size_t launches);

  const CuptiApi& api_;
  const Context& context_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> image_;  ///< counter data of one batch; CUPTI keeps its address
};

}  // namespace warpmeter::cupti
