// One call of the API: one at a time, timed for the summary, with what went wrong turned into what
// the function returns.
#pragma once

#include <chrono>
#include <mutex>
#include <new>
#include <string_view>

#include "collector/runtime/process.h"

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

/// What a kernel's failure makes every call return is no mistake of the call.
template <class Body>
cudaError_t answer_call(std::string_view name, bool is_always, const Body& body) {
  Process& process = Process::get();
  const auto begin = std::chrono::steady_clock::now();
  const std::lock_guard lock(process.mutex());
  process.begin_call(name);
  const bool is_asked = is_always || process.surfaced_error() == cudaSuccess;
  const cudaError_t result = answered(process, is_asked, body);
  if (process.report() != nullptr) {
    process.report()->called(name, std::chrono::steady_clock::now() - begin);
  }
  return is_asked ? process.note(name, result) : process.note(result);
}

template <class Body>
cudaError_t call(std::string_view name, const Body& body) {
  return answer_call(name, false, body);
}

/// The same for what answers whatever a kernel has done: how many devices there are.
template <class Body>
cudaError_t call_always(std::string_view name, const Body& body) {
  return answer_call(name, true, body);
}

}  // namespace warpmeter::runtime
