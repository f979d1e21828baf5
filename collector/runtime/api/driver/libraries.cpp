// SPDX-License-Identifier: MIT
// The runtime's libraries: code that a program loads as it runs. They are the driver's.
#include <utility>

#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/device/device.h"

namespace warpmeter::runtime {

static_assert(static_cast<int>(cudaJitErrorLogBuffer) == CU_JIT_ERROR_LOG_BUFFER);

namespace api {
namespace {

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute which, int value,
                                            int device) {
  return call("cudaKernelSetAttributeForDevice", [&](Process& p) {
    if (device < 0 || device >= p.devices()) return cudaErrorInvalidDevice;
    if (kernel_of(p, kernel) == nullptr) return cudaErrorInvalidDeviceFunction;
    if (which < cudaFuncAttributeMaxDynamicSharedMemorySize || which >= cudaFuncAttributeMax) {
      return cudaErrorInvalidValue;
    }
    static auto* const set =
        runtime_function<decltype(::cudaFuncSetAttribute)>("cudaFuncSetAttribute");
    const int current = std::exchange(current_device, device);
    const cudaError_t result = set(kernel, which, value);
    current_device = current;
    return result;
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> library_answers() {
  static const Answer table[] = {
      WARPMETER_BACKWARD(cudaLibraryLoadData, cuLibraryLoadData),
      WARPMETER_BACKWARD(cudaLibraryLoadFromFile, cuLibraryLoadFromFile),
      WARPMETER_BACKWARD(cudaLibraryUnload, cuLibraryUnload),
      WARPMETER_BACKWARD(cudaLibraryGetKernel, cuLibraryGetKernel),
      WARPMETER_BACKWARD(cudaLibraryGetKernelCount, cuLibraryGetKernelCount),
      WARPMETER_BACKWARD(cudaLibraryEnumerateKernels, cuLibraryEnumerateKernels),
      WARPMETER_BACKWARD(cudaLibraryGetGlobal, cuLibraryGetGlobal),
      WARPMETER_BACKWARD(cudaLibraryGetManaged, cuLibraryGetManaged),
      WARPMETER_BACKWARD(cudaLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction),
      WARPMETER_ANSWER(cudaKernelSetAttributeForDevice),
      WARPMETER_BACKWARD(cudaFuncGetParamInfo, cuKernelGetParamInfo),
  };
  return table;
}

}  // namespace warpmeter::runtime
