// SPDX-License-Identifier: MIT
// Streams, events, host functions, and waiting for them.
#include <algorithm>
#include <chrono>

#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/memory/event_page.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
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

}  // namespace

namespace api {
namespace {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call("cudaStreamCreate", [&](Process& p) { return make_stream(p, stream, 0, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreateWithFlags",
              [&](Process& p) { return make_stream(p, stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call("cudaStreamCreateWithPriority",
              [&](Process& p) { return make_stream(p, stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", [&](Process& p) {
    Stream* known = p.stream(stream);
    const bool is_default = static_cast<const void*>(stream) != known;
    if (known != nullptr && !is_default) leave_capture(p, *known);
    return p.remove_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&](Process& p) {
    const cudaError_t mistake = unsafe_to_ask(p, p.stream(stream));
    return mistake != cudaSuccess ? mistake : wait_for_stream(p, stream);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call("cudaStreamQuery", [&](Process& p) {
    const Stream* known = p.stream(stream);
    if (const cudaError_t mistake = unsafe_to_ask(p, known)) return mistake;
    if (known != nullptr && known->capture == nullptr && !is_done(*known)) {
      return cudaErrorNotReady;
    }
    return wait_for_stream(p, stream);
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return call("cudaStreamGetPriority", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = stream->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return call("cudaStreamGetFlags", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = stream->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* number) {
  return call("cudaStreamGetId", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (number == nullptr) return cudaErrorInvalidValue;
    *number = stream->number;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return call("cudaStreamGetDevice", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = stream->device;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call("cudaStreamWaitEvent", [&](Process& p) { return wait(p, stream, event, flags); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return call("cudaStreamAddCallback", [&](Process& p) {
    if (p.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    const auto run_callback = [](void* given) {
      const std::unique_ptr<Callback> kept(static_cast<Callback*>(given));
      kept->function(kept->stream, Process::get().last_failure(), kept->data);
    };
    if (p.stream(stream)->capture != nullptr) return forbidden_in_capture(*p.stream(stream));
    return submit(p, stream, HostWork{run_callback, new Callback{callback, stream, data}, true});
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call("cudaLaunchHostFunc", [&](Process& p) {
    if (function == nullptr) return cudaErrorInvalidValue;
    return submit(p, stream, HostWork{function, data});
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call("cudaEventCreate", [&](Process& p) { return make_event(p, event, 0); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreateWithFlags", [&](Process& p) { return make_event(p, event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", [&](Process& p) {
    return p.remove_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", [&](Process& p) { return record(p, event, stream, 0); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return call("cudaEventRecordWithFlags",
              [&](Process& p) { return record(p, event, stream, flags); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call("cudaEventSynchronize", [&](Process& p) {
    const Event* event = p.event(handle);
    const cudaError_t mistake = event_mistake(p, event);
    if (mistake != cudaSuccess) return mistake;
    wait_for(p, *event);
    p.show_printed();
    return p.surfaced_error();
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call_always("cudaEventQuery", [&](Process& p) {
    // A wrong event is found before what a kernel has done.
    const Event* event = p.event(handle);
    if (event != nullptr && p.surfaced_error() != cudaSuccess) return p.surfaced_error();
    const cudaError_t mistake = event_mistake(p, event);
    if (mistake != cudaSuccess) return mistake;
    if (!is_done(*event)) return cudaErrorNotReady;
    if (Races* races = p.races()) races->host_knows(event->known());
    return cudaSuccess;
  });
}

/// The time that really passed here: a CPU's, not a GPU's.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", [&](Process& p) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const Event* begin = p.event(from);
    const Event* end = p.event(to);
    const auto refused = [&](const char* why) {
      return p.refuse(cudaErrorInvalidResourceHandle, "failed call", [&] { return why; });
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
    p.say("the program's own times are those of the CPU that executed its kernels");
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [](Process& p) {
    const cudaError_t mistake = forbidden_in_capture(p, current_device);
    if (mistake != cudaSuccess) return mistake;
    wait_for_device(p, current_device);
    p.show_printed();
    return p.surfaced_error();
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> stream_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cudaStreamCreate),
      WARPMETER_ANSWER(cudaStreamCreateWithFlags),
      WARPMETER_ANSWER(cudaStreamCreateWithPriority),
      WARPMETER_ANSWER(cudaStreamDestroy),
      WARPMETER_ANSWER(cudaStreamSynchronize),
      WARPMETER_ANSWER(cudaStreamQuery),
      WARPMETER_ANSWER(cudaStreamGetPriority),
      WARPMETER_ANSWER(cudaStreamGetFlags),
      WARPMETER_ANSWER(cudaStreamGetId),
      WARPMETER_ANSWER(cudaStreamGetDevice),
      WARPMETER_ANSWER(cudaStreamWaitEvent),
      WARPMETER_ANSWER(cudaStreamAddCallback),
      WARPMETER_ANSWER(cudaLaunchHostFunc),
      WARPMETER_ANSWER(cudaEventCreate),
      WARPMETER_ANSWER(cudaEventCreateWithFlags),
      WARPMETER_ANSWER(cudaEventDestroy),
      WARPMETER_ANSWER(cudaEventRecord),
      WARPMETER_ANSWER(cudaEventRecordWithFlags),
      WARPMETER_ANSWER(cudaEventSynchronize),
      WARPMETER_ANSWER(cudaEventQuery),
      WARPMETER_ANSWER(cudaEventElapsedTime),
      WARPMETER_ANSWER(cudaDeviceSynchronize),
  };
  return table;
}

}  // namespace warpmeter::runtime
