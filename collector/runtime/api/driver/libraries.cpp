// SPDX-License-Identifier: MIT
// The runtime's libraries: code that a program loads as it runs. They are the driver's.
#include <utility>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"

namespace warpmeter::runtime {

static_assert(static_cast<int>(cudaJitErrorLogBuffer) == CU_JIT_ERROR_LOG_BUFFER);

namespace libraries {
namespace {

cudaError_t kernel_set_attribute_for_device(Process& process, cudaKernel_t kernel,
                                            cudaFuncAttribute which, int value, int device) {
  if (device < 0 || device >= process.devices()) return cudaErrorInvalidDevice;
  if (process.kernel(kernel) == nullptr) return cudaErrorInvalidDeviceFunction;
  if (which < cudaFuncAttributeMaxDynamicSharedMemorySize || which >= cudaFuncAttributeMax) {
    return cudaErrorInvalidValue;
  }
  const OnDevice current(device);
  return launches::function_set_attribute(process, kernel, which, value);
}

}  // namespace
}  // namespace libraries

std::vector<Answer> library_answers() {
  return {
      ANSWER(cudaKernelSetAttributeForDevice, libraries::kernel_set_attribute_for_device,
             Needs::context),
  };
}

}  // namespace warpmeter::runtime
