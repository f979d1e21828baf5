// One call of the API: one at a time, timed for the summary, with what went wrong turned into what
// the function returns.
#pragma once

#include <chrono>
#include <mutex>
#include <new>
#include <string_view>

#include "collector/runtime/outstanding.h"
#include "collector/runtime/process.h"
#include "collector/runtime/redirect.h"

namespace warpmeter::runtime {

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

template <class Body>
cudaError_t call(std::string_view name, const Body& body) {
  const EndOfCall end;
  Process& process = Process::get();
  if (is_in_host_function()) return process.note(cudaErrorNotPermitted);
  // Before the lock, which another thread may have held when this process was forked.
  if (process.is_fork()) return process.note(cudaErrorInitializationError);
  const auto begin = std::chrono::steady_clock::now();
  const std::lock_guard lock(process.mutex());
  const cudaError_t result = answered(process, process.surfaced_error() == cudaSuccess, body);
  if (process.report() != nullptr) {
    process.report()->called(name, std::chrono::steady_clock::now() - begin);
  }
  return process.note(result);
}

/// The same for what answers whatever a kernel has done: how many devices there are.
template <class Body>
cudaError_t call_always(std::string_view name, const Body& body) {
  const EndOfCall end;
  Process& process = Process::get();
  const auto begin = std::chrono::steady_clock::now();
  const std::lock_guard lock(process.mutex());
  const cudaError_t result = answered(process, true, body);
  if (process.report() != nullptr) {
    process.report()->called(name, std::chrono::steady_clock::now() - begin);
  }
  return process.note(result);
}

}  // namespace warpmeter::runtime
