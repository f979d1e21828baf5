// SPDX-License-Identifier: MIT
#include "collector/runtime/api/row.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/null_stream.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

/// At the end of a call stream 0 means what it means to calls in general.
struct EndOfCall {
  ~EndOfCall() { null_is_per_thread = false; }
};

cudaError_t obstacle_of_driver(Needs needs) {
  const Contexts& contexts = Contexts::get();
  if (needs == Needs::nothing) return cudaSuccess;
  if (!contexts.is_initialised) return cudaErrorInitializationError;
  if (needs != Needs::context) return cudaSuccess;
  const Context* current = contexts.current();
  if (current == nullptr) return cudaErrorDeviceUninitialized;
  return current->is_active() ? cudaSuccess : cudaErrorContextIsDestroyed;
}

/// The runtime initialises the driver, whichever of its functions is called first: on an H200 in
/// all but cudaRuntimeGetVersion and cudaCreateChannelDesc.
cudaError_t reach(Needs needs, const Process& process) {
  if (needs == Needs::nothing) return cudaSuccess;
  if (needs == Needs::context) {
    if (process.devices() == 0) return cudaErrorNoDevice;
    Contexts::get().enter_runtime(current_device, call_depth == 1);
    return cudaSuccess;
  }
  begin_runtime(process);
  return needs == Needs::device && process.devices() == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t answered(Process& process, const Row& row, const BoundBody& body) {
  try {
    const cudaError_t obstacle =
        row.is_driver ? obstacle_of_driver(row.needs) : reach(row.needs, process);
    if (obstacle != cudaSuccess) return obstacle;
    const cudaError_t result = body(process);
    return row.is_driver ? static_cast<cudaError_t>(as_driver_error(result)) : result;
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    process.say(error.what());
    return cudaErrorUnknown;
  }
}

/// Holds the lock for one call: the outermost of this thread. Who waits lets it go once, so calls
/// within a call take none.
class Turn {
 public:
  Turn(Process& process, const Row& row, const void* caller)
      : process_(process), row_(row), lock_(process.mutex(), std::defer_lock) {
    if (call_depth == 0) lock_.lock();
    if (++call_depth > 1) return;
    process.begin_call(row.name, caller);
    if (process.report() != nullptr) process.report()->begin_call();
  }
  ~Turn() {
    const bool is_outermost = --call_depth == 0;
    if (is_outermost && process_.report() != nullptr) {
      process_.report()->called(row_.name, {begin_, std::chrono::steady_clock::now()});
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Process& process_;
  const Row& row_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Remembers an error of the outermost call: the runtime's for cudaGetLastError; the driver's
/// result is all that its program is told. The error that a kernel's failure makes every call
/// return is no mistake of the call: `is_own` is false.
cudaError_t remembered(Process& process, const Row& row, cudaError_t result, bool is_own) {
  if (call_depth > 0) return result;
  const bool is_unseen =
      is_own && !row.is_driver && std::exchange(Process::is_launching, false) && row.is_launch;
  const auto& no = row.no.errors;
  const bool is_no = std::find(no.begin(), no.end(), result) != no.end();
  if (is_own) process.look_at(row.name, is_no ? cudaSuccess : result, is_unseen);
  return row.is_driver ? result : process.note(result);
}

cudaError_t entered(const Row& row, const void* caller, const BoundBody& body) {
  const EndOfCall end;
  Process& process = Process::get();
  // Before the lock, which another thread may have held when this process was forked.
  if (is_in_host_function() || process.is_fork()) {
    if (row.answers == Answers::anywhere) return body(process);
    if (process.is_fork()) return remembered(process, row, cudaErrorInitializationError, false);
    const std::lock_guard lock(process.mutex());
    if (call_depth == 0) process.begin_call(row.name, caller);
    return remembered(process, row, cudaErrorNotPermitted, true);
  }
  bool is_asked = true;
  cudaError_t result = cudaSuccess;
  {
    const Turn turn(process, row, caller);
    if (row.answers == Answers::until_failure && call_depth == 1) {
      is_asked = process.failure(row.adds_work) == cudaSuccess;
    }
    result = is_asked ? answered(process, row, body) : process.surfaced_error();
  }
  return remembered(process, row, result, is_asked);
}

}  // namespace

void begin_runtime(const Process& process) {
  if (!process.is_fork() && process.devices() > 0) Contexts::get().is_initialised = true;
}

cudaError_t enter(const Row& row, const void* caller, const BoundBody& body) {
  return with_room([&] { return entered(row, caller, body); });
}

}  // namespace warpmeter::runtime
