// SPDX-License-Identifier: MIT
#include "collector/cupti/workload.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/with_noun.h"
#include "collector/cupti/energy.h"
#include "collector/cupti/resident.h"
#include "collector/cupti/stream_load.h"
#include "collector/cupti/timing.h"

namespace warpmeter::cupti {
namespace {

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
      if (!backend_.measures_energy()) continue;
      MeasuredEnergy energy = energy_of(launch);
      energies.push_back(std::move(energy.counters));
      power_[key_of(launch)] = std::move(energy.samples);
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
                  fmt::format("CUPTI recorded {} of {} of '{}'; end other profilers and "
                              "measure again",
                              durations_ns.size(),
                              with_noun(warm_up + samples, "launch", "launches"), launch.entry));
    }
    durations_ns.erase(durations_ns.begin(), durations_ns.begin() + warm_up);
    return durations_ns;
  }

  std::vector<schema::Line> lines(const run::Launch&) override { return {}; }

  std::vector<schema::PowerSample> power(const run::Launch& launch) override {
    const auto found = power_.find(key_of(launch));
    return found == power_.end() ? std::vector<schema::PowerSample>() : found->second;
  }

  schema::Explanation explain(const run::Launch&) override {
    schema::Explanation none;
    none.missing.push_back({"", schema::without_addresses});
    return none;
  }

 private:
  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                         std::uint32_t, std::uint32_t, std::uint32_t>;

  static Key key_of(const run::Launch& launch) {
    const auto& g = launch.geometry;
    return {launch.entry, g.grid.x,  g.grid.y,  g.grid.z,
            g.block.x,    g.block.y, g.block.z, g.dynamic_shared_bytes};
  }

  std::vector<std::vector<schema::Counter>> count_events(std::span<const run::Launch> launches) {
    backend_.context().make_current();
    if (backend_.counters().empty()) {
      return std::vector<std::vector<schema::Counter>>(launches.size());
    }
    std::string reason = backend_.events_unavailable();
    if (reason.empty()) reason = several_kernels(launches);
    if (reason.empty() && backend_.plan()->metrics().empty()) {
      reason = "the device has none of the counters";
    }
    if (reason.empty()) {
      try {
        std::vector<KernelCode> codes;
        for (const run::Launch& launch : launches) {
          find(launch);  // the counters need loaded modules
          codes.push_back(backend_.modules().code_of(launch));
        }
        return backend_.measure(
            codes, [&](std::size_t i) { start_from_input(launches[i], schema::CacheState::warm); });
      } catch (const Error& error) {
        reason = error.what();
        backend_.context().note_failure(reason);
      } catch (const Cancelled&) {
        reason = "stopped before it was counted";
      }
    }
    return std::vector<std::vector<schema::Counter>>(launches.size(), without_values(reason));
  }

  /// The energy of a launch that is repeated. Where a second run on its own output gives another
  /// result, the input is restored before each launch, and the energy of restoring is subtracted.
  MeasuredEnergy energy_of(const run::Launch& launch) {
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
      return {energy_counters(none, nullptr, {}), {}};
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
          "a call of {} was {} here, and counters are those of one; count them with "
          "`warpmeter profile`",
          launch.library, with_noun(found->second, "kernel"));
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
  std::optional<Resident> resident_;  ///< none when the context was broken before
  std::map<Key, std::vector<schema::PowerSample>> power_;
  std::map<std::string, std::size_t> kernels_of_call_;  ///< by entry: of a library's function
};

}  // namespace

std::unique_ptr<run::Workload> load_workload(GpuBackend& backend, const kernels::Problem& problem) {
  return std::make_unique<GpuWorkload>(backend, problem);
}

}  // namespace warpmeter::cupti
