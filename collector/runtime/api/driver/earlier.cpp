// SPDX-License-Identifier: MIT
// Launches as before CUDA 4: a function is told its block, its shared memory and its parameters one
// by one, and is launched as it was told.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace earlier_launches {
namespace {

struct Told {
  int x = 1, y = 1, z = 1;
  unsigned shared = 0;
  std::vector<std::byte> parameters;
};

struct ToldKernels {
  std::map<const Kernel*, Told> all;
  void reset() { all.clear(); }
};

/// A call about a function.
template <class Body>
CUresult function_call(Process& process, CUfunction function, const Body& body) {
  const Kernel* kernel = process.kernel(function);
  return kernel != nullptr ? body(process.state<ToldKernels>().all[kernel])
                           : CUDA_ERROR_INVALID_HANDLE;
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

CUresult launch(Process& process, CUfunction function, int width, int height, CUstream stream) {
  return function_call(process, function, [&](Told& told) {
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::size_t bytes = told.parameters.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, told.parameters.data(),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    return driver_launches::launch_kernel(
        process, function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
        static_cast<unsigned>(told.x), static_cast<unsigned>(told.y), static_cast<unsigned>(told.z),
        told.shared, stream, nullptr, bytes > 0 ? extra : nullptr);
  });
}

CUresult function_set_block_shape(Process& process, CUfunction function, int x, int y, int z) {
  return function_call(process, function, [&](Told& told) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    told.x = x;
    told.y = y;
    told.z = z;
    return CUDA_SUCCESS;
  });
}

CUresult function_set_shared_size(Process& process, CUfunction function, unsigned bytes) {
  return function_call(process, function, [&](Told& told) {
    told.shared = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult param_set_size(Process& process, CUfunction function, unsigned bytes) {
  return function_call(process, function, [&](Told& told) {
    constexpr unsigned most = 4096;
    if (bytes > most) return CUDA_ERROR_INVALID_VALUE;
    told.parameters.resize(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult param_seti(Process& process, CUfunction function, int offset, unsigned value) {
  return function_call(process, function, [&](Told& told) {
    return put_parameter(told, offset, &value, sizeof value);
  });
}

CUresult param_setf(Process& process, CUfunction function, int offset, float value) {
  return function_call(process, function, [&](Told& told) {
    return put_parameter(told, offset, &value, sizeof value);
  });
}

CUresult param_setv(Process& process, CUfunction function, int offset, void* value,
                    unsigned bytes) {
  return function_call(process, function,
                       [&](Told& told) { return put_parameter(told, offset, value, bytes); });
}

CUresult launch_of_api(Process& process, CUfunction function) {
  return launch(process, function, 1, 1, nullptr);
}

CUresult launch_grid(Process& process, CUfunction function, int width, int height) {
  return launch(process, function, width, height, nullptr);
}

CUresult launch_grid_async(Process& process, CUfunction function, int width, int height,
                           CUstream stream) {
  return launch(process, function, width, height, stream);
}

}  // namespace
}  // namespace earlier_launches

std::vector<Answer> driver_earlier_answers() {
  return {
      ANSWER_AS("cuFuncSetBlockShape", earlier_launches::function_set_block_shape, Needs::context),
      ANSWER_AS("cuFuncSetSharedSize", earlier_launches::function_set_shared_size, Needs::context),
      ANSWER_AS("cuParamSetSize", earlier_launches::param_set_size, Needs::context),
      ANSWER_AS("cuParamSeti", earlier_launches::param_seti, Needs::context),
      ANSWER_AS("cuParamSetf", earlier_launches::param_setf, Needs::context),
      ANSWER_AS("cuParamSetv", earlier_launches::param_setv, Needs::context),
      ANSWER_AS("cuLaunch", earlier_launches::launch_of_api, Needs::context),
      ANSWER_AS("cuLaunchGrid", earlier_launches::launch_grid, Needs::context),
      ANSWER_AS("cuLaunchGridAsync", earlier_launches::launch_grid_async, Needs::context),
  };
}

}  // namespace warpmeter::runtime
