// SPDX-License-Identifier: MIT
// Streams, events, host functions, and waiting for them.
#include <algorithm>
#include <chrono>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/memory/event_page.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace streams {
namespace {

constexpr unsigned known_event_flags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

cudaError_t make_stream(Process& process, cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  const auto [least, greatest] = stream_priorities();
  const int nearest = std::clamp(priority, greatest, least);
  *stream = reinterpret_cast<cudaStream_t>(process.make_stream(flags, nearest));
  return cudaSuccess;
}

cudaError_t make_event(Process& process, cudaEvent_t* event, unsigned flags) {
  if (event == nullptr || (flags & ~known_event_flags) != 0) return cudaErrorInvalidValue;
  std::shared_ptr<EventPage> page;
  if ((flags & cudaEventInterprocess) != 0) {
    if ((flags & cudaEventDisableTiming) == 0) return cudaErrorInvalidValue;
    page = EventPage::make();
    if (page == nullptr) return cudaErrorMemoryAllocation;
  }
  Event* made = process.make_event(flags);
  made->page = std::move(page);
  *event = reinterpret_cast<cudaEvent_t>(made);
  return cudaSuccess;
}

cudaError_t record(Process& process, cudaEvent_t handle, cudaStream_t stream_handle,
                   unsigned flags) {
  Event* event = process.event(handle);
  Stream* stream = process.stream(stream_handle);
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->device != device_of(stream_handle, *stream)) return cudaErrorInvalidResourceHandle;
  if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
  if (stream->capture == nullptr) {
    if (flags != 0) return cudaErrorIllegalState;
    const cudaError_t conflict = legacy_conflict(process, *stream);
    if (conflict != cudaSuccess) return conflict;
    event->captured_in.reset();
    event->captured_after.clear();
    event->captured_ports.clear();
    event->is_recorded = true;
    const cudaError_t result = give(process, *stream, EventWork{event, true});
    event->recorded_by = {stream->shared_from_this(), stream->given};
    return result;
  }
  if (stream->capture->is_invalid) return cudaErrorStreamCaptureInvalidated;
  if (flags == cudaEventRecordExternal) return capture(*stream, EventWork{event, true});
  event->captured_in = stream->capture;
  event->captured_after = stream->capture_after;
  event->captured_ports = stream->capture_ports;
  return cudaSuccess;
}

/// A stream that waits for what is being captured becomes a part of the capture.
cudaError_t wait(Process& process, cudaStream_t stream_handle, cudaEvent_t handle, unsigned flags) {
  const Event* event = process.event(handle);
  Stream* stream = process.stream(stream_handle);
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
  if (stream->capture == nullptr && event->captured_in == nullptr) {
    if (flags != 0) return cudaErrorIllegalState;
    const cudaError_t conflict = legacy_conflict(process, *stream);
    if (conflict == cudaSuccess) follow(*stream, *event);
    return conflict;
  }
  if (stream->capture != nullptr && stream->capture->is_invalid) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (stream->capture != nullptr && flags == cudaEventWaitExternal) {
    return capture(*stream, EventWork{const_cast<Event*>(event), false});
  }
  return capture_wait(*stream, *event);
}

cudaError_t wait_for_stream(Process& process, cudaStream_t handle) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  cudaError_t mistake = forbidden_in_capture(*stream);
  if (mistake == cudaSuccess) mistake = legacy_conflict(process, *stream);
  if (mistake != cudaSuccess) return mistake;
  wait_for(process, *stream);
  process.show_printed();
  return process.surfaced_error();
}

/// The question about a stream that is not captured, while others are.
cudaError_t unsafe_to_ask(Process& process, const Stream* stream) {
  const bool is_other =
      stream != nullptr && stream != process.stream(cudaStreamLegacy) && stream->capture == nullptr;
  return is_other ? unsafe_in_capture(process) : cudaSuccess;
}

/// The question about an event is a mistake if a capture recorded it, and a capture's mode may
/// forbid it altogether.
cudaError_t event_mistake(Process& process, const Event* event) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->captured_in != nullptr) {
    event->captured_in->is_invalid = true;
    return cudaErrorCapturedEvent;
  }
  return unsafe_in_capture(process);
}

struct Callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* data;
};

cudaError_t create(Process& process, cudaStream_t* stream) {
  return make_stream(process, stream, 0, 0);
}

cudaError_t create_with_flags(Process& process, cudaStream_t* stream, unsigned flags) {
  return make_stream(process, stream, flags, 0);
}

cudaError_t destroy(Process& process, cudaStream_t stream) {
  Stream* known = process.stream(stream);
  const bool is_default = static_cast<const void*>(stream) != known;
  if (known != nullptr && !is_default) leave_capture(process, *known);
  return process.remove_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t synchronize(Process& process, cudaStream_t stream) {
  const cudaError_t mistake = unsafe_to_ask(process, process.stream(stream));
  return mistake != cudaSuccess ? mistake : wait_for_stream(process, stream);
}

cudaError_t query(Process& process, cudaStream_t stream) {
  const Stream* known = process.stream(stream);
  if (const cudaError_t mistake = unsafe_to_ask(process, known)) return mistake;
  if (known != nullptr && known->capture == nullptr && !is_done(*known)) {
    return cudaErrorNotReady;
  }
  return wait_for_stream(process, stream);
}

/// Answers with a member of the stream.
template <auto member>
cudaError_t get(Process& process, cudaStream_t handle,
                std::remove_reference_t<decltype(std::declval<Stream&>().*member)>* value) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (value == nullptr) return cudaErrorInvalidValue;
  *value = stream->*member;
  return cudaSuccess;
}

cudaError_t get_id(Process& process, cudaStream_t handle, unsigned long long* number) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (number == nullptr) return cudaErrorInvalidValue;
  *number = stream->number;
  return cudaSuccess;
}

cudaError_t wait_event(Process& process, cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return wait(process, stream, event, flags);
}

cudaError_t add_callback(Process& process, cudaStream_t stream, cudaStreamCallback_t callback,
                         void* data, unsigned flags) {
  if (process.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
  if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
  const auto run_callback = [](void* given) {
    const std::unique_ptr<Callback> kept(static_cast<Callback*>(given));
    kept->function(kept->stream, Process::get().last_failure(), kept->data);
  };
  if (process.stream(stream)->capture != nullptr)
    return forbidden_in_capture(*process.stream(stream));
  return submit(process, stream,
                HostWork{run_callback, new Callback{callback, stream, data}, true});
}

cudaError_t launch_host_function(Process& process, cudaStream_t stream, cudaHostFn_t function,
                                 void* data) {
  if (function == nullptr) return cudaErrorInvalidValue;
  return submit(process, stream, HostWork{function, data});
}

cudaError_t event_create(Process& process, cudaEvent_t* event) {
  return make_event(process, event, 0);
}

cudaError_t event_create_with_flags(Process& process, cudaEvent_t* event, unsigned flags) {
  return make_event(process, event, flags);
}

cudaError_t event_destroy(Process& process, cudaEvent_t event) {
  return process.remove_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t event_synchronize(Process& process, cudaEvent_t handle) {
  const Event* event = process.event(handle);
  const cudaError_t mistake = event_mistake(process, event);
  if (mistake != cudaSuccess) return mistake;
  wait_for(process, *event);
  process.show_printed();
  return process.surfaced_error();
}

cudaError_t event_query(Process& process, cudaEvent_t handle) {
  // A wrong event is found before what a kernel has done.
  const Event* event = process.event(handle);
  if (event != nullptr && process.surfaced_error() != cudaSuccess) return process.surfaced_error();
  const cudaError_t mistake = event_mistake(process, event);
  if (mistake != cudaSuccess) return mistake;
  if (!is_done(*event)) return cudaErrorNotReady;
  if (Races* races = process.races()) races->host_knows(event->known());
  return cudaSuccess;
}

/// The time that really passed here: a CPU's, not a GPU's.
cudaError_t event_elapsed_time(Process& process, float* milliseconds, cudaEvent_t from,
                               cudaEvent_t to) {
  if (milliseconds == nullptr) return cudaErrorInvalidValue;
  const Event* begin = process.event(from);
  const Event* end = process.event(to);
  const auto refused = [&](const char* why) {
    return process.refuse(cudaErrorInvalidResourceHandle, "failed call", [&] { return why; });
  };
  if (begin == nullptr || end == nullptr) return refused("one of the events is none");
  if (begin->captured_in != nullptr || end->captured_in != nullptr) return cudaErrorCapturedEvent;
  if (!begin->is_recorded || !end->is_recorded) {
    return refused(begin->is_recorded ? "the second event was never recorded"
                   : end->is_recorded ? "the first event was never recorded"
                                      : "neither event was ever recorded");
  }
  if (((begin->flags | end->flags) & cudaEventDisableTiming) != 0) {
    return refused("an event with cudaEventDisableTiming keeps no time");
  }
  if (!is_done(*begin) || !is_done(*end)) return cudaErrorNotReady;
  const std::chrono::duration<float, std::milli> passed = end->at - begin->at;
  *milliseconds = passed.count();
  process.say("the program's own times are those of the CPU that executed its kernels");
  return cudaSuccess;
}

}  // namespace

cudaError_t device_synchronize(Process& process) {
  const cudaError_t mistake = forbidden_in_capture(process, current_device);
  if (mistake != cudaSuccess) return mistake;
  wait_for_device(process, current_device);
  process.show_printed();
  return process.surfaced_error();
}

cudaError_t event_record(Process& process, cudaEvent_t event, cudaStream_t stream) {
  return record(process, event, stream, 0);
}

cudaError_t create_with_priority(Process& process, cudaStream_t* stream, unsigned flags,
                                 int priority) {
  return make_stream(process, stream, flags, priority);
}

}  // namespace streams

std::vector<Answer> stream_answers() {
  return {
      ANSWER(cudaStreamCreate, streams::create, Needs::context),
      BOTH(cudaStreamCreateWithFlags, cuStreamCreate, streams::create_with_flags, Needs::context),
      BOTH(cudaStreamCreateWithPriority, cuStreamCreateWithPriority, streams::create_with_priority,
           Needs::context),
      BOTH(cudaStreamDestroy, cuStreamDestroy_v2, streams::destroy, Needs::context),
      BOTH(cudaStreamSynchronize, cuStreamSynchronize, streams::synchronize, Needs::context),
      BOTH(cudaStreamQuery, cuStreamQuery, streams::query, Needs::context),
      BOTH(cudaStreamGetPriority, cuStreamGetPriority, streams::get<&Stream::priority>,
           Needs::context),
      BOTH(cudaStreamGetFlags, cuStreamGetFlags, streams::get<&Stream::flags>, Needs::context),
      BOTH(cudaStreamGetId, cuStreamGetId, streams::get_id, Needs::context),
      BOTH(cudaStreamGetDevice, cuStreamGetDevice, streams::get<&Stream::device>, Needs::context),
      BOTH(cudaStreamWaitEvent, cuStreamWaitEvent, streams::wait_event, Needs::context),
      BOTH(cudaStreamAddCallback, cuStreamAddCallback, streams::add_callback, Needs::context),
      BOTH(cudaLaunchHostFunc, cuLaunchHostFunc, streams::launch_host_function, Needs::context),
      ANSWER(cudaEventCreate, streams::event_create, Needs::context),
      BOTH(cudaEventCreateWithFlags, cuEventCreate, streams::event_create_with_flags,
           Needs::context),
      BOTH(cudaEventDestroy, cuEventDestroy_v2, streams::event_destroy, Needs::context),
      BOTH(cudaEventRecord, cuEventRecord, streams::event_record, Needs::context),
      BOTH(cudaEventRecordWithFlags, cuEventRecordWithFlags, streams::record, Needs::context),
      BOTH(cudaEventSynchronize, cuEventSynchronize, streams::event_synchronize, Needs::context),
      ANSWER(cudaEventQuery, streams::event_query, Needs::initialised, Answers::after_failure),
      ANSWER(cuEventQuery, streams::event_query, Needs::context),
      BOTH(cudaEventElapsedTime, cuEventElapsedTime_v2, streams::event_elapsed_time,
           Needs::context),
      ANSWER_LIKE("cuEventElapsedTime", decltype(::cuEventElapsedTime_v2),
                  streams::event_elapsed_time, Needs::context),
      BOTH(cudaDeviceSynchronize, cuCtxSynchronize, streams::device_synchronize, Needs::context),
  };
}

}  // namespace warpmeter::runtime
