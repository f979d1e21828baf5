// SPDX-License-Identifier: MIT
// One invocation of `warpmeter run`: every chosen variant, at every size, on one or several
// backends.
//
// session.cpp reads from top to bottom as the program does: begin the run, load a problem, execute
// and verify its variants, time them, count them, store each finished launch, end the run.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collector/run/backend.h"
#include "collector/run/selection.h"
#include "collector/run/statistics.h"
#include "schema/records.h"
#include "schema/store.h"

namespace warpmeter::run {

struct Options {
  /// Catalogue metrics, counters, @sets or PerfWorks names; empty: no counters are taken.
  std::vector<std::string> metrics = {"@default"};
  bool timing = true;
  bool interleave = false;  ///< the variants of a family and size are timed in turns
  int repeat = 1;           ///< each launch is counted and stored this many times
  schema::CacheState cache = schema::CacheState::cold;
  StoppingRule stopping;
  /// For each backend the one that counts in its place (the model, where a GPU does not let its
  /// counters be read), or null: itself. Empty: every backend counts for itself.
  std::vector<Backend*> counting;

  /// A run that another process began and left unfinished; 0: a new one.
  std::int64_t continued_run = 0;
  bool is_part = false;     ///< that process lives, and ends the run; others measure other parts
  bool is_resumed = false;  ///< long after, maybe on another device: its state is read again
  /// The stored launches of the run: device_id, family, variant, size (0: the family has none).
  /// Device 0 is any: a run of one device may go on on another one.
  std::set<std::tuple<std::int64_t, std::string, std::string, std::int64_t>> finished;
  std::size_t stored_before = 0, failed_before = 0;
};

/// Where the session is; for a progress bar.
struct Progress {
  std::size_t done = 0, total = 0;  ///< launches of all backends
  std::string_view family, variant;
  std::int64_t size = 0;
  std::string_view phase;  ///< "run", "time", "count"
};

struct Hooks {
  std::function<void(const Progress&)> progress;
  /// After a variant ran and was verified; `execution.buffers` are what it left.
  std::function<void(const kernels::Family&, const kernels::Variant&, std::int64_t size,
                     const kernels::Problem&, const Execution& execution)>
      executed;
  /// A launch whose result was compared and is right; "" where it is equal, else the largest error
  /// and its place.
  std::function<void(const schema::Launch&, const std::string& largest_error)> verified;
  /// A launch whose result is right, and what that leaves open: "changes 'in', which …".
  std::function<void(const schema::Launch&, const std::string& clause)> doubted;
  /// A launch that failed or gave a wrong answer, with the reason.
  std::function<void(const schema::Launch&)> failed;
  /// The device can do no more for this process, and launches may be left: all that is finished is
  /// in the database. Who goes on in a fresh process does not return, for a kernel that hangs would
  /// hold up the end of this one; otherwise the session ends with Summary::unfinished.
  std::function<void(std::int64_t run_id, const std::string& reason)> lost;
  /// Asked between launches; true ends the session in order.
  std::function<bool()> cancelled;
};

struct Summary {
  std::int64_t run_id = 0;
  std::size_t launches = 0;  ///< the stored launches, failed ones included
  std::size_t failed = 0;
  bool cancelled = false;
  /// Why this process cannot go on (a kernel broke the device's context) though launches are left:
  /// a fresh one continues the run, which stays open.
  std::string unfinished;
  std::vector<std::string> remarks;  ///< for the person: what right answers leave open
};

/// Says how the run ended: `wrong` when not all was measured, with the reason.
void end_run(schema::Store& store, const Summary& summary, const std::string& wrong = "");

/// Measures the selections on each backend into one run. An Error ends the run as failed, with what
/// was finished kept, and goes on to the caller.
Summary measure(const schema::Run& run, std::span<const Selection> selections,
                const Options& options, std::span<Backend* const> backends, schema::Store& store,
                const Hooks& hooks);

}  // namespace warpmeter::run
