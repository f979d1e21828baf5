// SPDX-License-Identifier: MIT
// Launches as before CUDA 4: a function is told its block, its shared memory and its parameters one
// by one, and is launched as it was told.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "collector/runtime/api/driver_call.h"

namespace warpmeter::runtime {
namespace {

struct Told {
  int x = 1, y = 1, z = 1;
  unsigned shared = 0;
  std::vector<std::byte> parameters;
};

Told& told_to(const Kernel* kernel) {
  static auto* all = new std::map<const Kernel*, Told>;
  return (*all)[kernel];
}

/// A call about a function.
template <class Body>
CUresult function_call(std::string_view name, CUfunction function, const Body& body) {
  return driver_call(name, Needs::context, [&](Process& process) {
    const Kernel* kernel = kernel_of(process, function);
    return kernel != nullptr ? body(told_to(kernel)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult put_parameter(Told& told, int offset, const void* value, std::size_t bytes) {
  constexpr std::size_t most = 4096;
  const auto at = static_cast<std::size_t>(offset);
  if (offset < 0 || value == nullptr || bytes > most || at > most - bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  told.parameters.resize(std::max(told.parameters.size(), at + bytes));
  std::memcpy(told.parameters.data() + at, value, bytes);
  return CUDA_SUCCESS;
}

CUresult launch(std::string_view name, CUfunction function, int width, int height,
                CUstream stream) {
  return function_call(name, function, [&](Told& told) {
    static auto* const run = runtime_function<decltype(::cuLaunchKernel)>("cuLaunchKernel");
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::size_t bytes = told.parameters.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, told.parameters.data(),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    return run(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
               static_cast<unsigned>(told.x), static_cast<unsigned>(told.y),
               static_cast<unsigned>(told.z), told.shared, stream, nullptr,
               bytes > 0 ? extra : nullptr);
  });
}

}  // namespace

namespace api {
namespace {

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return function_call("cuFuncSetBlockShape", function, [&](Told& told) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    told.x = x;
    told.y = y;
    told.z = z;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return function_call("cuFuncSetSharedSize", function, [&](Told& told) {
    told.shared = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return function_call("cuParamSetSize", function, [&](Told& told) {
    constexpr unsigned most = 4096;
    if (bytes > most) return CUDA_ERROR_INVALID_VALUE;
    told.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return function_call("cuParamSeti", function, [&](Told& told) {
    return put_parameter(told, offset, &value, sizeof value);
  });
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return function_call("cuParamSetf", function, [&](Told& told) {
    return put_parameter(told, offset, &value, sizeof value);
  });
}

CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned bytes) {
  return function_call("cuParamSetv", function,
                       [&](Told& told) { return put_parameter(told, offset, value, bytes); });
}

CUresult cuLaunch(CUfunction function) { return launch("cuLaunch", function, 1, 1, nullptr); }

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch("cuLaunchGrid", function, width, height, nullptr);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch("cuLaunchGridAsync", function, width, height, stream);
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_earlier_answers() {
  static const Answer table[] = {
      WARPMETER_UNDECLARED(cuFuncSetBlockShape),
      WARPMETER_UNDECLARED(cuFuncSetSharedSize),
      WARPMETER_UNDECLARED(cuParamSetSize),
      WARPMETER_UNDECLARED(cuParamSeti),
      WARPMETER_UNDECLARED(cuParamSetf),
      WARPMETER_UNDECLARED(cuParamSetv),
      WARPMETER_UNDECLARED(cuLaunch),
      WARPMETER_UNDECLARED(cuLaunchGrid),
      WARPMETER_UNDECLARED(cuLaunchGridAsync),
  };
  return table;
}

}  // namespace warpmeter::runtime
