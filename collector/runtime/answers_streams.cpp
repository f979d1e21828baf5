// Streams, events, host functions, and waiting for them: all is done when it is given, so that
// nobody ever waits.
#include <chrono>

#include "collector/runtime/answer.h"
#include "collector/runtime/call.h"
#include "collector/runtime/device.h"
#include "collector/runtime/process.h"
#include "collector/runtime/submit.h"

namespace warpmeter::runtime {
namespace {

constexpr unsigned known_event_flags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

cudaError_t make_stream(Process& process, cudaStream_t* stream, unsigned flags, int priority) {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  *stream = reinterpret_cast<cudaStream_t>(process.make_stream(flags, priority));
  return cudaSuccess;
}

cudaError_t make_event(Process& process, cudaEvent_t* event, unsigned flags) {
  if (event == nullptr || (flags & ~known_event_flags) != 0) return cudaErrorInvalidValue;
  *event = reinterpret_cast<cudaEvent_t>(process.make_event(flags));
  return cudaSuccess;
}

cudaError_t record(Process& process, cudaEvent_t handle, cudaStream_t stream_handle) {
  Event* event = process.event(handle);
  Stream* stream = process.stream(stream_handle);
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) {
    event->captured_in = stream->capture;
    event->captured_after = stream->capture_after;
    return cudaSuccess;
  }
  return run(process, EventWork{event, true}, stream->number);
}

/// A stream that waits for what is being captured becomes a part of the capture.
cudaError_t wait(Process& process, cudaStream_t stream_handle, cudaEvent_t handle) {
  Event* event = process.event(handle);
  Stream* stream = process.stream(stream_handle);
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (event->captured_in == nullptr) return cudaSuccess;
  if (stream->capture != nullptr && stream->capture != event->captured_in) {
    return cudaErrorStreamCaptureMerge;
  }
  stream->capture = event->captured_in;
  for (Node* node : event->captured_after) stream->capture_after.push_back(node);
  return cudaSuccess;
}

cudaError_t wait_for_stream(Process& process, cudaStream_t handle) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) return cudaErrorStreamCaptureUnsupported;
  process.show_printed();
  return cudaSuccess;
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
    return p.remove_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&](Process& p) { return wait_for_stream(p, stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call("cudaStreamQuery", [&](Process& p) { return wait_for_stream(p, stream); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return call("cudaStreamGetPriority", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *priority = stream->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return call("cudaStreamGetFlags", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *flags = stream->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* number) {
  return call("cudaStreamGetId", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *number = stream->number;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return call("cudaStreamGetDevice", [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    *device = stream->device;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", [&](Process& p) { return wait(p, stream, event); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  return call("cudaStreamAddCallback", [&](Process& p) {
    if (p.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    if (callback == nullptr) return cudaErrorInvalidValue;
    const auto run_callback = [](void* given) {
      const std::unique_ptr<Callback> kept(static_cast<Callback*>(given));
      kept->function(kept->stream, cudaSuccess, kept->data);
    };
    return submit(p, stream, HostWork{run_callback, new Callback{callback, stream, data}});
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
  return call("cudaEventRecord", [&](Process& p) { return record(p, event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return call("cudaEventRecordWithFlags", [&](Process& p) { return record(p, event, stream); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&](Process& p) {
    p.show_printed();
    return p.event(event) != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&](Process& p) {
    return p.event(event) != nullptr ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

/// The time that really passed here: a CPU's, not a GPU's.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", [&](Process& p) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const Event* begin = p.event(from);
    const Event* end = p.event(to);
    if (begin == nullptr || end == nullptr || !begin->is_recorded || !end->is_recorded ||
        ((begin->flags | end->flags) & cudaEventDisableTiming) != 0) {
      return cudaErrorInvalidResourceHandle;
    }
    const std::chrono::duration<float, std::milli> passed = end->at - begin->at;
    *milliseconds = passed.count();
    p.say("the program's own times are those of the CPU that executed its kernels");
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [](Process& p) {
    bool is_captured = false;
    p.for_each_stream([&](const Stream& stream) { is_captured |= stream.capture != nullptr; });
    if (is_captured) return cudaErrorStreamCaptureUnsupported;
    p.show_printed();
    return cudaSuccess;
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
