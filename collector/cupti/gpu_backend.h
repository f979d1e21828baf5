// SPDX-License-Identifier: MIT
// GpuBackend owns what belongs to the device: its context, modules, counters and caches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/cupti/backend.h"
#include "collector/cupti/context.h"
#include "collector/cupti/cublas.h"
#include "collector/cupti/device.h"
#include "collector/cupti/module.h"
#include "collector/cupti/planner.h"
#include "collector/cupti/profiler.h"

namespace warpmeter::cupti {

/// Thrown through CUPTI's callbacks of ours when a person has had enough.
struct Cancelled {};

class GpuBackend final : public run::Backend {
 public:
  explicit GpuBackend(const Options& options);
  /// Another backend's context may be current by now, and what goes here belongs to this one.
  ~GpuBackend() override { context_.api().cuCtxSetCurrent(context_.handle()); }

  const schema::Device& device() const override { return device_; }
  schema::DeviceState state(std::string phase) override;
  void select(std::span<const std::string> counters) override;
  std::string counters_unavailable() const override;
  /// Why the hardware's counters cannot be read; energy needs none of them.
  std::string events_unavailable() const;
  std::string timing_unavailable() const override { return lost_context(); }
  std::string lost() const override { return lost_context(); }
  std::string launch_unavailable(const run::Launch& launch) const override;
  std::uint64_t problem_capacity() const override;
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
  const Cublas& cublas();

  /// Counters of launches, as Profiler::measure; one that failed is not used again.
  std::vector<std::vector<schema::Counter>> measure(std::span<const KernelCode> codes,
                                                    const std::function<void(std::size_t)>& launch);
  void end_counting() { profiler_.reset(); }

  /// Enqueues a write of twice the L2 cache, so that nothing of the problem is left in it. The
  /// cache has to write back its content meanwhile, which costs a kernel that streams 128 MB 2 %.
  void flush_cache();

  /// Why nothing can be launched any more; empty while it can.
  std::string lost_context() const;

 private:
  std::uint64_t flush_bytes() const;
  void make_plan();
  const CounterSupport& support() const;

  std::function<bool()> cancelled_;
  double timeout_s_;
  schema::Device device_;
  Context context_;
  Modules modules_;
  std::optional<Cublas> cublas_;
  Memory flush_;
  std::vector<std::string> asked_for_, counters_;
  bool is_selected_ = false;
  KernelCode code_ = no_special_code;  ///< the plan is made for all kernels that were counted
  mutable std::optional<CounterSupport> support_;  ///< its first use looks it up
  std::unique_ptr<Plan> plan_;
  std::optional<Profiler> profiler_;
};

}  // namespace warpmeter::cupti
