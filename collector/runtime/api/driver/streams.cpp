// SPDX-License-Identifier: MIT
// The driver's streams and events: the runtime's by other names.
#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace api {
namespace {

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return driver_call("cuStreamGetCtx", Needs::context, [&](Process& p) {
    const Stream* stream = p.stream(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Context* green = green_of(handle, *stream);
    *context = reinterpret_cast<CUcontext>(green != nullptr ? green : Contexts::get().current());
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_stream_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuStreamGetCtx),
      WARPMETER_FORWARD(cuStreamCreate, cudaStreamCreateWithFlags),
      WARPMETER_FORWARD(cuStreamCreateWithPriority, cudaStreamCreateWithPriority),
      WARPMETER_FORWARD(cuStreamDestroy_v2, cudaStreamDestroy),
      WARPMETER_FORWARD(cuStreamSynchronize, cudaStreamSynchronize),
      WARPMETER_FORWARD(cuStreamQuery, cudaStreamQuery),
      WARPMETER_FORWARD(cuStreamGetPriority, cudaStreamGetPriority),
      WARPMETER_FORWARD(cuStreamGetFlags, cudaStreamGetFlags),
      WARPMETER_FORWARD(cuStreamGetId, cudaStreamGetId),
      WARPMETER_FORWARD(cuStreamGetDevice, cudaStreamGetDevice),
      WARPMETER_FORWARD(cuStreamWaitEvent, cudaStreamWaitEvent),
      WARPMETER_FORWARD(cuStreamAddCallback, cudaStreamAddCallback),
      WARPMETER_FORWARD(cuLaunchHostFunc, cudaLaunchHostFunc),
      WARPMETER_FORWARD(cuEventCreate, cudaEventCreateWithFlags),
      WARPMETER_FORWARD(cuEventDestroy_v2, cudaEventDestroy),
      WARPMETER_FORWARD(cuEventRecord, cudaEventRecord),
      WARPMETER_FORWARD(cuEventRecordWithFlags, cudaEventRecordWithFlags),
      WARPMETER_FORWARD(cuEventSynchronize, cudaEventSynchronize),
      WARPMETER_FORWARD(cuEventQuery, cudaEventQuery),
      WARPMETER_FORWARD(cuEventElapsedTime_v2, cudaEventElapsedTime),
      answer("cuEventElapsedTime",
             &Forward<"cuEventElapsedTime", "cudaEventElapsedTime", Needs::context,
                      decltype(::cuEventElapsedTime_v2), decltype(::cudaEventElapsedTime)>::call),
  };
  return table;
}

}  // namespace warpmeter::runtime
