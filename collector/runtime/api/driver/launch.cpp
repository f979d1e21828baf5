// SPDX-License-Identifier: MIT
// The driver's launches, and how many blocks a multiprocessor holds.
#include <vector>

#include "collector/model/machine/program.h"
#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace driver_launches {
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
CUresult launch_with(Process& process, CUfunction function, void** given, void** extra,
                     const Start& start) {
  Kernel* kernel = process.kernel(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  std::vector<void*> pointers;
  std::vector<std::byte> packed;
  const CUresult mistake = pointers_of(*kernel, given, extra, pointers, packed);
  if (mistake != CUDA_SUCCESS) return mistake;
  return as_driver_error(start(pointers.data()));
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

CUresult launch_cooperative_kernel(Process& process, CUfunction function, unsigned grid_x,
                                   unsigned grid_y, unsigned grid_z, unsigned block_x,
                                   unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void** arguments) {
  return launch_with(process, function, arguments, nullptr, [&](void** pointers) {
    return launches::launch_cooperative_kernel(process, function, dim3(grid_x, grid_y, grid_z),
                                               dim3(block_x, block_y, block_z), pointers, shared,
                                               stream);
  });
}

CUresult launch_kernel_ex(Process& process, const CUlaunchConfig* config, CUfunction function,
                          void** arguments, void** extra) {
  return launch_with(process, function, arguments, extra, [&](void** pointers) {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = as_runtime(*config);
    return launches::launch_kernel_ex_c(process, &same, function, pointers);
  });
}

/// `ask` is the runtime's question about a kernel and how it is launched.
CUresult ask_of_clusters(Process& process, decltype(launches::occupancy_max_active_clusters)* ask,
                         int* result, CUfunction function, const CUlaunchConfig* config) {
  if (config == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (process.kernel(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const cudaLaunchConfig_t same = as_runtime(*config);
  return as_driver_error(ask(process, result, function, &same));
}
CUresult occupancy_max_active_clusters(Process& process, int* clusters, CUfunction function,
                                       const CUlaunchConfig* config) {
  return ask_of_clusters(process, launches::occupancy_max_active_clusters, clusters, function,
                         config);
}
CUresult occupancy_max_potential_cluster_size(Process& process, int* size, CUfunction function,
                                              const CUlaunchConfig* config) {
  return ask_of_clusters(process, launches::occupancy_max_potential_cluster_size, size, function,
                         config);
}

}  // namespace

CUresult launch_kernel(Process& process, CUfunction function, unsigned grid_x, unsigned grid_y,
                       unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                       unsigned shared, CUstream stream, void** arguments, void** extra) {
  return launch_with(process, function, arguments, extra, [&](void** pointers) {
    return launch(process, function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z),
                  pointers, shared, stream);
  });
}

}  // namespace driver_launches

std::vector<Answer> driver_launch_answers() {
  return {
      ANSWER(cuLaunchKernel, driver_launches::launch_kernel, Needs::context),
      ANSWER(cuLaunchCooperativeKernel, driver_launches::launch_cooperative_kernel, Needs::context),
      ANSWER(cuLaunchKernelEx, driver_launches::launch_kernel_ex, Needs::context),
      ANSWER(cuOccupancyMaxActiveClusters, driver_launches::occupancy_max_active_clusters,
             Needs::context),
      ANSWER(cuOccupancyMaxPotentialClusterSize,
             driver_launches::occupancy_max_potential_cluster_size, Needs::context),
  };
}

}  // namespace warpmeter::runtime
