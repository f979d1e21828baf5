// SPDX-License-Identifier: MIT
// The program, from top to bottom: measure() begins a run and goes through backends, families and
// sizes; measure_size() loads one problem; measure_variants() takes a few variants of it through
// the phases execute → verify → time → count → store. A launch is stored once, complete; whatever
// was stored stays, however the run ends.
#include "collector/run/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/with_noun.h"
#include "collector/run/launch_record.h"
#include "collector/run/nvtx.h"
#include "collector/run/pending.h"
#include "collector/run/proof.h"
#include "collector/run/reference.h"
#include "collector/run/timing.h"
#include "collector/run/verify.h"
#include "schema/catalogue.h"

namespace warpmeter::run {
namespace {

using kernels::Family;
using kernels::Variant;

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
    summary_.launches = options.stored_before;
    summary_.failed = options.failed_before;
  }

  /// `counting`: counts in place of the backend; null: the backend itself.
  void measure_on(Backend& backend, Backend* counting) {
    counting_ = counting;
    device_id_ = store_.add_device(summary_.run_id, backend.device());
    if (options_.continued_run == 0 || options_.is_resumed) {
      store_.add_state(summary_.run_id, device_id_, backend.state("before"));
    }
    for (const Selection& selection : selections_) {
      for (const std::int64_t size : selection.sizes) {
        if (!stop()) measure_size(backend, selection, size);
      }
    }
    if (summary_.unfinished.empty()) {
      store_.add_state(summary_.run_id, device_id_, backend.state("after"));
    }
  }

  const Summary& summary() const { return summary_; }

 private:
  /// A problem on a device; the problem is older than what refers to it.
  struct Loaded {
    kernels::Problem problem;
    std::unique_ptr<Workload> workload;
    Loaded(Backend& backend, kernels::Problem made)
        : problem(std::move(made)), workload(backend.load(problem)) {}
  };

  void measure_size(Backend& backend, const Selection& selection, std::int64_t size) {
    const Family& family = *selection.family;
    report(family, *selection.variants.front(), size, "prepare");
    references_.clear();
    std::vector<const Variant*> shared, own;
    for (const Variant* variant : selection.variants) {
      (variant->prepare ? own : shared).push_back(variant);
    }
    references_first(family, shared);
    references_first(family, own);
    const bool is_own_first = !own.empty() && is_reference(family, own.front()->name);
    if (is_own_first) measure_own(backend, family, own, size);
    if (!shared.empty() && !stop()) {
      for (const Variant* variant : shared) need_reference(backend, family, *variant, shared, size);
      Loaded loaded(backend, family.prepare(size));
      const std::span<const Variant* const> variants = shared;
      for (std::size_t first = 0; first < variants.size(); first += backend.variants_together()) {
        const std::size_t count = std::min(backend.variants_together(), variants.size() - first);
        if (!stop())
          measure_variants(backend, loaded, family, variants.subspan(first, count), size);
      }
    }
    if (!is_own_first) measure_own(backend, family, own, size);
  }

  /// Variants with a problem of their own each.
  void measure_own(Backend& backend, const Family& family, std::span<const Variant* const> variants,
                   std::int64_t size) {
    for (const Variant*& variant : std::vector<const Variant*>(variants.begin(), variants.end())) {
      if (stop()) return;
      need_reference(backend, family, *variant, std::span(&variant, 1), size);
      Loaded loaded(backend, variant->prepare(size));
      measure_variants(backend, loaded, family, std::span(&variant, 1), size);
    }
  }

  /// Runs the variant that this one is compared with, where it has not been and is not about to be
  /// run with it.
  void need_reference(Backend& backend, const Family& family, const Variant& variant,
                      std::span<const Variant* const> about_to_run, std::int64_t size) {
    const std::string& name = variant.reference;
    const bool is_needed =
        !name.empty() && !references_.contains(name) && !is_finished(family, variant, size);
    if (!is_needed || stop()) return;
    const Variant& reference = *family.find(name);
    const bool comes = std::any_of(about_to_run.begin(), about_to_run.end(),
                                   [&](const Variant* other) { return other == &reference; });
    if (comes && !is_finished(family, reference, size)) return;
    const Launch launch{reference.image, reference.entry, reference.geometry(size),
                        reference.library};
    if (!backend.launch_unavailable(launch).empty()) return;  // the others stay unverified
    report(family, reference, size, "reference");
    Loaded loaded(backend, reference.prepare ? reference.prepare(size) : family.prepare(size));
    Execution execution;
    execution.failure = reference.failure;
    if (execution.failure.empty()) execution = loaded.workload->execute(launch);
    references_[name] = reference_of(family, loaded.problem, execution);
  }

  void measure_variants(Backend& backend, Loaded& loaded, const Family& family,
                        std::span<const Variant* const> variants, std::int64_t size) {
    std::vector<Pending> good;
    for (const Variant* variant : variants) {
      if (is_finished(family, *variant, size)) {
        ++done_;
        continue;
      }
      report(family, *variant, size, "run");
      Pending pending{
          variant, {variant->image, variant->entry, variant->geometry(size), variant->library}, {}};
      pending.record = describe(family, *variant, size, pending.launch.geometry);
      if (const std::string why = backend.launch_unavailable(pending.launch); !why.empty()) {
        store_unavailable(pending.record, why);
        continue;
      }
      if (!execute(*loaded.workload, loaded.problem, family, size, pending)) return;  // cancelled
      if (pending.record.reason.empty()) {
        good.push_back(std::move(pending));
      } else {
        store_failure(pending.record);
        note_loss(backend);
      }
    }
    if (!time_all(backend, *loaded.workload, family, size, good)) return;  // cancelled
    if (good.empty()) return;
    report(family, *good.front().variant, size, "count");
    if (counting_ == nullptr) return count_and_store(backend, *loaded.workload, good);
    const std::unique_ptr<Workload> counting = counting_->load(loaded.problem);
    std::erase_if(good, [&](Pending& pending) { return !executes(*counting, pending); });
    if (!good.empty() && !stop()) count_and_store(*counting_, *counting, good);
  }

  /// True if the counting backend runs the launch; one that does not is stored with the reason in
  /// the place of its counters.
  bool executes(Workload& counting, const Pending& pending) {
    std::string failure = counting_->launch_unavailable(pending.launch);
    if (failure.empty()) failure = counting.execute(pending.launch).failure;
    if (failure.empty() || stop()) return true;
    schema::Launch record = pending.record;
    record.counters = unavailable(
        counters_, fmt::format("{} cannot count it: {}", counting_->device().name, failure));
    store(std::move(record));
    flush();
    ++done_;
    return false;
  }

  /// Runs and verifies one launch. False when the session was cancelled meanwhile: what a backend
  /// says then is no verdict on the kernel.
  bool execute(Workload& workload, const kernels::Problem& problem, const Family& family,
               std::int64_t size, Pending& pending) {
    const NvtxRange range(range_name(pending.record, "run"));
    Execution execution;
    execution.failure = pending.variant->failure;
    if (execution.failure.empty()) execution = workload.execute(pending.launch);
    if (stop()) return false;
    schema::Launch& record = pending.record;
    record.registers = execution.registers;
    record.static_shared_bytes = execution.static_shared_bytes;
    record.local_bytes = execution.local_bytes;
    record.resources_reason = execution.resources_reason;
    record.code = execution.code;
    record.reason = execution.failure;
    if (is_reference(family, pending.variant->name)) {
      references_[pending.variant->name] = reference_of(family, problem, execution);
    }
    if (record.reason.empty()) verify_result(problem, family, size, pending, execution);
    if (execution.failure.empty() && hooks_.executed) {
      hooks_.executed(family, *pending.variant, size, problem, execution);
    }
    return true;
  }

  /// Compares with what is expected, where anything is: the reference itself and a family without
  /// one stay unverified.
  void verify_result(const kernels::Problem& problem, const Family& family, std::int64_t size,
                     Pending& pending, const Execution& execution) {
    schema::Launch& record = pending.record;
    std::vector<kernels::Expected> expected;
    const Reference* compared_with = nullptr;
    if (pending.variant->expected) {
      expected = pending.variant->expected(size, problem);
    } else if (const auto found = references_.find(pending.variant->reference);
               found != references_.end() && found->first != pending.variant->name) {
      const Reference& reference = found->second;
      compared_with = &reference;
      if (!reference.failure.empty()) {
        record.reason =
            fmt::format("its result has nothing to be compared with: the reference {} {}",
                        found->first, reference.failure);
        return;
      }
      expected = expected_of(reference, family, problem);
      if (expected.size() < reference.outputs.size()) {
        record.reason = fmt::format(
            "it lacks a buffer that its reference {} leaves a result in, so "
            "it cannot be compared; give it 'reference: none'",
            found->first);
        return;
      }
    }
    if (expected.empty()) return;
    const Verdict verdict = verify(problem, expected, execution.buffers);
    record.reason = verdict.difference;
    record.verified = verdict.is_right();
    if (!record.verified) return;
    if (hooks_.verified) hooks_.verified(record, verdict.largest_error);
    if (compared_with == nullptr && !family.is_of_file) return;
    const Proof proof =
        proof_of(problem, expected, execution.buffers, pending.variant->reference,
                 compared_with != nullptr ? compared_with->changed : std::set<std::string>());
    record.verified = !proof.is_empty;
    for (const std::string& clause : proof.remarks) {
      if (hooks_.doubted) hooks_.doubted(record, clause);
    }
  }

  /// True if an earlier process of the same run has stored the launch.
  bool is_finished(const Family& family, const Variant& variant, std::int64_t size) const {
    return options_.finished.contains({device_id_, family.name, variant.name, size}) ||
           options_.finished.contains({0, family.name, variant.name, size});
  }

  /// A kernel that broke the device's context leaves the rest to a fresh process.
  void note_loss(const Backend& backend) {
    summary_.unfinished = backend.lost();
    if (!summary_.unfinished.empty() && hooks_.lost) {
      hooks_.lost(summary_.run_id, summary_.unfinished);
    }
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
      const bool is_timed = time_in_turns(workload, all.subspan(first, together), options_.stopping,
                                          options_.cache, [&] { return stop(); });
      if (!is_timed) return false;
    }
    return true;
  }

  /// Counters of all launches in one measurement, each launch `repeat` times, then every launch
  /// stored.
  void count_and_store(Backend& backend, Workload& workload, std::vector<Pending>& good) {
    std::vector<Launch> launches;
    for (const Pending& pending : good) {
      launches.insert(launches.end(), static_cast<std::size_t>(options_.repeat), pending.launch);
    }
    std::vector<std::vector<schema::Counter>> counted(launches.size());
    const std::string why = backend.counters_unavailable();
    if (!counters_.empty() && why.empty()) {
      const NvtxRange range(range_name(good.front().record, "count"));
      counted = workload.count(launches);
      if (stop()) return;
    } else {
      for (auto& counters : counted) counters = unavailable(counters_, why);
    }
    std::size_t next = 0;
    for (Pending& pending : good) {
      pending.record.lines = workload.lines(pending.launch);
      pending.record.instructions = workload.instructions(pending.launch);
      pending.record.power = workload.power(pending.launch);
      pending.record.explanation = workload.explain(pending.launch);
      for (int i = 0; i < options_.repeat; ++i) {
        schema::Launch record = i == 0 ? pending.record : repetition(pending.record);
        record.counters = std::move(counted[next++]);
        record.intervals = workload.intervals(pending.launch);
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

  void store_unavailable(schema::Launch record, const std::string& why) {
    record.reason = why;
    record.timing_reason = why;
    record.counters = unavailable(counters_, why);
    for (int i = 0; i < options_.repeat; ++i) store(record);
    flush();
    ++done_;
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
    return summary_.cancelled || !summary_.unfinished.empty();
  }

  void report(const Family& family, const Variant& variant, std::int64_t size,
              std::string_view phase) const {
    if (hooks_.progress) hooks_.progress({done_, total_, family.name, variant.name, size, phase});
  }

  std::span<const Selection> selections_;
  const Options& options_;
  schema::Store& store_;
  const Hooks& hooks_;
  std::vector<std::string> counters_;
  std::vector<schema::Launch> finished_;  ///< not yet in the database
  std::int64_t device_id_ = 0;
  Backend* counting_ = nullptr;
  std::size_t done_ = 0, total_ = 0;
  std::map<std::string, Reference>
      references_;  ///< the references of the family and size that are being measured
  Summary summary_;
};

}  // namespace

void end_run(schema::Store& store, const Summary& summary, const std::string& wrong) {
  if (!summary.unfinished.empty() && !summary.cancelled) return;  // goes on in a fresh process
  if (summary.cancelled) {
    store.end_run(summary.run_id, schema::RunOutcome::interrupted,
                  "stopped by its user or a signal before it was done");
  } else if (!wrong.empty()) {
    store.end_run(summary.run_id, schema::RunOutcome::failed, wrong);
  } else if (summary.failed > 0) {
    store.end_run(summary.run_id, schema::RunOutcome::failed,
                  fmt::format("{} of {} failed", summary.failed,
                              with_noun(summary.launches, "launch", "launches")));
  } else {
    store.end_run(summary.run_id, schema::RunOutcome::done, "");
  }
}

Summary measure(const schema::Run& run, std::span<const Selection> selections,
                const Options& options, std::span<Backend* const> backends, schema::Store& store,
                const Hooks& hooks) {
  // A name that does not exist is found before a run is recorded.
  std::vector<std::string> counters = schema::Catalogue::get().counters_for(options.metrics);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    Backend* counting = options.counting.empty() ? nullptr : options.counting[i];
    (counting != nullptr ? counting : backends[i])->select(counters);
    if (counting != nullptr) backends[i]->select({});
  }

  schema::Run planned = run;
  planned.planned_launches = static_cast<std::int64_t>(count_of(selections, backends.size())) *
                             std::int64_t{options.repeat};
  const std::int64_t run_id =
      options.continued_run != 0 ? options.continued_run : store.begin_run(planned);
  if (options.is_resumed) store.add_environment(run_id, planned);
  try {
    Session session(selections, options, store, hooks, std::move(counters), run_id,
                    backends.size());
    for (std::size_t i = 0; i < backends.size(); ++i) {
      session.measure_on(*backends[i], options.counting.empty() ? nullptr : options.counting[i]);
    }
    if (!options.is_part) end_run(store, session.summary());
    return session.summary();
  } catch (const std::exception& error) {
    if (options.is_part) throw;
    try {
      store.end_run(run_id, schema::RunOutcome::failed, error.what());
    } catch (const Error&) {
      // The database may be what failed; the first error is the one to tell.
    }
    throw;
  }
}

}  // namespace warpmeter::run
