// SPDX-License-Identifier: MIT
// The driver's launches, and how many blocks a multiprocessor holds.
#include <vector>

#include "collector/model/machine/program.h"
#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

/// The arguments as pointers, also where they came as one stretch of bytes, which is copied to
/// `packed`: it may be shorter than they are, and what lies behind it is not the program's.
CUresult pointers_of(Kernel& kernel, void** given, void** extra, std::vector<void*>& pointers,
                     std::vector<std::byte>& packed) {
  const model::Program* program = kernel.program();
  if (program == nullptr) return CUDA_SUCCESS;  // the launch will say why
  if (given != nullptr) {
    if (extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    pointers.assign(given, given + program->parameters.size());
    return CUDA_SUCCESS;
  }
  std::byte* bytes = nullptr;
  std::size_t size = 0;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) bytes = static_cast<std::byte*>(extra[1]);
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<std::size_t*>(extra[1]);
  }
  if (size > program->parameter_bytes) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (program->parameters.empty()) return CUDA_SUCCESS;
  if (bytes == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
  packed.assign(bytes, bytes + size);
  packed.resize(program->parameter_bytes);
  for (const model::Parameter& wanted : program->parameters) {
    pointers.push_back(packed.data() + wanted.offset);
  }
  return CUDA_SUCCESS;
}

/// `start(pointers)` launches.
template <class Start>
CUresult launch_with(std::string_view name, CUfunction function, void** given, void** extra,
                     const Start& start) {
  return driver_call(name, Needs::context, [&](Process& p) {
    Kernel* kernel = kernel_of(p, function);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    std::vector<void*> pointers;
    std::vector<std::byte> packed;
    const CUresult mistake = pointers_of(*kernel, given, extra, pointers, packed);
    if (mistake != CUDA_SUCCESS) return mistake;
    return as_driver_error(start(p, pointers.data()));
  });
}

cudaLaunchConfig_t as_runtime(const CUlaunchConfig& config) {
  cudaLaunchConfig_t same{};
  same.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  same.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  same.dynamicSmemBytes = config.sharedMemBytes;
  same.stream = config.hStream;
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  same.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  same.numAttrs = config.numAttrs;
  return same;
}

}  // namespace

namespace api {
namespace {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** arguments, void** extra) {
  return launch_with("cuLaunchKernel", function, arguments, extra,
                     [&](Process& p, void** pointers) {
                       return launch(p, function, dim3(grid_x, grid_y, grid_z),
                                     dim3(block_x, block_y, block_z), pointers, shared, stream);
                     });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** arguments) {
  return launch_with(
      "cuLaunchCooperativeKernel", function, arguments, nullptr, [&](Process&, void** pointers) {
        static auto* const start =
            runtime_function<cudaError_t(const void*, dim3, dim3, void**, std::size_t,
                                         cudaStream_t)>("cudaLaunchCooperativeKernel");
        return start(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z),
                     pointers, shared, stream);
      });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void** extra) {
  return launch_with("cuLaunchKernelEx", function, arguments, extra,
                     [&](Process&, void** pointers) {
                       if (config == nullptr) return cudaErrorInvalidValue;
                       static auto* const start =
                           runtime_function<decltype(::cudaLaunchKernelExC)>("cudaLaunchKernelExC");
                       const cudaLaunchConfig_t same = as_runtime(*config);
                       return start(&same, function, pointers);
                     });
}

/// `ask` is the runtime's question about a kernel and how it is launched.
CUresult ask_of_clusters(std::string_view name, decltype(::cudaOccupancyMaxActiveClusters)* ask,
                         int* result, CUfunction function, const CUlaunchConfig* config) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (config == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (kernel_of(p, function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const cudaLaunchConfig_t same = as_runtime(*config);
    return as_driver_error(ask(result, function, &same));
  });
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  static auto* const ask = runtime_function<decltype(::cudaOccupancyMaxActiveClusters)>(
      "cudaOccupancyMaxActiveClusters");
  return ask_of_clusters("cuOccupancyMaxActiveClusters", ask, clusters, function, config);
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                            const CUlaunchConfig* config) {
  static auto* const ask = runtime_function<decltype(::cudaOccupancyMaxPotentialClusterSize)>(
      "cudaOccupancyMaxPotentialClusterSize");
  return ask_of_clusters("cuOccupancyMaxPotentialClusterSize", ask, size, function, config);
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_launch_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuLaunchKernel),
      WARPMETER_ANSWER(cuLaunchCooperativeKernel),
      WARPMETER_ANSWER(cuLaunchKernelEx),
      WARPMETER_ANSWER(cuOccupancyMaxActiveClusters),
      WARPMETER_ANSWER(cuOccupancyMaxPotentialClusterSize),
      WARPMETER_FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor,
                        cudaOccupancyMaxActiveBlocksPerMultiprocessor),
      WARPMETER_FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags),
      WARPMETER_FORWARD(cuOccupancyAvailableDynamicSMemPerBlock,
                        cudaOccupancyAvailableDynamicSMemPerBlock),
  };
  return table;
}

}  // namespace warpmeter::runtime
