// SPDX-License-Identifier: MIT
// The one interface of a backend. Hardware under CUPTI and the PTX model answer the same questions:
// run this launch, what did its counters say, how long does it take.
//
// A backend loads a problem once (a Workload) and every variant of the family is launched on it.
// Each launch starts from the problem's initial buffers, also between the passes of a counter
// measurement, so that in-place kernels see the same input every time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/family.h"
#include "schema/records.h"

namespace warpmeter::run {

/// An entry of an image with its geometry, or a function of a library (Variant::library).
struct Launch {
  const kernels::Image* image = nullptr;
  std::string entry;
  Geometry geometry;
  std::string library = {};
};

/// The results of one launch.
struct Execution {
  std::string failure;  ///< one sentence (illegal address at …); empty when the kernel ended well
  std::vector<std::vector<std::byte>>
      buffers;  ///< contents after, as in Problem::buffers; empty on failure
  std::optional<std::int64_t> registers, static_shared_bytes, local_bytes;
  std::string resources_reason;  ///< why one of these is not known
  schema::KernelCode code;
};

/// A problem resident on a device.
class Workload {
 public:
  virtual ~Workload() = default;

  /// Launches once from the initial input. A failing kernel is an outcome, not an Error.
  virtual Execution execute(const Launch& launch) = 0;

  /// Counters of each launch, in the order of Backend::select. Launches have been executed before.
  virtual std::vector<std::vector<schema::Counter>> count(std::span<const Launch> launches) = 0;

  /// The bounds of those of count() that are estimates, and of what follows from them; empty: none
  /// is an estimate.
  virtual std::vector<schema::Interval> intervals(const Launch&) { return {}; }

  /// `samples` durations of the launch in ns, each from the initial input, none of them a first
  /// launch. `warm_up`: how many uncounted launches go first.
  virtual std::vector<double> time(const Launch& launch, schema::CacheState cache, int warm_up,
                                   int samples) = 0;

  /// Accesses by source line of an executed launch; empty where the backend has none.
  virtual std::vector<schema::Line> lines(const Launch& launch) = 0;

  /// Counts of the machine instructions of an executed launch; empty where they are not known, or
  /// nobody asked for them.
  virtual std::vector<schema::InstructionCount> instructions(const Launch&) { return {}; }

  /// The card while the launch was last repeated to measure its energy; empty where it was not.
  virtual std::vector<schema::PowerSample> power(const Launch&) { return {}; }

  /// The explanation of an executed launch: its costs, and what would help.
  virtual schema::Explanation explain(const Launch& launch) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const schema::Device& device() const = 0;
  virtual schema::DeviceState state(std::string phase) = 0;

  /// Chooses what Workload::count returns: catalogue counter names or full PerfWorks names. A
  /// missing ability of the device is no error: its counters come back unavailable with the reason.
  /// Throws Error{usage} for a PerfWorks name that the chip does not know.
  virtual void select(std::span<const std::string> counters) = 0;

  /// Why no counter can be read at all (no permission, …); empty when they can.
  virtual std::string counters_unavailable() const = 0;
  /// Why a launch has no duration; empty when it has.
  virtual std::string timing_unavailable() const = 0;

  /// Why nothing can be launched any more in this process; empty while it can.
  virtual std::string lost() const { return ""; }

  /// Why the backend cannot run this launch, whatever its input: a library's machine code where
  /// there is no hardware, or no such library; empty when it can.
  virtual std::string launch_unavailable(const Launch&) const { return ""; }

  /// Bytes that a problem's buffers may take, what the backend adds to them included.
  virtual std::uint64_t problem_capacity() const = 0;

  /// How many variants Workload::count wants to see at once: starting a counter measurement costs
  /// hardware milliseconds, while the model has counted by the time it has executed.
  virtual std::size_t variants_together() const = 0;

  /// The workload keeps a reference to the problem, which has to outlive it. Throws Error{kernel}
  /// when the device has no room for the problem.
  virtual std::unique_ptr<Workload> load(const kernels::Problem& problem) = 0;
};

}  // namespace warpmeter::run
