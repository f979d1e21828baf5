// SPDX-License-Identifier: MIT
// GpuBackend owns what belongs to the device, GpuWorkload what belongs to a problem on it. Both
// outlive a broken context: a kernel that reads outside its memory is that launch's failure, and
// the next launch finds a new context with everything loaded again.
#include "collector/cupti/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "collector/cupti/context.h"
#include "collector/cupti/cublas.h"
#include "collector/cupti/device.h"
#include "collector/cupti/energy.h"
#include "collector/cupti/module.h"
#include "collector/cupti/planner.h"
#include "collector/cupti/profiler.h"
#include "collector/cupti/resident.h"
#include "collector/cupti/stream_load.h"
#include "collector/cupti/timing.h"

namespace warpmeter::cupti {
namespace {

/// Left to the driver, its modules and the profiler's buffers.
constexpr std::uint64_t reserved_bytes = std::uint64_t{512} << 20;

/// Thrown through CUPTI's callbacks of ours when a person has had enough.
struct Cancelled {};

class GpuBackend final : public run::Backend {
 public:
  explicit GpuBackend(const Options& options)
      : cancelled_(options.cancelled),
        timeout_s_(options.timeout_s),
        device_(describe_device(options.ordinal)),
        context_(options.ordinal),
        modules_(context_, device_.compute_capability) {}

  /// Another backend's context may be current by now, and what goes here belongs to this one.
  ~GpuBackend() override { context_.api().cuCtxSetCurrent(context_.handle()); }

  const schema::Device& device() const override { return device_; }
  schema::DeviceState state(std::string phase) override {
    schema::DeviceState read = read_state(device_.uuid, std::move(phase), true);
    if (support_ && !support_->unavailable.empty()) {
      read.disturbances.push_back({"counters",
                                   are_counters_held(support_->unavailable),
                                   "the GPU's counters could not be read: " + support_->unavailable,
                                   0,
                                   "",
                                   {},
                                   {},
                                   ""});
    }
    return read;
  }

  void select(std::span<const std::string> counters) override {
    asked_for_.assign(counters.begin(), counters.end());
    counters_.clear();
    std::copy_if(counters.begin(), counters.end(), std::back_inserter(counters_),
                 [](const std::string& name) { return !is_energy_counter(name); });
    is_selected_ = true;
    profiler_.reset();
    plan_.reset();
    if (counters_.empty() || device_.chip.empty()) return;
    context_.make_current();
    plan_ = std::make_unique<Plan>(cupti_library().api, device_.chip, support().availability,
                                   counters_);
  }

  std::string counters_unavailable() const override {
    if (is_selected_ && counters_.empty()) return "";  // nothing was asked for
    return support().unavailable.empty() ? lost_context() : support().unavailable;
  }
  std::string timing_unavailable() const override { return lost_context(); }
  std::string lost() const override { return lost_context(); }
  std::string launch_unavailable(const run::Launch& launch) const override {
    if (launch.library.empty() || cublas_library().ok()) return "";
    return cublas_library().sentence();
  }

  std::uint64_t problem_capacity() const override {
    context_.make_current();
    if (!context_.broken_by().empty()) return std::numeric_limits<std::uint64_t>::max();
    std::size_t free = 0, total = 0;
    check(context_.api(), context_.api().cuMemGetInfo_v2(&free, &total), "asking for free memory");
    const std::uint64_t taken = reserved_bytes + flush_bytes();
    return free > taken ? (free - taken) / 2 : 0;  // every buffer may need a pristine copy
  }

  /// A variant is timed and counted before the next one runs, which might break the context. The
  /// profiler stays enabled, so counting costs some 2 ms a variant.
  std::size_t variants_together() const override { return 1; }

  std::unique_ptr<run::Workload> load(const kernels::Problem& problem) override;

  Context& context() { return context_; }
  Modules& modules() { return modules_; }
  const Plan* plan() const { return plan_.get(); }
  /// Those of the hardware's counters, without energy.
  std::span<const std::string> counters() const { return counters_; }
  std::span<const std::string> asked_for() const { return asked_for_; }
  bool measures_energy() const { return counters_.size() < asked_for_.size(); }
  bool is_cancelled() const { return cancelled_ && cancelled_(); }
  double timeout_s() const { return timeout_s_; }
  /// The library starts when it is first needed.
  const Cublas& cublas() {
    if (!cublas_) cublas_.emplace(cublas_library().api, context_);
    return *cublas_;
  }

  /// Counters of launches; a Profiler that failed is not used again.
  std::vector<std::vector<schema::Counter>> measure(
      std::size_t launches, const std::function<void(std::size_t)>& launch) {
    if (!profiler_) profiler_.emplace(cupti_library().api, context_, *plan_);
    try {
      return profiler_->measure(launches, launch);
    } catch (...) {
      profiler_.reset();
      throw;
    }
  }

  void end_counting() { profiler_.reset(); }

  /// Enqueues a write of twice the L2 cache, so that nothing of the problem is left in it. The
  /// cache has to write back its content meanwhile, which costs a kernel that streams 128 MB 2 %.
  void flush_cache() {
    if (!flush_.is_allocated()) flush_ = Memory(context_, flush_bytes());
    check(
        context_.api(),
        context_.api().cuMemsetD32Async(flush_.address(), 0, flush_.bytes() / 4, context_.stream()),
        "flushing the cache");
  }

  /// Why nothing can be launched any more; empty while it can.
  std::string lost_context() const {
    if (context_.broken_by().empty()) return "";
    return fmt::format(
        "not launched: an earlier kernel of this run broke the CUDA context ({}), and only a new "
        "process gets another",
        context_.broken_by());
  }

 private:
  std::uint64_t flush_bytes() const {
    return 2 * static_cast<std::uint64_t>(device_.l2_bytes.value_or(64 << 20));
  }
  const CounterSupport& support() const {
    if (!support_) {
      context_.make_current();
      support_ = device_.chip.empty() ? CounterSupport{{}, "CUPTI does not know this device's chip"}
                                      : probe_counters(cupti_library().api, context_);
    }
    return *support_;
  }

  std::function<bool()> cancelled_;
  double timeout_s_;
  schema::Device device_;
  Context context_;
  Modules modules_;
  std::optional<Cublas> cublas_;
  Memory flush_;
  std::vector<std::string> asked_for_, counters_;
  bool is_selected_ = false;
  mutable std::optional<CounterSupport> support_;  ///< its first use looks it up
  std::unique_ptr<Plan> plan_;
  std::optional<Profiler> profiler_;
};

class GpuWorkload final : public run::Workload {
 public:
  GpuWorkload(GpuBackend& backend, const kernels::Problem& problem) : backend_(backend) {
    if (backend.lost_context().empty()) resident_.emplace(backend.context(), problem);
  }

  run::Execution execute(const run::Launch& launch) override {
    Context& context = backend_.context();
    context.make_current();
    run::Execution execution;
    execution.failure = backend_.lost_context();
    if (!execution.failure.empty()) return execution;
    if (!launch.library.empty()) return execute_call(launch);
    const Function* function = backend_.modules().find(launch, execution.failure);
    if (function == nullptr) return execution;
    execution.registers = function->registers;
    execution.static_shared_bytes = function->static_shared_bytes;
    execution.local_bytes = function->local_bytes;
    resident_->restore();
    CUresult result = enqueue(launch, *function);
    if (result == CUDA_SUCCESS && backend_.timeout_s() > 0) {
      const std::optional<CUresult> ended = context.synchronize_within(backend_.timeout_s());
      if (!ended) {
        execution.failure =
            fmt::format("the kernel did not end within {:g} s (--timeout)", backend_.timeout_s());
        context.note_hang(fmt::format("{} does not end", launch.entry));
        return execution;
      }
      result = *ended;
    } else if (result == CUDA_SUCCESS) {
      result = context.synchronize();
    }
    if (result != CUDA_SUCCESS) {
      const std::string words = in_words(context.api(), result);
      execution.failure = "the kernel failed: the driver says " + words;
      context.note_failure(fmt::format("{}: {}", launch.entry, words));
      return execution;
    }
    execution.buffers = resident_->read_back(launch);
    return execution;
  }

  std::vector<std::vector<schema::Counter>> count(std::span<const run::Launch> launches) override {
    std::vector<std::vector<schema::Counter>> energies;
    for (const run::Launch& launch : launches) {
      if (backend_.measures_energy()) energies.push_back(energy_of(launch));
    }
    std::vector<std::vector<schema::Counter>> counted = count_events(launches);
    for (std::size_t i = 0; i < energies.size(); ++i) {
      counted[i] = in_order(backend_.asked_for(), counted[i], energies[i]);
    }
    return counted;
  }

  std::vector<double> time(const run::Launch& launch, schema::CacheState cache, int warm_up,
                           int samples) override {
    backend_.context().make_current();
    find(launch);
    std::vector<double> durations_ns;
    const auto enqueue_all = [&] {
      for (int i = 0; i < warm_up + samples; ++i) start_from_input(launch, cache);
    };
    try {
      durations_ns =
          launch.library.empty()
              ? record_durations(cupti_library().api, backend_.context(), launch.entry, enqueue_all)
              : record_calls(cupti_library().api, backend_.context(),
                             static_cast<std::size_t>(warm_up + samples), enqueue_all);
    } catch (const Cancelled&) {
      return {};
    }
    if (durations_ns.size() != static_cast<std::size_t>(warm_up + samples)) {
      throw Error(ExitCode::no_hardware,
                  fmt::format("CUPTI recorded {} of {} launches of {}; end other profilers and "
                              "measure again",
                              durations_ns.size(), warm_up + samples, launch.entry));
    }
    durations_ns.erase(durations_ns.begin(), durations_ns.begin() + warm_up);
    return durations_ns;
  }

  std::vector<schema::Line> lines(const run::Launch&) override { return {}; }

  schema::Explanation explain(const run::Launch&) override {
    schema::Explanation none;
    none.missing.push_back({"", schema::without_addresses});
    return none;
  }

 private:
  std::vector<std::vector<schema::Counter>> count_events(std::span<const run::Launch> launches) {
    backend_.context().make_current();
    if (backend_.counters().empty()) {
      return std::vector<std::vector<schema::Counter>>(launches.size());
    }
    std::string reason = backend_.counters_unavailable();
    if (reason.empty()) reason = several_kernels(launches);
    if (reason.empty() && backend_.plan()->metrics().empty()) {
      reason = "the device has none of the counters";
    }
    if (reason.empty()) {
      try {
        for (const run::Launch& launch : launches)
          find(launch);  // the counters need loaded modules
        return backend_.measure(launches.size(), [&](std::size_t i) {
          start_from_input(launches[i], schema::CacheState::warm);
        });
      } catch (const Error& error) {
        reason = error.what();
        backend_.context().note_failure(reason);
      } catch (const Cancelled&) {
        reason = "stopped before it was counted";
      }
    }
    return std::vector<std::vector<schema::Counter>>(launches.size(), without_values(reason));
  }

  /// The energy of a launch that is repeated. One that another result comes of then is restored
  /// before each launch, and the energy of restoring is subtracted.
  std::vector<schema::Counter> energy_of(const run::Launch& launch) {
    const auto from_input = [&] { start_from_input(launch, schema::CacheState::warm); };
    const auto once_more = [&] { start(launch); };
    const auto restore = [&] {
      resident_->mark_launched(launch);
      resident_->restore();
    };
    backend_.context().make_current();
    backend_.end_counting();
    try {
      from_input();
      once_more();
      const auto twice = resident_->read_back(launch);
      from_input();
      const bool is_repeatable = resident_->read_back(launch) == twice;
      const auto cancelled = [&] { return backend_.is_cancelled(); };
      return is_repeatable ? measure_energy(backend_.context(), backend_.device().uuid, once_more,
                                            {}, cancelled)
                           : measure_energy(backend_.context(), backend_.device().uuid, from_input,
                                            restore, cancelled);
    } catch (const Cancelled&) {
      return {};
    } catch (const Error& error) {
      backend_.context().note_failure(error.what());
      SteadyPower none;
      none.failure = error.what();
      return energy_counters(none, nullptr, {});
    }
  }

  /// Runs a library's function, and learns how many kernels a call of it is.
  run::Execution execute_call(const run::Launch& launch) {
    run::Execution execution;
    resident_->restore();
    try {
      kernels_of_call_[launch.entry] =
          count_kernels(cupti_library().api, backend_.context(), [&] { call(launch); });
      execution.buffers = resident_->read_back(launch);
    } catch (const Error& error) {
      execution.failure = error.what();
      backend_.context().note_failure(execution.failure);
    }
    return execution;
  }

  /// Why calls of a library cannot be counted: each range of the profiler is a kernel.
  std::string several_kernels(std::span<const run::Launch> launches) const {
    for (const run::Launch& launch : launches) {
      const auto found = kernels_of_call_.find(launch.entry);
      if (found == kernels_of_call_.end() || found->second == 1) continue;
      return fmt::format(
          "a call of {} was {} kernels here, and counters are those of one; count them with "
          "`warpmeter profile`",
          launch.library, found->second);
    }
    return "";
  }

  /// Null for a library's function, which is none of ours.
  const Function* find(const run::Launch& launch) {
    if (!launch.library.empty()) return nullptr;
    std::string failure;
    const Function* function = backend_.modules().find(launch, failure);
    if (function == nullptr) throw Error(ExitCode::kernel, launch.entry + ": " + failure);
    return function;
  }

  /// Enqueues the launch on the initial input, with the cache as asked for.
  void start_from_input(const run::Launch& launch, schema::CacheState cache) {
    if (backend_.is_cancelled()) throw Cancelled{};
    resident_->restore();
    if (cache == schema::CacheState::cold) backend_.flush_cache();
    start(launch);
  }

  /// Enqueues the launch on what is there.
  void start(const run::Launch& launch) {
    if (!launch.library.empty()) return call(launch);
    check(backend_.context().api(), enqueue(launch, *find(launch)), "launching a kernel");
  }

  void call(const run::Launch& launch) {
    const std::string failure = backend_.cublas().multiply(resident_->arguments());
    if (!failure.empty()) throw Error(ExitCode::kernel, launch.entry + " failed: " + failure);
    resident_->mark_launched(launch);
  }

  /// The module's variables hold what was asked for before every launch, which may change them.
  void set_variables(const run::Launch& launch) {
    const DriverApi& api = backend_.context().api();
    for (const kernels::Setting& setting : resident_->settings()) {
      const CUdeviceptr to = backend_.modules().variable(*launch.image, setting.symbol);
      const void* from = setting.buffer
                             ? static_cast<const void*>(&resident_->address(*setting.buffer))
                             : setting.bytes.data();
      const std::size_t bytes = setting.buffer ? sizeof(CUdeviceptr) : setting.bytes.size();
      check(api, api.cuMemcpyHtoDAsync_v2(to, from, bytes, backend_.context().stream()),
            "setting a variable");
    }
  }

  CUresult enqueue(const run::Launch& launch, const Function& function) {
    set_variables(launch);
    const auto& [grid, block, dynamic, cluster, is_cooperative] = launch.geometry;
    CUlaunchAttribute attributes[2] = {};
    CUlaunchConfig config = {grid.x,     grid.y,  grid.z,  block.x,
                             block.y,    block.z, dynamic, backend_.context().stream(),
                             attributes, 0};
    if (cluster.count() > 1) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim = {cluster.x, cluster.y, cluster.z};
    }
    if (is_cooperative) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
    const CUresult result = backend_.context().api().cuLaunchKernelEx(
        &config, function.handle, resident_->arguments(), nullptr);
    resident_->mark_launched(launch);
    return result;
  }

  std::vector<schema::Counter> without_values(const std::string& reason) const {
    if (backend_.plan() != nullptr) return backend_.plan()->unavailable(reason);
    std::vector<schema::Counter> counters;
    for (const std::string& name : backend_.counters()) {
      counters.push_back({name, std::nullopt, schema::Grade::unavailable, reason});
    }
    return counters;
  }

  GpuBackend& backend_;
  std::optional<Resident> resident_;                    ///< none when the context was broken before
  std::map<std::string, std::size_t> kernels_of_call_;  ///< by entry: of a library's function
};

std::unique_ptr<run::Workload> GpuBackend::load(const kernels::Problem& problem) {
  context_.make_current();
  return std::make_unique<GpuWorkload>(*this, problem);
}

}  // namespace

std::unique_ptr<run::Backend> open(const Options& options) {
  // The driver first: CUPTI crashes without one.
  if (!driver_library().ok()) throw Error(ExitCode::no_hardware, driver_library().sentence());
  if (!cupti_library().ok()) throw Error(ExitCode::no_hardware, cupti_library().sentence());
  return std::make_unique<GpuBackend>(options);
}

}  // namespace warpmeter::cupti
