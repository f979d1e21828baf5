// SPDX-License-Identifier: MIT
// The log of the driver, which tells in words why calls failed. warpmeter tells the person about
// mistakes here, so that the program's log is empty and those who listen to it hear nothing.
#include <fstream>
#include <set>

#include "collector/runtime/api/driver_call.h"

namespace warpmeter::runtime {
namespace {

/// Those who listen, by number.
std::set<std::uintptr_t>& listeners() {
  static auto* all = new std::set<std::uintptr_t>;
  return *all;
}

}  // namespace

namespace api {
namespace {

CUresult cuLogsRegisterCallback(CUlogsCallback function, void*, CUlogsCallbackHandle* result) {
  return driver_call("cuLogsRegisterCallback", Needs::nothing, [&](Process&) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    static std::uintptr_t last = 0;
    listeners().insert(++last);
    if (result != nullptr) *result = reinterpret_cast<CUlogsCallbackHandle>(last);
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return driver_call("cuLogsUnregisterCallback", Needs::nothing, [&](Process&) {
    return listeners().erase(reinterpret_cast<std::uintptr_t>(handle)) == 1
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuLogsCurrent(CUlogIterator* iterator, unsigned flags) {
  return driver_call("cuLogsCurrent", Needs::nothing, [&](Process&) {
    if (iterator == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *iterator = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsDumpToFile(CUlogIterator*, const char* path, unsigned flags) {
  return driver_call("cuLogsDumpToFile", Needs::nothing, [&](Process&) {
    if (path == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return std::ofstream(path) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator*, char* buffer, std::size_t* size, unsigned flags) {
  return driver_call("cuLogsDumpToMemory", Needs::nothing, [&](Process&) {
    if (buffer == nullptr || size == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (*size > 0) *buffer = '\0';
    *size = 0;
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> log_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuLogsRegisterCallback),
      WARPMETER_ANSWER(cuLogsUnregisterCallback),
      WARPMETER_ANSWER(cuLogsCurrent),
      WARPMETER_ANSWER(cuLogsDumpToFile),
      WARPMETER_ANSWER(cuLogsDumpToMemory),
      WARPMETER_BACKWARD(cudaLogsRegisterCallback, cuLogsRegisterCallback),
      WARPMETER_BACKWARD(cudaLogsUnregisterCallback, cuLogsUnregisterCallback),
      WARPMETER_BACKWARD(cudaLogsCurrent, cuLogsCurrent),
      WARPMETER_BACKWARD(cudaLogsDumpToFile, cuLogsDumpToFile),
      WARPMETER_BACKWARD(cudaLogsDumpToMemory, cuLogsDumpToMemory),
  };
  return table;
}

}  // namespace warpmeter::runtime
