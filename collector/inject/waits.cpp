// SPDX-License-Identifier: MIT
#include "collector/inject/waits.h"

#include <cupti_driver_cbid.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Nobody is known to hold up the work in front: most likely it computes.
constexpr int longer_for_others = 12;
/// For work that was waited for in vain before.
constexpr auto short_patience = 50ms;

constexpr const char* earlier_work = "the work in front of it";
constexpr const char* waits_for_others =
    "it waits in a loop for memory that the host, another stream, process or GPU may write, so it "
    "is neither repeated nor waited for; profile without --metrics has its time";

/// Another thread may be recording a graph, and would fail by our questions.
class Relaxed {
 public:
  explicit Relaxed(const cupti::DriverApi& api) : api_(api) {
    api_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  ~Relaxed() { api_.cuThreadExchangeStreamCaptureMode(&mode_); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  const cupti::DriverApi& api_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// True if the address is of memory that the host or another GPU can reach.
bool is_reached_by_others(const cupti::DriverApi& api, std::uint64_t address, CUdevice device) {
  unsigned int type = 0, managed = 0;
  int owner = device;
  if (address == 0 ||
      api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) {
    return false;  // no address of CUDA's
  }
  api.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
  api.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  return type == CU_MEMORYTYPE_HOST || managed != 0 || owner != device;
}

/// True if a parameter is, or holds, the address of such memory.
bool has_parameter_of_others(const cupti::DriverApi& api, const LaunchCall& call, CUdevice device) {
  std::size_t offset = 0, bytes = 0;
  for (std::size_t i = 0; call.parameters != nullptr &&
                          api.cuFuncGetParamInfo(call.function, i, &offset, &bytes) == CUDA_SUCCESS;
       ++i) {
    const auto* value = static_cast<const char*>(call.parameters[i]);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t address = 0;
      std::memcpy(&address, value + at, sizeof address);
      if (is_reached_by_others(api, address, device)) return true;
    }
  }
  return false;
}

/// The functions' parameters: the stream comes first, or behind those of the semaphores.
struct StreamFirst {
  CUstream stream;
};
struct SemaphoreParameters {
  const void *semaphores, *parameters;
  unsigned int count;
  CUstream stream;
};

constexpr const char* value_wait = "a stream's wait for a value in memory";
constexpr const char* semaphore_wait = "a stream's wait for an external semaphore";
constexpr const char* host_function = "a host function in a stream";
struct WaitingFunction {
  CUpti_CallbackId plain, per_thread;
  const char* work;
};
constexpr WaitingFunction holding_functions[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_ptsz,
     value_wait},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2,
     CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue32_v2_ptsz, value_wait},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue64, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue64_ptsz,
     value_wait},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue64_v2,
     CUPTI_DRIVER_TRACE_CBID_cuStreamWaitValue64_v2_ptsz, value_wait},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp, CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_ptsz,
     value_wait},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2,
     CUPTI_DRIVER_TRACE_CBID_cuStreamBatchMemOp_v2_ptsz, value_wait},
    {CUPTI_DRIVER_TRACE_CBID_cuWaitExternalSemaphoresAsync,
     CUPTI_DRIVER_TRACE_CBID_cuWaitExternalSemaphoresAsync_ptsz, semaphore_wait},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_ptsz,
     host_function},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback, CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback_ptsz,
     host_function},
};

}  // namespace

std::span<const CUpti_CallbackId> waiting_work_functions() {
  static const std::vector<CUpti_CallbackId> functions = [] {
    std::vector<CUpti_CallbackId> all;
    for (const auto& each : holding_functions) all.insert(all.end(), {each.plain, each.per_thread});
    return all;
  }();
  return functions;
}

std::span<const CUpti_CallbackId> sharing_functions() {
  static constexpr CUpti_CallbackId functions[] = {
      CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle,
      CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle,
      CUPTI_DRIVER_TRACE_CBID_cuIpcOpenMemHandle_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemExportToShareableHandle,
      CUPTI_DRIVER_TRACE_CBID_cuMemImportFromShareableHandle,
      CUPTI_DRIVER_TRACE_CBID_cuMemPoolExportToShareableHandle,
      CUPTI_DRIVER_TRACE_CBID_cuMemPoolImportFromShareableHandle,
      CUPTI_DRIVER_TRACE_CBID_cuCtxEnablePeerAccess,
      CUPTI_DRIVER_TRACE_CBID_cuMulticastCreate,
  };
  return functions;
}

std::optional<WaitingWork> read_waiting_work(CUpti_CallbackId called, const void* parameters) {
  for (const auto& [plain, per_thread, work] : holding_functions) {
    if (called != plain && called != per_thread) continue;
    CUstream stream = work == semaphore_wait
                          ? static_cast<const SemaphoreParameters*>(parameters)->stream
                          : static_cast<const StreamFirst*>(parameters)->stream;
    if (called == per_thread && stream == nullptr) stream = CU_STREAM_PER_THREAD;
    return WaitingWork{stream, work};
  }
  return std::nullopt;
}

bool shares_memory(CUpti_CallbackId called) {
  const auto known = sharing_functions();
  return std::find(known.begin(), known.end(), called) != known.end();
}

void Waits::module_loaded(Bytes cubin) {
  const auto found = model::sass::waiting_kernels(cubin);
  const std::lock_guard lock(mutex_);
  for (const auto& [kernel, waiting] : found) {
    // Two modules may have kernels of one name: what is true of one counts.
    model::sass::Waiting& all = kernels_[kernel];
    all.waits |= waiting.waits;
    all.may_wait |= waiting.may_wait;
    all.allocates |= waiting.allocates;
    all.times_itself |= waiting.times_itself;
  }
}

void Waits::memory_shared() {
  const std::lock_guard lock(mutex_);
  shares_memory_ = true;
}

model::sass::Waiting Waits::waiting_of(const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kernel);
  return found != kernels_.end() ? found->second : model::sass::Waiting();
}

bool Waits::allocates(const std::string& kernel) const { return waiting_of(kernel).allocates; }

bool Waits::times_itself(const std::string& kernel) const {
  return waiting_of(kernel).times_itself;
}

std::string Waits::obstacle(const std::string& kernel) const {
  const model::sass::Waiting waiting = waiting_of(kernel);
  const std::lock_guard lock(mutex_);
  return waiting.waits || (waiting.may_wait && shares_memory_) ? waits_for_others : "";
}

/// A grid of one block does not wait for another block of its own.
std::string Waits::obstacle(const cupti::DriverApi& api, const LaunchCall& call,
                            const std::string& kernel, CUdevice device) const {
  const std::string always = obstacle(kernel);
  if (!always.empty() || !waiting_of(kernel).may_wait) return always;
  const bool is_one_block = call.grid == std::array<std::uint32_t, 3>{1, 1, 1};
  return is_one_block || has_parameter_of_others(api, call, device) ? waits_for_others : "";
}

void Waits::add(const cupti::DriverApi& api, CUcontext context, CUstream stream,
                const std::string& name) {
  const Relaxed relaxed(api);
  Work work{context, nullptr, name};
  if (api.cuEventCreate(&work.done, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return;
  if (api.cuEventRecord(work.done, stream) != CUDA_SUCCESS) {
    api.cuEventDestroy_v2(work.done);
    return;
  }
  const std::lock_guard lock(mutex_);
  works_.push_back(work);
}

std::string Waits::pending(const cupti::DriverApi& api, CUcontext context) {
  const std::lock_guard lock(mutex_);
  for (auto work = works_.begin(); work != works_.end();) {
    if (work->context == context) {
      if (api.cuEventQuery(work->done) == CUDA_ERROR_NOT_READY) return work->name;
      api.cuEventDestroy_v2(work->done);
      work = works_.erase(work);
    } else {
      ++work;
    }
  }
  return "";
}

std::chrono::milliseconds Waits::patience_for(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto whole = name == earlier_work ? longer_for_others * patience_ : patience_;
  return waited_in_vain_.count(name) != 0 ? std::min(whole, {short_patience}) : whole;
}

std::string Waits::blocker(const cupti::DriverApi& api, CUcontext context, CUstream stream) {
  const Relaxed relaxed(api);
  const std::string name = pending(api, context);
  if (name.empty() && api.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) return earlier_work;
  return name;
}

std::string Waits::await(const cupti::DriverApi& api, CUcontext context, CUstream stream) {
  const auto begin = Clock::now();
  for (;;) {
    const std::string name = blocker(api, context, stream);
    if (name.empty()) return "";
    const auto waited = Clock::now() - begin;
    const bool is_over = waited >= patience_for(name);
    if (is_over) {
      const std::lock_guard lock(mutex_);
      waited_in_vain_.insert(name);
      return fmt::format(
          "{} had not ended, and may wait for the program; --launch-timeout SECONDS "
          "waits longer",
          name);
    }
    std::this_thread::sleep_for(waited < 1ms ? 5us : 100us);
  }
}

bool Waits::is_idle(const cupti::DriverApi& api) {
  std::set<CUcontext> contexts;
  {
    const std::lock_guard lock(mutex_);
    for (const Work& work : works_) contexts.insert(work.context);
  }
  return std::all_of(contexts.begin(), contexts.end(), [&](CUcontext context) {
    return api.cuCtxSetCurrent(context) == CUDA_SUCCESS && pending(api, context).empty();
  });
}

void Waits::context_ends(CUcontext context) {
  const std::lock_guard lock(mutex_);
  works_.remove_if([&](const Work& work) { return work.context == context; });
}

}  // namespace warpmeter::inject
