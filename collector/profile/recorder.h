// SPDX-License-Identifier: MIT
// The messages of the injected library, put into the database, and summed up for the tables.
//
// A traced run stores each activity too, and its launches are those of one kernel and geometry
// together, with a sample for each: a program may launch millions.
//
// Launches are stored in batches: whatever has come when store() finds the writer free. After a
// failure of the database everything is only summed up.
//
// The program may run several times: the launches of its first run (pass) are stored as they come,
// with what was measured of them; what a later pass measures is kept until it ends, and then added
// to the launches that it matches (sightings.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "collector/inject/protocol.h"
#include "collector/profile/later_pass.h"
#include "collector/profile/receiver.h"
#include "collector/profile/resource_names.h"
#include "collector/profile/sightings.h"
#include "collector/profile/writer.h"
#include "schema/store.h"

namespace warpmeter::profile {

/// One row of the summary: everything of one name.
struct Activity {
  inject::ActivityKind kind = inject::ActivityKind::kernel;
  std::string name;                 ///< the name of a kernel: as the machine code has it
  std::vector<float> durations_ns;  ///< one a call; a float keeps 24 bits
  double total_ns = 0;
  std::uint64_t calls = 0;
  std::uint64_t amount = 0;  ///< bytes of all copies, warp instructions of all launches
};

/// Launches that were seen and not measured, for one reason.
struct Refusal {
  std::uint64_t launches = 0;
  std::set<std::string> kernels;
};

/// Launches that only one of two passes had.
struct Mismatch {
  int pass = 0;                               ///< the later of the two
  bool counts = true;                         ///< it counted; else it took times
  std::uint64_t missing = 0, additional = 0;  ///< in it
  std::set<std::string> kernels;
};

/// Why a launch that the model executes has no time.
inline constexpr const char* no_clock =
    "the model executes PTX on the CPU and has no clock; run on a GPU for times";

struct RecorderOptions {
  std::string database;
  std::shared_ptr<schema::Store> store;  ///< the database, open already; null: it is opened
  schema::Run run;
  std::string program;           ///< the launches' family
  bool has_more_passes = false;  ///< after the first
  bool traces = false;           ///< activities of the GPU are stored, one by one
  bool traces_calls = false;     ///< and calls of the API, or these alone
  bool keeps_origins = false;    ///< origins() has those of counted launches
  std::string timing_reason =
      "not timed: reading counters takes longer; --timing adds a run without them";
  /// Completes what a process could tell of its device. May be empty.
  std::function<void(schema::Device&)> complete;
  /// A device's state before and after, asked when the program has ended. May be empty.
  std::function<std::vector<schema::DeviceState>(const schema::Device&)> states;
};

class Recorder final : public Receiver {
 public:
  /// Opens the database, so that a bad one is noticed before the program starts. Throws
  /// Error{file}.
  explicit Recorder(RecorderOptions options);

  /// The program starts (again).
  void begin_pass(Pass pass);
  /// The program has ended, or was stopped. The results of a later pass are stored now.
  void end_pass(bool was_stopped = false);
  /// The pass will not take place: the launches lack its counters, for `reason`.
  void skip_pass(const Pass& pass, const std::string& reason);

  void meet(int peer, pid_t process, const std::string& program) override;
  bool take(int peer, inject::Message&& message) override;
  void forget(int peer) override;
  /// Has what has come written, unless a batch is being written or was begun milliseconds ago.
  void store() override;
  /// Ends the run, if there is one. Throws the database's failure.
  void finish(schema::RunOutcome outcome, const std::string& reason);
  /// end_pass() and finish() as one transaction: the end of a short run takes less time so.
  void finish_at_once(schema::RunOutcome outcome, const std::string& reason);

  std::optional<std::int64_t> run_id() const { return writer_.run_id(); }  ///< after finish()
  /// Where the counted launches came from; none of a launch that only a later pass had.
  const LaunchOrigins& origins() const { return writer_.origins(); }
  /// The names that the program gave by NVTX.
  const ResourceNames& resource_names() const { return resource_names_; }
  std::uint64_t launches() const { return launches_; }         ///< with at least one figure
  bool has_lines() const { return has_lines_; }                ///< a launch has lines of its source
  std::uint64_t traced() const { return next_activity_ - 1; }  ///< activities that were stored
  std::uint64_t not_run() const { return not_run_; }  ///< for those: nothing could execute them
  bool has_met_any() const { return has_met_any_; }   ///< a process that uses CUDA
  /// Processes that measure from cudaProfilerStart on, and never called it.
  std::uint64_t never_started() const { return never_started_; }
  std::uint64_t lost_records() const { return lost_records_; }
  std::vector<Activity> activities() const;
  const std::map<std::string, Refusal>& refusals() const { return refusals_; }
  /// Launches that the API refused in the first pass, by the reason, which names the kernel.
  const std::map<std::string, std::uint64_t>& refused() const { return refused_; }
  /// Calls of the API that returned an error in the first pass, in their order.
  const std::vector<inject::FailedCall>& failed_calls() const { return failed_calls_; }
  /// True if another message names the call, or the kernel of a launch, already.
  bool is_told(const inject::FailedCall& failed) const;
  /// True if the message of a finding has the text.
  bool is_in_finding(const std::string& text) const;
  const std::set<std::string>& left_out() const { return left_out_; }  ///< kernels, by the filter
  const std::set<std::string>& problems() const { return problems_; }
  /// Kernels that the model was executing when nothing more was heard of their processes.
  const std::set<std::string>& cut_off() const { return cut_off_; }
  /// Remarks for a person beside the figures.
  const std::set<std::string>& remarks() const { return remarks_; }
  /// Programs that were started and that nothing was told of; why.
  const std::map<std::string, std::string>& unobserved() const { return unobserved_; }
  /// Arrays that a shape was given for and kernels had; why it fits none of them.
  const std::map<std::string, std::string>& shaped() const { return shaped_; }
  const std::vector<Mismatch>& mismatches() const { return mismatches_; }
  /// The findings of --check, each once and by its place in the source.
  std::vector<inject::Finding> findings() const;
  /// How much was looked at, over all processes.
  struct Coverage : inject::Checked {
    std::uint64_t unended = 0;  ///< processes that did not end in order
  };
  Coverage checked() const;
  /// Launches whose kernel did not end well, by the reason.
  const std::map<std::string, Refusal>& failures() const { return failures_; }
  /// The database, at the end of a pass.
  bool has_failed() const { return writer_.failure().has_value(); }

 private:
  static constexpr const char* without_device = "unknown";  ///< in place of a UUID
  /// A text that a process numbered, and what it stands for: found out once, for a hundred thousand
  /// records a second name it.
  struct Name {
    std::string text;
    std::string variant;  ///< the variant of a kernel; empty: not asked for yet
  };
  /// Launches of a traced run that are one row.
  struct Alike {
    std::string device;  ///< UUID
    schema::Launch launch;
    std::vector<double> durations_ns;
  };
  /// The properties that activities of a process have in common, and what follows from them.
  struct Shape {
    inject::ActivityShape message;
    Activity* sum = nullptr;               ///< in activities_; nullptr: nothing came yet
    std::string device;                    ///< UUID of its device; empty: it has none
    std::optional<schema::Launch> launch;  ///< for a kernel, without figures
    Alike* alike = nullptr;                ///< in alike_, for a traced run
    std::uint32_t number = 0;              ///< in the stored trace; 0: not stored
  };
  struct Process {
    pid_t id = 0;
    std::vector<Shape> shapes;  ///< by number, from 1
    std::unordered_map<std::uint32_t, Name> names;
    std::size_t name_bytes = 0;
    std::map<std::uint32_t, std::string> devices;  ///< ordinal there → UUID
    std::uint32_t running = 0;                     ///< a kernel's Name; 0: none is known to run
    std::vector<schema::Line> lines;               ///< the lines of the launch that comes next
    std::vector<schema::Finding> found;            ///< for the explanation that comes next
    std::map<std::uint32_t, schema::Explanation> explanations;
  };
  bool take_name(Process& process, inject::Name&& name);
  bool take_lines(Process& process, const inject::Lines& message) const;
  static bool take_found(Process& process, inject::Message& message);
  bool take_launch(int peer, Process& process, const inject::Launch& launch);
  /// nullopt when one has an unknown reason.
  std::optional<std::vector<schema::Counter>> counters_of(const Process& process,
                                                          const inject::Launch& launch) const;
  /// nullopt when one has an unknown name or no bounds.
  std::optional<std::vector<schema::Interval>> intervals_of(const Process& process,
                                                            const inject::Launch& launch) const;
  bool take_activity(int peer, Process& process, const inject::Activity& activity);
  /// A launch without figures; nullopt when its names are unknown.
  std::optional<schema::Launch> describe(Process& process, const inject::LaunchShape& shape) const;
  bool take_shape(Process& process, const inject::ActivityShape& message);
  Activity& sum_of(inject::ActivityKind kind, const std::string& name);
  bool is_traced(inject::ActivityKind kind) const;
  void trace(Process& process, Shape& shape, const inject::Activity& message);
  void describe_shape(const Process& process, Shape& shape);
  Alike& alike_of(const Shape& shape);
  void keep_alike();
  schema::Device stored_device(const std::string& uuid) const;
  void keep(const std::string& device, std::optional<std::size_t> place, schema::Launch&& launch,
            const LaunchOrigin& origin = {});
  const std::string& device_of(const Process& process, std::uint32_t ordinal) const;
  void note(const schema::Launch& launch);
  void note(inject::FailedCall&& failed);
  Batches take_waiting();  ///< the writer has not got it yet
  void store_all();        ///< and waits for it
  void store_states();
  void add_to_first_pass(LaterPass& later, bool was_stopped);
  void complete(std::vector<schema::Completion>& completions, std::size_t most_waiting);

  RecorderOptions options_;
  Pass pass_;
  std::map<int, Process> processes_;
  Writer writer_;
  std::map<std::string, Batch> waiting_;  ///< by the device's UUID; their places are of first_
  std::size_t launches_waiting_ = 0;
  /// When the last batch began: a short range has one, at its end.
  std::chrono::steady_clock::time_point stored_at_ = std::chrono::steady_clock::now();
  TraceBatch trace_waiting_;
  std::int64_t next_activity_ = 1;
  std::uint32_t next_shape_ = 1;
  std::optional<std::uint64_t> clock_ns_;  ///< when the run's clock began
  std::map<std::string, Alike> alike_;     ///< by what they have in common
  Identities identities_;
  Sightings first_;                         ///< launches of the first pass
  std::vector<std::string> counters_past_;  ///< for earlier passes
  std::optional<LaterPass> later_;          ///< the pass that runs, when it is not the first
  std::vector<Mismatch> mismatches_;
  std::map<std::string, std::string> shaped_, unobserved_;
  /// By kind, place, message, whether it is a remark, and the other place: how often.
  std::map<std::tuple<std::string, std::string, std::string, bool, std::string>, std::uint64_t>
      findings_;
  ResourceNames resource_names_;
  inject::Checked checked_;
  bool has_met_any_ = false, has_lines_ = false;
  std::set<int> living_;  ///< peers that have not said Bye
  std::map<std::string, Refusal> failures_;
  std::map<std::string, schema::Device> devices_;  ///< by UUID
  std::map<std::pair<inject::ActivityKind, std::string>, Activity> activities_;
  std::map<std::string, Refusal> refusals_;
  std::map<std::string, std::uint64_t> refused_;
  std::vector<inject::FailedCall> failed_calls_;
  std::set<std::string> left_out_, problems_, remarks_, cut_off_;
  std::uint64_t launches_ = 0, not_run_ = 0, lost_records_ = 0, never_started_ = 0;
};

}  // namespace warpmeter::profile
