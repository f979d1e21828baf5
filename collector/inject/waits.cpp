// SPDX-License-Identifier: MIT
#include "collector/inject/waits.h"

#include <cupti_driver_cbid.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "base/kernel_name.h"

namespace warpmeter::inject {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Nobody is known to hold up the work in front: most likely it computes.
constexpr int longer_for_others = 12;
/// For work that was waited for in vain before: a small part of the patience, and half as much each
/// time. XLA's autotuner launches a kernel that waits for the host before each of a thousand
/// measurements.
constexpr int shorter_again = 80;
constexpr int halvings = 6;

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

/// True if an event's answer says that the work before it runs no more. Most errors say that the
/// work or its context failed. The ones below refuse the question, and nobody knows.
bool is_over(CUresult answer) {
  const bool is_refused = answer == CUDA_ERROR_INVALID_CONTEXT ||
                          answer == CUDA_ERROR_NOT_PERMITTED ||
                          (answer >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                           answer <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  return answer != CUDA_ERROR_NOT_READY && !is_refused;
}

/// True if the address is of memory that the host or another GPU can reach, or may be.
bool is_reached_by_others(const cupti::DriverApi& api, std::uint64_t address, CUdevice device) {
  unsigned int type = 0, managed = 0;
  int owner = device;
  if (address == 0) return false;
  const CUresult known =
      api.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  if (known == CUDA_ERROR_INVALID_VALUE) return false;  // no address of CUDA's
  if (known != CUDA_SUCCESS) return true;
  api.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
  api.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  return type == CU_MEMORYTYPE_HOST || managed != 0 || owner != device;
}

/// True if a parameter is, or holds, the address of such memory; also where nobody can look.
bool has_parameter_of_others(const cupti::DriverApi& api, const LaunchCall& call, CUdevice device) {
  if (call.parameters == nullptr) return true;
  std::size_t offset = 0, bytes = 0;
  CUresult result = CUDA_SUCCESS;
  for (std::size_t i = 0;
       (result = api.cuFuncGetParamInfo(call.function, i, &offset, &bytes)) == CUDA_SUCCESS; ++i) {
    const auto* value = static_cast<const char*>(call.parameters[i]);
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t address = 0;
      std::memcpy(&address, value + at, sizeof address);
      if (is_reached_by_others(api, address, device)) return true;
    }
  }
  return result != CUDA_ERROR_INVALID_VALUE;  // that is the answer behind the last one
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

/// Those of registering host memory.
struct AddressFirst {
  const void* address;
};

/// True if the memory is mapped for more than this process ("rw-s" in its list of mappings).
bool is_mapped_by_others(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    std::istringstream fields(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::string rights;
    fields >> std::hex >> begin >> dash >> end >> rights;
    if (place >= begin && place < end) return rights.size() == 4 && rights[3] == 's';
  }
  return false;
}

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
      CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister,
      CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2,
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

bool shares_memory(CUpti_CallbackId called, const void* parameters) {
  const auto known = sharing_functions();
  if (std::find(known.begin(), known.end(), called) == known.end()) return false;
  const bool registers = called == CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister ||
                         called == CUPTI_DRIVER_TRACE_CBID_cuMemHostRegister_v2;
  return !registers || is_mapped_by_others(static_cast<const AddressFirst*>(parameters)->address);
}

/// Work in a stream, with an event behind it.
struct Waits::Work {
  Work(const cupti::DriverApi& driver, CUcontext owner, CUstream place, Blocker who)
      : api(driver), context(owner), stream(place), blocker(std::move(who)) {}
  ~Work() {
    if (done != nullptr && !is_context_gone) api.cuEventDestroy_v2(done);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  const cupti::DriverApi& api;
  const CUcontext context;
  const CUstream stream;
  const Blocker blocker;
  CUevent done = nullptr;
  std::atomic<bool> is_context_gone{false};
};

void Waits::module_loaded(Bytes cubin) {
  const auto found = model::sass::waiting_kernels(cubin);
  const std::lock_guard lock(mutex_);
  // Two modules may have kernels of one name: what is true of one counts.
  for (const auto& [kernel, waiting] : found) kernels_[kernel] |= waiting;
}

void Waits::memory_shared() {
  const std::lock_guard lock(mutex_);
  shares_memory_ = true;
}

bool Waits::shares_memory() const {
  const std::lock_guard lock(mutex_);
  return shares_memory_;
}

model::sass::Waiting Waits::waiting_of(const std::string& kernel) const {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kernel);
  model::sass::Waiting waiting;
  if (found != kernels_.end()) waiting = found->second;
  waiting.waits |= waiting.may_wait && shares_memory_;
  return waiting;
}

std::optional<cupti::KernelCode> Waits::code_of(const std::vector<std::string>& kernels) const {
  const std::lock_guard lock(mutex_);
  cupti::KernelCode code = cupti::no_special_code;
  for (const std::string& kernel : kernels) {
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return std::nullopt;
    code |= cupti::code_of(found->second);
  }
  return code;
}

/// A grid of one block does not wait for another block of its own.
std::string Waits::obstacle(const cupti::DriverApi& api, const LaunchCall& call,
                            const std::string& kernel, CUdevice device) const {
  const model::sass::Waiting waiting = waiting_of(kernel);
  if (!waiting.may_wait) return "";
  const bool is_one_block = call.grid == std::array<std::uint32_t, 3>{1, 1, 1};
  const bool waits = waiting.waits || is_one_block || has_parameter_of_others(api, call, device);
  return waits ? waits_for_others : "";
}

void Waits::add_launch(const cupti::DriverApi& api, CUcontext context, CUstream stream,
                       const std::string& kernel) {
  add(api, context, stream, {"kernel " + function_name(kernel), {nullptr, nullptr, kernel}});
}

void Waits::add(const cupti::DriverApi& api, CUcontext context, const WaitingWork& work) {
  add(api, context, work.stream, {work.name, {context, work.stream, work.name}});
}

void Waits::add(const cupti::DriverApi& api, CUcontext context, CUstream stream, Blocker blocker) {
  const Relaxed relaxed(api);
  first_open(api, context);  // forgets those that are done, or they would be ever more
  const auto work = std::make_shared<Work>(api, context, stream, std::move(blocker));
  if (api.cuEventCreate(&work->done, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    work->done = nullptr;
    return;
  }
  if (api.cuEventRecord(work->done, stream) != CUDA_SUCCESS) return;
  const std::lock_guard lock(mutex_);
  works_.push_back(work);
}

/// The first work of the context that is not known to be done; those before it in their streams are
/// forgotten.
std::shared_ptr<const Waits::Work> Waits::first_open(const cupti::DriverApi& api,
                                                     CUcontext context) {
  std::vector<std::shared_ptr<Work>> works;
  {
    const std::lock_guard lock(mutex_);
    std::copy_if(works_.begin(), works_.end(), std::back_inserter(works),
                 [&](const auto& work) { return work->context == context; });
  }
  std::shared_ptr<const Work> first;
  std::set<CUstream> busy;
  std::set<std::shared_ptr<Work>> over;  // their events are destroyed at the end, without the lock
  for (const std::shared_ptr<Work>& work : works) {
    if (busy.count(work->stream) != 0) continue;  // streams keep the order
    if (is_over(api.cuEventQuery(work->done))) {
      over.insert(work);
    } else {
      busy.insert(work->stream);
      if (first == nullptr) first = work;
    }
  }
  if (over.empty()) return first;
  const std::lock_guard lock(mutex_);
  works_.remove_if([&](const auto& work) { return over.count(work) != 0; });
  return first;
}

std::string Waits::pending(const cupti::DriverApi& api, CUcontext context) {
  const Relaxed relaxed(api);
  const std::shared_ptr<const Work> work = first_open(api, context);
  return work != nullptr ? work->blocker.name : "";
}

std::optional<Waits::Blocker> Waits::find_blocker(const cupti::DriverApi& api, CUcontext context,
                                                  CUstream stream) {
  const Relaxed relaxed(api);
  if (const auto work = first_open(api, context)) return work->blocker;
  if (api.cuStreamQuery(stream) != CUDA_ERROR_NOT_READY) return std::nullopt;
  return Blocker{earlier_work, {context, stream, earlier_work}};
}

std::string Waits::blocker(const cupti::DriverApi& api, CUcontext context, CUstream stream) {
  const std::optional<Blocker> found = find_blocker(api, context, stream);
  return found ? found->name : "";
}

std::chrono::microseconds Waits::patience_for(const Blocker& blocker) const {
  const std::lock_guard lock(mutex_);
  const std::chrono::microseconds whole =
      blocker.name == earlier_work ? longer_for_others * patience_ : patience_;
  const auto before = waited_in_vain_.find(blocker.cause);
  if (before == waited_in_vain_.end()) return whole;
  return whole / (shorter_again << before->second);
}

void Waits::be_shorter(const Cause& cause) {
  const std::lock_guard lock(mutex_);
  const auto [again, is_first] = waited_in_vain_.try_emplace(cause, 0);
  if (!is_first) again->second = std::min(again->second + 1, halvings);
}

std::string Waits::await(const cupti::DriverApi& api, CUcontext context, CUstream stream) {
  const auto begin = Clock::now();
  std::optional<Blocker> last;
  for (;;) {
    std::optional<Blocker> found = find_blocker(api, context, stream);
    if (!found) {
      // A kernel that gives up after a while would hold each launch behind it for so long.
      const bool was_long =
          Clock::now() - begin >= std::chrono::microseconds(patience_) / shorter_again;
      if (last && last->name != earlier_work && was_long) be_shorter(last->cause);
      return "";
    }
    const auto waited = Clock::now() - begin;
    if (waited >= patience_for(*found)) {
      be_shorter(found->cause);
      return fmt::format(
          "{} had not ended within {} ms, and may wait for the program; --launch-timeout SECONDS "
          "waits longer",
          found->name, std::chrono::duration_cast<std::chrono::milliseconds>(waited).count());
    }
    last = std::move(found);
    std::this_thread::sleep_for(waited < 1ms ? 5us : 100us);
  }
}

void Waits::context_ends(CUcontext context) {
  const std::lock_guard lock(mutex_);
  works_.remove_if([&](const std::shared_ptr<Work>& work) {
    if (work->context != context) return false;
    work->is_context_gone = true;  // and the event with it
    return true;
  });
  std::erase_if(waited_in_vain_,
                [&](const auto& entry) { return std::get<CUcontext>(entry.first) == context; });
}

}  // namespace warpmeter::inject
