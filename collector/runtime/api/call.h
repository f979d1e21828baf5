// SPDX-License-Identifier: MIT
// One call of the API: one at a time, timed for the summary, with what went wrong turned into what
// the function returns. A call that another one makes is a part of that.
#pragma once

#include <chrono>
#include <mutex>
#include <new>
#include <string_view>

#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/null_stream.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {

/// Calls of the API that this thread is in.
inline thread_local int call_depth = 0;

/// `is_asked` is false where an earlier kernel has failed for good: then that is the answer.
template <class Body>
cudaError_t answered(Process& process, bool is_asked, const Body& body) {
  if (!is_asked) return process.surfaced_error();
  try {
    return body(process);
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  } catch (const std::exception& error) {
    process.say(error.what());
    return cudaErrorUnknown;
  }
}

/// At the end of a call stream 0 means what it means to calls in general.
struct EndOfCall {
  ~EndOfCall() { null_is_per_thread = false; }
};

/// One call of either API, without its last error. Among calls within a call only the outermost is
/// the program's. The error that a kernel's failure makes every call return is no mistake of the
/// call.
struct Called {
  cudaError_t result = cudaSuccess;
  bool is_own = false;  ///< the result of the program's call itself
};
template <class Body>
Called timed_call(std::string_view name, bool is_always, const Body& body) {
  const EndOfCall end;
  Process& process = Process::get();
  if (is_in_host_function()) return {cudaErrorNotPermitted, false};
  // Before the lock, which another thread may have held when this process was forked.
  if (process.is_fork()) return {cudaErrorInitializationError, false};
  const auto begin = std::chrono::steady_clock::now();
  // Once, for who waits lets the lock go once.
  std::unique_lock lock(process.mutex(), std::defer_lock);
  if (call_depth == 0) lock.lock();
  if (++call_depth == 1) process.begin_call(name);
  const bool is_asked = is_always || call_depth > 1 || process.error_for(name) == cudaSuccess;
  const cudaError_t result = answered(process, is_asked, body);
  const bool is_outermost = --call_depth == 0;
  if (is_outermost && process.report() != nullptr) {
    process.report()->called(name, std::chrono::steady_clock::now() - begin);
  }
  return {result, is_asked && is_outermost};
}

/// The result becomes the runtime's last error.
inline cudaError_t noted(std::string_view name, const Called& called) {
  if (call_depth > 0) return called.result;
  Process& process = Process::get();
  return called.is_own ? process.note(name, called.result) : process.note(called.result);
}

/// The runtime initialises the driver, whichever of its functions is called first: on an H200 in
/// all but cudaRuntimeGetVersion and cudaCreateChannelDesc.
inline void begin_runtime(const Process& process) {
  if (!process.is_fork() && process.devices() > 0) Contexts::get().is_initialised = true;
}

template <class Body>
cudaError_t call(std::string_view name, const Body& body) {
  return noted(name, timed_call(name, false, [&](Process& process) {
                 if (process.devices() == 0) return cudaErrorNoDevice;
                 Contexts::get().enter_runtime(current_device, call_depth == 1);
                 return body(process);
               }));
}

/// The same for what needs no context, and makes none.
template <class Body>
cudaError_t call_without_context(std::string_view name, const Body& body) {
  return noted(name, timed_call(name, false, [&](Process& process) {
                 begin_runtime(process);
                 return process.devices() == 0 ? cudaErrorNoDevice : body(process);
               }));
}

/// The same for what answers whatever a kernel has done.
template <class Body>
cudaError_t call_always(std::string_view name, const Body& body) {
  return noted(name, timed_call(name, true, [&](Process& process) {
                 begin_runtime(process);
                 return body(process);
               }));
}

/// And that asks about devices: how many there are.
template <class Body>
cudaError_t device_call_always(std::string_view name, const Body& body) {
  return call_always(name, [&](Process& process) {
    return process.devices() == 0 ? cudaErrorNoDevice : body(process);
  });
}

}  // namespace warpmeter::runtime
