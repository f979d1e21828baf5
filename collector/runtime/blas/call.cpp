// SPDX-License-Identifier: MIT
#include "collector/runtime/blas/call.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/own_stack.h"
#include "collector/runtime/blas/handles.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"
#include "collector/runtime/stream/wrong_copy.h"

namespace warpmeter::runtime::blas {
namespace {

/// "cublasSaxpy_v2" without its addition.
std::string_view name_of(std::string_view symbol) {
  return symbol.substr(
      0, symbol.rfind("_v2") == symbol.size() - 3 ? symbol.size() - 3 : symbol.size());
}

template <class Body>
Status locked(std::string_view symbol, const void* caller, const Body& body) {
  return with_room([&] {
    Process& process = Process::get();
    if (process.is_fork()) return Status::not_initialised;
    if (is_in_host_function()) return Status::execution_failed;
    const std::lock_guard lock(process.mutex());
    Process::begin_call(name_of(symbol), caller);
    try {
      return body(process);
    } catch (const std::bad_alloc&) {
      return Status::allocation_failed;
    }
  });
}

/// Says once what the function could not reach; with --check that is a finding.
void tell(Process& process, std::string_view function, const Unreachable& place) {
  const auto [kind, why] = obstacle_at(process, place.address, place.bytes,
                                       place.writes ? "result" : "matrix, vector or factor");
  const std::string text = fmt::format("{} accesses an illegal address: {}", function, why);
  if (process.checks() != nullptr) {
    process.checks()->find_in_call(kind, function, text);
  } else {
    process.say(text);
  }
}

/// The computation as the stream does it.
std::function<cudaError_t(Process&)> in_memory(std::string_view function,
                                               std::function<void(Reach&)> compute) {
  return [function, compute = std::move(compute)](Process& process) {
    Reach reach(process);
    try {
      compute(reach);
    } catch (const Unreachable& place) {
      tell(process, function, place);
      process.kernel_failed(cudaErrorIllegalAddress, std::string(function));
    } catch (const std::bad_alloc&) {
      return cudaErrorMemoryAllocation;
    } catch (const std::length_error&) {  // no vector is so long
      return cudaErrorMemoryAllocation;
    }
    reach.finish();
    return cudaSuccess;
  };
}

}  // namespace

Status Call::run(std::function<void(Reach&)> compute) {
  if (process_.failure(true) != cudaSuccess) return Status::execution_failed;
  LibraryWork work;
  work.compute = std::make_shared<const std::function<cudaError_t(Process&)>>(
      in_memory(Process::function(), std::move(compute)));
  work.name = Process::function();
  const cudaError_t result = submit(process_, handle_.stream, std::move(work));
  return result == cudaSuccess ? Status::success : Status::execution_failed;
}

Status Call::run_and_wait(std::function<void(Reach&)> compute) {
  Stream* stream = process_.stream(handle_.stream);
  if (stream == nullptr || stream->capture != nullptr) return Status::execution_failed;
  const Status status = run(std::move(compute));
  if (status != Status::success) return status;
  wait_for(process_, *stream);
  return process_.surfaced_error() == cudaSuccess ? Status::success : Status::execution_failed;
}

Status enter(std::string_view symbol, const void* caller, Handle* handle,
             const std::function<Status(Call&)>& body) {
  return locked(symbol, caller, [&](Process& process) {
    if (!is_handle(process, handle)) return Status::not_initialised;
    Call call(process, *handle);
    return body(call);
  });
}

Status enter(std::string_view symbol, const void* caller,
             const std::function<Status(Process&)>& body) {
  return locked(symbol, caller, body);
}

}  // namespace warpmeter::runtime::blas
