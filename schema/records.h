// SPDX-License-Identifier: MIT
// The records of a measurement for the store: plain records, one a table row or so. Absent values
// are std::nullopt with a reason, never zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/geometry.h"
#include "schema/explanation.h"
#include "schema/grade.h"

namespace warpmeter::schema {

struct Device {
  std::string backend;  ///< "cupti" or "model"
  int ordinal = 0;
  std::string name;            ///< "NVIDIA H200", "model sm_90"
  std::string chip;            ///< "GH100"; empty for the model
  int compute_capability = 0;  ///< 90 is 9.0
  std::string uuid;
  std::string driver;  ///< driver version; empty for the model
  std::optional<std::int64_t> multiprocessors;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> l2_bytes;
};

/// A possible disturbance of a time on a device, or why that is not known.
struct Disturbance {
  std::string kind;  ///< "process", "throttled", "MIG", … (views/disturbances.sql has them all)
  bool is_felt = false;         ///< it may have moved a time; else it is only good to know
  std::string what;             ///< in words; empty when it is not known
  std::int64_t process_id = 0;  ///< 0: none, or a number that says nothing here
  std::string process_name;
  std::optional<double> memory_mib;  ///< the memory of the card, held by the process
  std::optional<double> busy;        ///< %: in how much of the last two seconds it computed
  std::string reason;                ///< why it is not known
};

/// The compiled text of one kernel.
struct CodeText {
  std::string file;    ///< the source that it is shown beneath
  std::string kernel;  ///< family/variant
  std::string form;    ///< "PTX", "machine code"
  std::string text;    ///< with comments "// FILE:LINE"
};

/// The device before or after the measuring, as NVML tells it.
struct DeviceState {
  std::string phase;  ///< "before" or "after"
  std::optional<double> sm_clock_mhz, memory_clock_mhz, temperature_c, power_w;
  std::string throttle_reasons;  ///< names joined with ", "; empty: none
  std::optional<bool> ecc, mig, persistence;
  std::string unavailable;  ///< why there is no state at all; empty when there is
  std::vector<Disturbance> disturbances;
};

struct Run {
  std::string backend;
  std::string tool_version, git_revision, cuda_version;
  std::string host, command, label;
  std::optional<std::int64_t> planned_launches = std::nullopt;  ///< that it is going to store
  /// Variables that say which devices it was given, and by what job.
  std::vector<std::pair<std::string, std::string>> environment = {};
};

enum class RunOutcome { done, failed, interrupted };

/// One counter of one launch, under its catalogue name or its full PerfWorks name.
struct Counter {
  std::string name;
  std::optional<double> value;
  Grade grade = Grade::unavailable;
  std::string reason;  ///< why there is no value, or why the grade is not the best
};

/// The bounds of an estimate: of a counter or a metric that follows from counters.
struct Interval {
  std::string metric;
  double low = 0, high = 0;
};

enum class CacheState { cold, warm };

struct Timing {
  std::vector<double> samples_ns;  ///< in the order they were taken, all of them
  CacheState cache = CacheState::cold;
  double relative_confidence = 0;  ///< half width of the median's 95 % interval over the median
  std::string stopped_by;          ///< "confidence", "samples" or "time"
};

struct Expectation {
  std::string metric;
  std::string relation;  ///< "==", "<=", ">="
  double value = 0;
  std::string reason;
};

/// Accesses of one kind on one source line.
struct Line {
  std::string file;
  int line = 0;
  std::string text;    ///< the source line, trimmed
  std::string access;  ///< "shared load", "shared store", "global load", "global store", …
  std::uint64_t requests = 0;
  std::uint64_t transactions = 0;  ///< wavefronts of shared, sectors of global accesses
  std::uint64_t ideal = 0;         ///< the fewest that the same bytes could cost
  Grade grade = Grade::exact;
  std::optional<std::uint64_t> bytes = {};  ///< distinct ones of each request; of global accesses
};

/// Samples of warps at one source line, by what they waited for; taken on a GPU.
struct Stall {
  std::string file;  ///< empty, with line 0: instructions without a line
  int line = 0;
  std::string text;    ///< the source line, trimmed
  std::string reason;  ///< "long_scoreboard", "barrier", …; "selected": it did not wait
  std::uint64_t samples = 0;
  std::uint64_t idle_samples = 0;  ///< the idle samples of them: when the scheduler issued nothing
};

/// A count of one machine instruction.
struct InstructionCount {
  std::uint64_t address = 0;  ///< in its function
  std::string what;           ///< "executed": by warps; or the reason of a wait, as in Stall
  std::uint64_t count = 0;    ///< executions or samples
};

/// A card at one move of its energy counter, while a launch is repeated.
struct PowerSample {
  double time_s = 0;   ///< since it was first looked at
  double power_w = 0;  ///< mean since the move before
  std::optional<double> sm_clock_mhz, temperature_c;
};

/// The machine code of a kernel. Unknown is nullopt.
struct KernelCode {
  std::optional<std::int64_t> bytes;
  /// The bytes that its loads and stores of spilled registers move, each of them once; with a
  /// value, the reason says why it is not certain.
  std::optional<std::int64_t> spill_load_bytes, spill_store_bytes;
  std::string spills_reason;
};

enum class LaunchOutcome { done, failed };

struct Launch {
  std::string family, variant;
  std::optional<std::int64_t> size;
  std::string kernel;      ///< the entry's name
  std::string nvtx_range;  ///< the nvtx range of a profiled program; empty: none
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::optional<std::int64_t> static_shared_bytes, registers, local_bytes;
  std::string resources_reason;  ///< why one of these is not known
  KernelCode code;
  std::optional<std::uint64_t> useful_bytes_read, useful_bytes_written, flops;
  bool verified = false;
  bool is_ceiling = false;  ///< the family's bandwidth ceiling
  LaunchOutcome outcome = LaunchOutcome::done;
  std::string reason;  ///< why it failed, or could not be run at all
  std::vector<Counter> counters;
  std::vector<Interval> intervals;  ///< the bounds of estimates, of counters and metrics
  std::optional<Timing> timing;
  std::string timing_reason;  ///< why there is no timing
  std::vector<Expectation> expectations;
  std::vector<Line> lines;
  std::vector<InstructionCount> instructions;
  std::vector<PowerSample> power;
  Explanation explanation;

  void set_geometry(const Geometry& geometry);
};

/// The additions of a later run of the same program to a launch that is stored already.
struct Completion {
  std::int64_t launch_id = 0;
  std::vector<Counter> counters;  ///< that it does not have yet
  std::optional<Timing> timing;
  std::vector<Line> lines = {};
  std::vector<Stall> stalls = {};
  std::vector<InstructionCount> instructions = {};
  std::optional<MeasuredFindings> measured = {};
};

}  // namespace warpmeter::schema
