// SPDX-License-Identifier: MIT
// Counter mode: every launch that the filter takes is counted while the program waits in its launch
// call, and sent before that call returns. With Mode::lines and Mode::stalls that is the first
// launch of one kernel, by source line, and no other of the process.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "collector/inject/by_line.h"
#include "collector/inject/channel.h"
#include "collector/inject/filter.h"
#include "collector/inject/graphs.h"
#include "collector/inject/launch_call.h"
#include "collector/inject/range_session.h"
#include "collector/inject/turn.h"
#include "collector/inject/waits.h"

namespace warpmeter::inject {

class Counting {
 public:
  /// Keeps a reference to `channel`; `folder` is the session's; CUPTI can count after
  /// `require_companion`. Throws Error{usage} for a filter that is none.
  Counting(Channel& channel, const cupti::CuptiApi& api, const Config& config,
           std::filesystem::path folder, std::function<void()> require_companion);

  /// True if this thread is between the two: then it has to come to the second.
  static bool is_in_launch();
  /// The two ends of a call of the driver that launches something.
  void enter(CUpti_CallbackId function, const CUpti_CallbackData& data);
  void exit(const CUpti_CallbackData& data);
  void context_ends(CUcontext context);
  void module_loaded(CUcontext context, const CUpti_ModuleResourceData& module);
  /// A kernel of the module is being launched: one of a module that was loaded before us is seen
  /// only then.
  void module_runs(CUcontext context, const CUpti_ModuleResourceData& module);
  void module_unloads() { ++unloads_; }
  /// The program put work into a stream that may wait for it, or shares memory with others.
  void waiting_work(const WaitingWork& work, CUcontext context);
  void memory_shared() { waits_.memory_shared(); }
  void graph_made(const CUpti_GraphData& graph);
  void graph_changes(const GraphChange& change);
  void graph_ends(const CUpti_GraphData& graph);
  /// The program called cudaProfilerStart or cudaProfilerStop.
  void profile(bool is_on) { filter_.profile(is_on); }
  /// True if nothing was measured because it never called cudaProfilerStart.
  bool was_off() const { return !filter_.was_on(); }
  /// The process ends: our thread leaves CUPTI alone from now on.
  void stop();

 private:
  /// The driver calls InitializeInjection in the middle of cuInit, where it cannot be asked
  /// anything: so it is looked up at the first launch. Throws Error{no_hardware} when it is not one
  /// of ours.
  static const cupti::DriverApi& driver();
  struct Context;
  std::string finish(Context& context, const std::vector<std::string>& kernels,
                     std::vector<schema::Counter>& counters) const;
  bool count_kernel(Context& context, const std::string& kernel,
                    const std::function<bool()>& launch, std::vector<schema::Counter>& counters,
                    std::string& failure);
  /// The state of a context; without a session there is a reason.
  struct Context {
    std::uint32_t device = 0, number = 0;
    std::vector<std::uint8_t> availability;           ///< for a plan
    cupti::KernelCode code = cupti::no_special_code;  ///< the plan is made for such kernels
    cupti::KernelCode known =
        cupti::no_special_code;              ///< the code of all kernels whose code was seen
    unsigned launches_before_a_change = 10;  ///< with too many passes: they take as long as one
    unsigned launches_of_known = 0;          ///< in a row: of such kernels alone
    std::unique_ptr<cupti::Plan> plan;
    std::unique_ptr<RangeSession> session;
    bool is_new_session = false;  ///< it has not started its counters yet
    std::uint64_t unloads = 0;    ///< the number of modules unloaded when the session began
    std::string refusal;
    std::string left_out;  ///< why the plan lacks counters that were asked for
    std::chrono::steady_clock::time_point looked_at_memory;
    CUgraphExec empty_graph = nullptr;
  };
  Context& context_of(CUcontext context);
  /// Why the launch is not counted, but for its context's reason; empty when it is.
  std::string obstacle(const LaunchCall& call, CUcontext handle, Context& context,
                       const std::string& kernel);
  std::string waiting_obstacle(const LaunchCall& call, const std::string& kernel,
                               std::uint32_t device) const;
  std::vector<std::string> kernels_of(const LaunchCall& call, const std::string& kernel) const;
  std::string doubt(const std::string& kernel, const Context& context) const;
  std::string await(const LaunchCall& call, CUcontext context);
  std::string open_session(CUcontext handle, Context& context);
  void open(CUcontext handle, Context& context);
  void start(Context& context);
  void make_plan(CUcontext handle, Context& context);
  std::unique_ptr<cupti::Plan> plan_for(const Context& context,
                                        const std::vector<std::string>& counters) const;
  void prepare_for(const std::optional<cupti::KernelCode>& code, Context& context);
  void plan_anew(Context& context);
  void read(const CUpti_ModuleResourceData& module);
  bool is_first_sight(CUcontext context, const CUpti_ModuleResourceData& module);
  void leave_unloaded_code(Context& context) const;
  std::string memory_obstacle(Context& context) const;
  void count_in_one_pass(Context& context, const std::string& reason);
  CUcontext holder_of(std::uint32_t device) const;
  std::string pending_on(std::uint32_t device);
  void close_sessions(std::uint32_t device);
  bool chooses(const LaunchCall& call, CUcontext context, const std::string& kernel,
               std::span<const std::string> ranges);
  static LaunchCall kernel_of(const GraphSteps& graph, std::size_t kernel, const LaunchCall& call);
  void count_graph(const LaunchCall& call, const CUpti_CallbackData& data, Context& context);
  void announce(std::uint32_t device);
  /// A device's counters are ours, or another process has its turn.
  struct Possession {
    Possession(const std::filesystem::path& session, const std::string& device)
        : turn(folder_of_turns(session), device, session) {}
    Turn turn;
    bool is_ours = false;
    bool waited_in_vain = false;
    std::chrono::steady_clock::time_point since, last_launch;
  };
  /// False where another process cannot give it.
  bool possess(std::uint32_t device);
  int tries_on(std::uint32_t device) const;
  /// Runs in a thread of its own: gives counters to processes that wait, and names launches that
  /// take long.
  void share();
  void give_wanted();
  LaunchShape shape_of(const LaunchCall& call, const CUpti_CallbackData& data,
                       const Context& context, const std::string& kernel) const;
  /// How many launches alike there were before; counts this one. Kernels of graphs are alike among
  /// themselves.
  std::uint32_t count(const LaunchCall& call, CUcontext context, const std::string& kernel,
                      bool is_in_graph = false);
  void start_by_line(const CUpti_CallbackData& data, const Context& context);
  void finish_by_line(const CUpti_CallbackData& data);
  void send_by_line(const std::string& reason);
  void send(const std::string& failure, const std::vector<schema::Counter>& counters);
  void send_refusal(const LaunchShape& shape, const std::string& reason);
  void send_counters(const LaunchShape& shape, const std::vector<schema::Counter>& counters);

  Channel& channel_;
  const cupti::CuptiApi& api_;
  const Mode mode_;
  const std::vector<std::string> counters_;
  /// The mutex is locked from the beginning of a launch call to its end, whichever thread it is in:
  /// a launch of another thread in between would land in the same range.
  std::timed_mutex mutex_;
  std::atomic<std::uint32_t> counted_{0};  ///< Name: the kernel that is counted now; 0: none
  Filter filter_;
  std::map<CUcontext, Context> contexts_;
  std::map<std::uint32_t, schema::Device> devices_;  ///< announced ones
  std::map<std::uint32_t, Possession> possessions_;
  const std::filesystem::path folder_;
  const std::function<void()> require_companion_;
  bool is_sharing_ = false;
  std::atomic<bool> is_stopped_{false};
  std::atomic<std::uint64_t> unloads_{0};  ///< the number of modules unloaded so far
  std::set<std::string> left_out_;         ///< kernels that were said to be left out
  std::mutex modules_mutex_;
  std::set<std::pair<CUcontext, std::uint32_t>> modules_;  ///< their code was seen
  bool uses_heap_ = false;  ///< a kernel was launched that allocates on the device's heap
  using Extent = std::array<std::uint32_t, 3>;
  std::map<std::tuple<CUcontext, std::uint32_t, std::string, Extent, Extent, bool>, std::uint32_t>
      launched_;  ///< by stream, kernel, geometry and whether it is in a graph
  Graphs graphs_;
  const std::chrono::milliseconds patience_;
  Waits waits_;
  ByLine by_line_;
};

}  // namespace warpmeter::inject
