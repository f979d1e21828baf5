// SPDX-License-Identifier: MIT
// The messages to warpmeter about this process: the same messages that the injected library sends
// where there is a GPU (inject/protocol.h), with counts of the model.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/inject/channel.h"
#include "collector/inject/filter.h"
#include "collector/inject/shape_numbers.h"
#include "collector/model/counts/grades.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/program.h"
#include "schema/records.h"

namespace warpmeter::runtime {

/// A launch, before it runs.
struct LaunchPlace {
  std::string kernel;
  Geometry geometry;
  std::uint32_t device = 0, stream = 0;
};

/// The time of a call, by the clock of inject::monotonic_ns().
struct CallTime {
  std::chrono::steady_clock::time_point begin, end;
};

/// A copy or set that was done.
struct Move {
  std::string_view name;  ///< "[CUDA memcpy HtoD]"
  bool is_set = false;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0, stream = 0;
  inject::MemoryKind source = inject::MemoryKind::none, target = inject::MemoryKind::none;
  /// The devices of a copy between two.
  std::optional<std::uint32_t> source_device, target_device;
};

/// Memory that the program has allocated.
struct Allocated {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t device = 0;
  inject::MemoryKind kind = inject::MemoryKind::device;
  std::chrono::steady_clock::time_point begin;
  std::optional<std::chrono::steady_clock::time_point> end;  ///< none: it was never freed
};

class Report {
 public:
  /// Connects. Throws Error where nobody listens; without a configuration nothing is reported.
  explicit Report(const std::string& socket);

  /// Each device has one context, numbered as CUPTI numbers them.
  static std::uint32_t context_of(std::uint32_t device) { return device + 1; }

  /// False in a fork of the process that has connected.
  bool is_open() const { return channel_.is_open(); }
  const inject::Config& config() const { return config_; }
  bool counts() const { return config_.mode == inject::Mode::counters; }
  bool traces() const { return config_.mode == inject::Mode::activity; }
  bool is_told_of_launches() const { return counts() || traces(); }

  /// True if this launch was chosen; to be asked once a launch, in their order.
  bool takes(const LaunchPlace& place);
  /// A launch that was counted, or failed: its grid and those that it launched itself; of a failure
  /// none. `explanation`: of explain(); 0: none. `doubt`: see model::counter_named().
  void launched(const LaunchPlace& place, const model::Program& program,
                const std::vector<model::Ran>& grids, const std::string& failure,
                std::uint32_t explanation, std::string_view doubt);
  /// A launch whose kernel the model cannot execute.
  void could_not_run(const LaunchPlace& place, const std::string& why);
  /// A launch that the API refused; a sentence that names its kernel.
  void refused(const std::string& why);
  /// A call of the API that returned an error.
  void failed(const inject::FailedCall& failed);
  /// Sends the findings of launches that follow; its number for launched().
  std::uint32_t explain(const schema::Explanation& explanation);
  /// A kernel has run for a while, and whether it is over now. By any thread.
  void runs(const std::string& kernel);
  void has_run();
  /// A kernel, copy or call of the summary.
  void ran(const LaunchPlace& place, const model::Program& program, std::uint64_t instructions);
  void moved(const Move& move);
  void allocated(const Allocated& memory);
  void called(std::string_view function, const CallTime& time);
  /// This thread's outermost call begins. Its kernels and copies share its number.
  void begin_call();
  /// That number, and for a stream's own thread the one of the call that gave the work.
  static std::uint32_t call() { return call_; }
  static void continue_call(std::uint32_t number) { call_ = number; }
  /// The program called cudaProfilerStart or cudaProfilerStop.
  void profile(bool is_on);
  /// For the person, once.
  void say(const std::string& text);
  void find(const inject::Finding& finding) { channel_.send(finding); }
  void tell(const inject::Checked& checked) { channel_.send(checked); }
  void tell(const inject::Shaped& shaped) { channel_.send(shaped); }
  void tell(const inject::ResourceName& name) { channel_.send(name); }
  /// The process ends in order.
  void end();

 private:
  inject::LaunchShape shape_of(const LaunchPlace& place, const model::Program* program);
  void send_device(std::uint32_t ordinal);
  void send_lines(const std::vector<model::Ran>& grids);
  void add(const inject::ActivityShape& shape, inject::Activity activity);
  void add_ranges();
  void flush();

  inject::Channel channel_;
  inject::Config config_;
  std::vector<model::NamedCounter> counters_;  ///< those of config_
  std::unique_ptr<inject::Filter> filter_;
  std::set<std::uint32_t> devices_;
  std::set<std::string> said_, left_out_;
  inject::ShapeNumbers shapes_{channel_};
  inject::Activities waiting_;
  std::uint32_t correlation_ = 0, explanations_ = 0;
  static inline thread_local std::uint32_t call_ = 0;  ///< the number of this thread's call
};

}  // namespace warpmeter::runtime
