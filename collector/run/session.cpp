// The program, from top to bottom: measure() begins a run and goes through backends, families and
// sizes; measure_size() loads one problem; measure_variants() takes a few variants of it through
// the phases execute → verify → time → count → store. A launch is stored once, complete; whatever
// was stored stays, however the run ends.
#include "collector/run/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.h"
#include "collector/run/nvtx.h"
#include "collector/run/verify.h"
#include "schema/catalogue.h"

namespace warpmeter::run {
namespace {

using kernels::Family;
using kernels::Variant;

/// A variant on its way through the phases.
struct Pending {
  const Variant* variant = nullptr;
  Launch launch;
  schema::Launch record;
};

schema::Launch describe(const Family& family, const Variant& variant, std::int64_t size,
                        const Geometry& geometry) {
  schema::Launch record;
  record.family = family.name;
  record.variant = variant.name;
  if (family.has_sizes()) record.size = size;
  record.kernel = variant.entry;
  record.set_geometry(geometry);
  const kernels::Work work = (variant.work ? variant.work : family.work)(size);
  record.useful_bytes_read = work.bytes_read;
  record.useful_bytes_written = work.bytes_written;
  record.flops = work.flops;
  record.is_ceiling = variant.name == family.ceiling;
  for (const kernels::Expectation& expectation : variant.expectations) {
    const auto& sizes = expectation.sizes;
    if (!sizes.empty() && std::find(sizes.begin(), sizes.end(), size) == sizes.end()) continue;
    record.expectations.push_back({std::string(expectation.metric),
                                   std::string(symbol(expectation.relation)), expectation.value,
                                   std::string(expectation.reason)});
  }
  return record;
}

/// How many launches the selections ask for, without repetitions.
std::size_t count_of(std::span<const Selection> selections, std::size_t backends) {
  std::size_t count = 0;
  for (const Selection& selection : selections) {
    count += selection.variants.size() * selection.sizes.size() * backends;
  }
  return count;
}

class Session {
 public:
  Session(std::span<const Selection> selections, const Options& options, schema::Store& store,
          const Hooks& hooks, std::vector<std::string> counters, std::int64_t run_id,
          std::size_t backends)
      : selections_(selections),
        options_(options),
        store_(store),
        hooks_(hooks),
        counters_(std::move(counters)),
        total_(count_of(selections, backends)) {
    summary_.run_id = run_id;
  }

  void measure_on(Backend& backend) {
    device_id_ = store_.add_device(summary_.run_id, backend.device());
    store_.add_state(summary_.run_id, device_id_, backend.state("before"));
    for (const Selection& selection : selections_) {
      for (const std::int64_t size : selection.sizes) {
        if (!stop()) measure_size(backend, selection, size);
      }
    }
    store_.add_state(summary_.run_id, device_id_, backend.state("after"));
  }

  const Summary& summary() const { return summary_; }

 private:
  void measure_size(Backend& backend, const Selection& selection, std::int64_t size) {
    const Family& family = *selection.family;
    report(family, *selection.variants.front(), size, "prepare");
    const kernels::Problem problem = family.prepare(size);
    const std::unique_ptr<Workload> workload = backend.load(problem);
    const std::span<const Variant* const> variants = selection.variants;
    for (std::size_t first = 0; first < variants.size(); first += backend.variants_together()) {
      const std::size_t count = std::min(backend.variants_together(), variants.size() - first);
      if (!stop()) {
        measure_variants(backend, *workload, problem, family, variants.subspan(first, count), size);
      }
    }
  }

  void measure_variants(Backend& backend, Workload& workload, const kernels::Problem& problem,
                        const Family& family, std::span<const Variant* const> variants,
                        std::int64_t size) {
    std::vector<Pending> good;
    for (const Variant* variant : variants) {
      report(family, *variant, size, "run");
      Pending pending{
          variant, {family.image, std::string(variant->entry), variant->geometry(size)}, {}};
      pending.record = describe(family, *variant, size, pending.launch.geometry);
      if (!execute(workload, problem, family, size, pending)) return;  // cancelled
      if (pending.record.verified) {
        good.push_back(std::move(pending));
      } else {
        store_failure(pending.record);
      }
    }
    if (!time_all(backend, workload, family, size, good)) return;  // cancelled
    if (good.empty()) return;
    report(family, *good.front().variant, size, "count");
    count_and_store(backend, workload, good);
  }

  /// Runs and verifies one launch. False when the session was cancelled meanwhile: what a backend
  /// says then is no verdict on the kernel.
  bool execute(Workload& workload, const kernels::Problem& problem, const Family& family,
               std::int64_t size, Pending& pending) {
    const NvtxRange range(range_name(pending.record, "run"));
    Execution execution = workload.execute(pending.launch);
    if (stop()) return false;
    schema::Launch& record = pending.record;
    record.registers = execution.registers;
    record.static_shared_bytes = execution.static_shared_bytes;
    record.reason = execution.failure;
    if (record.reason.empty()) {
      record.reason = verify(problem, pending.variant->expected(size, problem), execution.buffers);
    }
    record.verified = record.reason.empty();
    if (execution.failure.empty() && hooks_.executed) {
      hooks_.executed(family, *pending.variant, size, problem, execution);
    }
    return true;
  }

  /// Times the launches: one after the other, or in turns.
  bool time_all(Backend& backend, Workload& workload, const Family& family, std::int64_t size,
                std::vector<Pending>& good) {
    if (!options_.timing || !backend.timing_unavailable().empty()) {
      for (Pending& pending : good) {
        pending.record.timing_reason =
            options_.timing ? backend.timing_unavailable() : "timing was not asked for";
      }
      return true;
    }
    const std::span<Pending> all = good;
    const std::size_t together = options_.interleave ? all.size() : 1;
    for (std::size_t first = 0; first < all.size(); first += together) {
      report(family, *all[first].variant, size, "time");
      if (!time(workload, all.subspan(first, together))) return false;
    }
    return true;
  }

  /// Samples the launches in turns (A B A B …) until the median of each is known well enough or
  /// their budget ends, so that what drifts meanwhile drifts for all of them. False when cancelled.
  bool time(Workload& workload, std::span<Pending> launches) {
    constexpr int turn = 10;  // samples: long enough to be warm, short beside the drift of clocks
    const StoppingRule& rule = options_.stopping;
    const auto budget = rule.time_budget * static_cast<double>(launches.size());
    const auto begin = std::chrono::steady_clock::now();
    for (Pending& pending : launches) {
      pending.record.timing.emplace();
      pending.record.timing->cache = options_.cache;
    }
    bool all_known = false;
    while (!all_known) {
      all_known = true;
      for (Pending& pending : launches) {
        const NvtxRange range(range_name(pending.record, "time"));
        schema::Timing& timing = *pending.record.timing;
        const int taken = static_cast<int>(timing.samples_ns.size());
        if (taken >= rule.max_samples) continue;
        const int wanted = launches.size() > 1 ? turn : std::max(rule.min_samples, taken / 2);
        const std::vector<double> samples =
            workload.time(pending.launch, options_.cache, taken == 0 ? rule.warm_up : 1,
                          std::min(wanted, rule.max_samples - taken));
        if (stop()) return false;
        timing.samples_ns.insert(timing.samples_ns.end(), samples.begin(), samples.end());
        timing.relative_confidence = median_interval(timing.samples_ns).relative_half_width();
        const bool is_over = std::chrono::steady_clock::now() - begin > budget;
        timing.stopped_by = why_stopped(timing, is_over);
        all_known = all_known && !timing.stopped_by.empty();
      }
    }
    return true;
  }

  /// Empty while more samples are wanted.
  std::string why_stopped(const schema::Timing& timing, bool is_over) const {
    const StoppingRule& rule = options_.stopping;
    const int taken = static_cast<int>(timing.samples_ns.size());
    if (taken >= rule.min_samples && timing.relative_confidence < rule.relative_confidence) {
      return "confidence";
    }
    if (taken >= rule.max_samples) return "samples";
    return is_over ? "time" : "";
  }

  /// Counters of all launches in one measurement, each launch `repeat` times, then every launch
  /// stored.
  void count_and_store(Backend& backend, Workload& workload, std::vector<Pending>& good) {
    std::vector<Launch> launches;
    for (const Pending& pending : good) {
      launches.insert(launches.end(), static_cast<std::size_t>(options_.repeat), pending.launch);
    }
    std::vector<std::vector<schema::Counter>> counted(launches.size());
    const std::string unavailable = backend.counters_unavailable();
    if (!counters_.empty() && unavailable.empty()) {
      const NvtxRange range(range_name(good.front().record, "count"));
      counted = workload.count(launches);
      if (stop()) return;
    } else {
      for (auto& counters : counted) {
        for (const std::string& name : counters_) {
          counters.push_back({name, std::nullopt, schema::Grade::unavailable, unavailable});
        }
      }
    }
    std::size_t next = 0;
    for (Pending& pending : good) {
      pending.record.lines = workload.lines(pending.launch);
      for (int i = 0; i < options_.repeat; ++i) {
        schema::Launch record = i == 0 ? pending.record : repetition(pending.record);
        record.counters = std::move(counted[next++]);
        store(std::move(record));
      }
      ++done_;
    }
    flush();
  }

  /// Launches that were counted together are stored some at a time: a transaction costs about as
  /// much as counting a launch.
  void store(schema::Launch record) {
    constexpr std::size_t together = 256;
    finished_.push_back(std::move(record));
    if (finished_.size() == together) flush();
  }

  void flush() {
    store_.add_launches(summary_.run_id, device_id_, finished_);
    summary_.launches += finished_.size();
    finished_.clear();
  }

  /// Samples and lines belong to the variant, not to a repetition of its counters.
  static schema::Launch repetition(const schema::Launch& first) {
    schema::Launch record = first;
    if (record.timing) record.timing_reason = "timed once, with the first repetition";
    record.timing.reset();
    record.lines.clear();
    return record;
  }

  void store_failure(schema::Launch& record) {
    record.outcome = schema::LaunchOutcome::failed;
    record.timing_reason = "the launch failed";
    store(record);
    flush();
    ++summary_.failed;
    ++done_;
    if (hooks_.failed) hooks_.failed(record);
  }

  bool stop() {
    if (hooks_.cancelled && hooks_.cancelled()) summary_.cancelled = true;
    return summary_.cancelled;
  }

  void report(const Family& family, const Variant& variant, std::int64_t size,
              std::string_view phase) const {
    if (hooks_.progress) hooks_.progress({done_, total_, family.name, variant.name, size, phase});
  }

  static std::string range_name(const schema::Launch& record, std::string_view phase) {
    const std::string size = record.size ? fmt::format(" {}", *record.size) : "";
    return fmt::format("{}/{}{}: {}", record.family, record.variant, size, phase);
  }

  std::span<const Selection> selections_;
  const Options& options_;
  schema::Store& store_;
  const Hooks& hooks_;
  std::vector<std::string> counters_;
  std::vector<schema::Launch> finished_;  ///< not yet in the database
  std::int64_t device_id_ = 0;
  std::size_t done_ = 0, total_ = 0;
  Summary summary_;
};

void end_run(schema::Store& store, const Summary& summary) {
  if (summary.cancelled) {
    store.end_run(summary.run_id, schema::RunOutcome::interrupted,
                  "stopped by its user or a signal before it was done");
  } else if (summary.failed > 0) {
    store.end_run(summary.run_id, schema::RunOutcome::failed,
                  fmt::format("{} of {} launches failed", summary.failed, summary.launches));
  } else {
    store.end_run(summary.run_id, schema::RunOutcome::done, "");
  }
}

}  // namespace

Summary measure(const schema::Run& run, std::span<const Selection> selections,
                const Options& options, std::span<Backend* const> backends, schema::Store& store,
                const Hooks& hooks) {
  // A name that does not exist is found before a run is recorded.
  std::vector<std::string> counters = schema::Catalogue::get().counters_for(options.metrics);
  for (Backend* backend : backends) backend->select(counters);

  schema::Run planned = run;
  planned.planned_launches = static_cast<std::int64_t>(count_of(selections, backends.size())) *
                             std::int64_t{options.repeat};
  const std::int64_t run_id = store.begin_run(planned);
  try {
    Session session(selections, options, store, hooks, std::move(counters), run_id,
                    backends.size());
    for (Backend* backend : backends) session.measure_on(*backend);
    end_run(store, session.summary());
    return session.summary();
  } catch (const std::exception& error) {
    try {
      store.end_run(run_id, schema::RunOutcome::failed, error.what());
    } catch (const Error&) {
      // The database may be what failed; the first error is the one to tell.
    }
    throw;
  }
}

}  // namespace warpmeter::run
