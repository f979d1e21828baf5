// Counter mode: every launch that the filter takes is counted while the program waits in its launch
// call, and sent before that call returns.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "collector/inject/channel.h"
#include "collector/inject/filter.h"
#include "collector/inject/launch_call.h"
#include "collector/inject/range_session.h"

namespace warpmeter::inject {

class Counting {
 public:
  /// Keeps a reference to `channel`. Throws Error{usage} for a filter that is none.
  Counting(Channel& channel, const cupti::CuptiApi& api, const Config& config);

  /// The two ends of a call of the driver that launches something.
  void enter(CUpti_CallbackId function, const CUpti_CallbackData& data);
  void exit(const CUpti_CallbackData& data);
  void context_ends(CUcontext context);
  void graph_made(const CUpti_GraphData& graph);
  void graph_ends(const CUpti_GraphData& graph);

 private:
  /// The driver calls InitializeInjection in the middle of cuInit, where it cannot be asked
  /// anything: so it is looked up at the first launch. Throws Error{no_hardware} when it is not one
  /// of ours.
  static const cupti::DriverApi& driver();
  /// What is known of a context; without a session there is a reason.
  struct Context {
    std::uint32_t device = 0, number = 0;
    std::unique_ptr<cupti::Plan> plan;
    std::unique_ptr<RangeSession> session;
    std::string refusal;
  };
  Context& context_of(CUcontext context);
  void open(CUcontext handle, Context& context);
  void announce(std::uint32_t device);
  LaunchShape shape_of(const LaunchCall& call, const CUpti_CallbackData& data,
                       const Context& context, const std::string& kernel) const;
  void send_refusal(const LaunchShape& shape, const std::string& reason);
  void send_counters(const LaunchShape& shape, const std::vector<schema::Counter>& counters);

  Channel& channel_;
  const cupti::CuptiApi& api_;
  const std::vector<std::string> counters_;
  /// Held from the beginning of a launch call to its end, whichever thread it is in: a launch of
  /// another thread in between would land in the same range.
  std::mutex mutex_;
  Filter filter_;
  std::map<CUcontext, Context> contexts_;
  std::map<std::uint32_t, std::string> devices_;  ///< announced ones, and their chips
  std::set<std::string> left_out_;                ///< kernels that were said to be left out
  GraphNames graphs_;
};

}  // namespace warpmeter::inject
