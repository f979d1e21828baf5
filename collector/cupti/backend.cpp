// SPDX-License-Identifier: MIT
// A kernel that reads outside its memory breaks the context. Later launches of this process then
// fail with that reason (lost_context).
#include "collector/cupti/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/error.h"
#include "collector/cupti/energy.h"
#include "collector/cupti/gpu_backend.h"
#include "collector/cupti/workload.h"

namespace warpmeter::cupti {
namespace {

/// Left to the driver, its modules and the profiler's buffers.
constexpr std::uint64_t reserved_bytes = std::uint64_t{512} << 20;

}  // namespace

GpuBackend::GpuBackend(const Options& options)
    : cancelled_(options.cancelled),
      timeout_s_(options.timeout_s),
      device_(describe_device(options.ordinal)),
      context_(options.ordinal),
      modules_(context_, device_.compute_capability) {}

schema::DeviceState GpuBackend::state(std::string phase) {
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

void GpuBackend::select(std::span<const std::string> counters) {
  asked_for_.assign(counters.begin(), counters.end());
  counters_.clear();
  std::copy_if(counters.begin(), counters.end(), std::back_inserter(counters_),
               [](const std::string& name) { return !is_energy_counter(name); });
  is_selected_ = true;
  profiler_.reset();
  plan_.reset();
  if (counters_.empty() || device_.chip.empty()) return;
  make_plan();
}

void GpuBackend::make_plan() {
  context_.make_current();
  profiler_.reset();  // before its plan
  plan_ = std::make_unique<Plan>(cupti_library().api, device_.chip, support().availability,
                                 counters_, &code_);
}

std::string GpuBackend::counters_unavailable() const {
  return measures_energy() ? lost_context() : events_unavailable();
}

std::string GpuBackend::events_unavailable() const {
  if (is_selected_ && counters_.empty()) return "";  // no hardware counter was asked for
  return support().unavailable.empty() ? lost_context() : support().unavailable;
}

std::string GpuBackend::launch_unavailable(const run::Launch& launch) const {
  if (launch.library.empty() || cublas_library().ok()) return "";
  return cublas_library().sentence();
}

std::uint64_t GpuBackend::problem_capacity() const {
  context_.make_current();
  if (!context_.broken_by().empty()) return std::numeric_limits<std::uint64_t>::max();
  std::size_t free = 0, total = 0;
  check(context_.api(), context_.api().cuMemGetInfo_v2(&free, &total), "asking for free memory");
  const std::uint64_t taken = reserved_bytes + flush_bytes();
  return free > taken ? (free - taken) / 2 : 0;  // every buffer may need a pristine copy
}

const Cublas& GpuBackend::cublas() {
  if (!cublas_) cublas_.emplace(cublas_library().api, context_);
  return *cublas_;
}

std::vector<std::vector<schema::Counter>> GpuBackend::measure(
    std::span<const KernelCode> codes, const std::function<void(std::size_t)>& launch) {
  for (const KernelCode& code : codes) code_ |= code;
  if (plan_->leaves_out(code_)) make_plan();
  if (!profiler_) profiler_.emplace(cupti_library().api, context_, *plan_);
  try {
    return profiler_->measure(codes, launch);
  } catch (...) {
    profiler_.reset();
    throw;
  }
}

void GpuBackend::flush_cache() {
  if (!flush_.is_allocated()) flush_ = Memory(context_, flush_bytes());
  check(context_.api(),
        context_.api().cuMemsetD32Async(flush_.address(), 0, flush_.bytes() / 4, context_.stream()),
        "flushing the cache");
}

std::string GpuBackend::lost_context() const {
  if (context_.broken_by().empty()) return "";
  return fmt::format(
      "not launched: an earlier kernel of this run broke the CUDA context ({}), and only a new "
      "process gets another",
      context_.broken_by());
}

std::uint64_t GpuBackend::flush_bytes() const {
  return 2 * static_cast<std::uint64_t>(device_.l2_bytes.value_or(64 << 20));
}

const CounterSupport& GpuBackend::support() const {
  if (!support_) {
    context_.make_current();
    support_ = device_.chip.empty() ? CounterSupport{{}, "CUPTI does not know this device's chip"}
                                    : probe_counters(cupti_library().api, context_);
  }
  return *support_;
}

std::unique_ptr<run::Workload> GpuBackend::load(const kernels::Problem& problem) {
  context_.make_current();
  return load_workload(*this, problem);
}

std::unique_ptr<run::Backend> open(const Options& options) {
  // The driver first: CUPTI crashes without one.
  if (!driver_library().ok()) throw Error(ExitCode::no_hardware, driver_library().sentence());
  if (!cupti_library().ok()) throw Error(ExitCode::no_hardware, cupti_library().sentence());
  return std::make_unique<GpuBackend>(options);
}

}  // namespace warpmeter::cupti
