// SPDX-License-Identifier: MIT
// Small questions to the driver: contexts, devices and streams in forms that few programs use, the
// block that fills the device, and captures.
#include <algorithm>

#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace questions {
namespace {

/// The current one for null; null: there is none.
const Context* active_context_of(CUcontext handle) {
  const auto* context = reinterpret_cast<const Context*>(handle);
  if (context == nullptr) return Contexts::get().current();
  return Contexts::get().holds(context) && context->is_active() ? context : nullptr;
}

/// The largest block whose multiprocessor has the most threads at once.
CUresult best_block(Process& process, int* grid, int* best, CUfunction function,
                    CUoccupancyB2DSize shared_of, std::size_t shared, int most, unsigned flags) {
  if (grid == nullptr || best == nullptr || function == nullptr || most < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  cudaFuncAttributes known{};
  const cudaError_t mistake = launches::function_get_attributes(process, &known, function);
  if (mistake != cudaSuccess) return as_driver_error(mistake);
  const auto fact = [&](cudaDeviceAttr which) {
    return attribute(which, process.arch(), current_device).value_or(0);
  };
  const int full = fact(cudaDevAttrMaxThreadsPerMultiProcessor), warp = fact(cudaDevAttrWarpSize);
  int limit = std::min(known.maxThreadsPerBlock, fact(cudaDevAttrMaxThreadsPerBlock));
  if (most > 0) limit = std::min(limit, most);
  int threads_at_best = 0, blocks_at_best = 0;
  for (int step = (limit + warp - 1) / warp * warp; step > 0 && threads_at_best < full;
       step -= warp) {
    const int block = std::min(step, limit);
    const std::size_t bytes = shared_of != nullptr ? shared_of(block) : shared;
    int blocks = 0;
    const cudaError_t wrong = launches::occupancy_max_active_blocks_per_multiprocessor_with_flags(
        process, &blocks, function, block, bytes, flags);
    if (wrong != cudaSuccess) return as_driver_error(wrong);
    if (blocks * block <= threads_at_best) continue;
    threads_at_best = blocks * block;
    blocks_at_best = blocks;
    *best = block;
  }
  *grid = blocks_at_best * fact(cudaDevAttrMultiProcessorCount);
  return CUDA_SUCCESS;
}

/// Banks of four bytes, as every device has had them since 2014.
bool is_bank_size(CUsharedconfig config) {
  return config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
         config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
}

CUresult context_get_device(CUdevice* device, CUcontext handle) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Context* context = active_context_of(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult context_synchronize(Process& process, CUcontext handle) {
  const Context* context = active_context_of(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const OnDevice device(context->device);
  return as_driver_error(streams::device_synchronize(process));
}

CUresult context_get_shared_mem_config(CUsharedconfig* config) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

CUresult context_set_shared_mem_config(CUsharedconfig config) {
  return is_bank_size(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult function_set_shared_mem_config(Process& process, CUfunction function,
                                        CUsharedconfig config) {
  if (process.kernel(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return is_bank_size(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Those are Windows's.
CUresult device_get_luid(char*, unsigned*, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }

CUresult device_get_properties(Process& process, CUdevprop* properties, CUdevice device) {
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device < 0 || device >= process.devices()) return CUDA_ERROR_INVALID_DEVICE;
  cudaDeviceProp known{};
  fill_properties(known, process.arch(), process.device_of_machine(device));
  *properties = {};
  properties->maxThreadsPerBlock = known.maxThreadsPerBlock;
  std::copy_n(known.maxThreadsDim, 3, properties->maxThreadsDim);
  std::copy_n(known.maxGridSize, 3, properties->maxGridSize);
  properties->sharedMemPerBlock = static_cast<int>(known.sharedMemPerBlock);
  properties->totalConstantMemory = static_cast<int>(known.totalConstMem);
  properties->SIMDWidth = known.warpSize;
  properties->memPitch = static_cast<int>(known.memPitch);
  properties->regsPerBlock = known.regsPerBlock;
  properties->clockRate = attribute(cudaDevAttrClockRate, process.arch(), device).value_or(0);
  properties->textureAlign = static_cast<int>(known.textureAlignment);
  return CUDA_SUCCESS;
}

CUresult occupancy_max_potential_block_size(Process& process, int* grid, int* block,
                                            CUfunction function, CUoccupancyB2DSize shared_of,
                                            std::size_t shared, int most) {
  return best_block(process, grid, block, function, shared_of, shared, most, 0);
}

CUresult stream_get_context_at_first(Process& process, CUstream handle, CUcontext* context) {
  const Stream* stream = process.stream(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Context* green = green_of(handle, *stream);
  *context = reinterpret_cast<CUcontext>(green != nullptr ? green : Contexts::get().current());
  return CUDA_SUCCESS;
}

CUresult stream_get_context(Process& process, CUstream handle, CUcontext* context,
                            CUgreenCtx* green) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Context* own = green_of(handle, *stream);
  Context* current = Contexts::get().current();
  const bool is_regular = own == nullptr && !current->is_green();
  *context = reinterpret_cast<CUcontext>(
      is_regular ? current : &Contexts::get().primary(device_of(handle, *stream)));
  if (green != nullptr) *green = reinterpret_cast<CUgreenCtx>(own);
  return CUDA_SUCCESS;
}

// The answer that differs between machines: as an H200 on PCI Express answered, whose link has no
// atomics of its own.

CUresult atomic_capabilities(bool has_devices, unsigned* capabilities,
                             const CUatomicOperation* operations, unsigned count) {
  if (!has_devices) return CUDA_ERROR_INVALID_DEVICE;
  if (capabilities == nullptr || operations == nullptr || count == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto is_known = [](int operation) {
    return operation >= 0 && operation < CU_ATOMIC_OPERATION_MAX;
  };
  if (!std::all_of(operations, operations + count, is_known)) return CUDA_ERROR_INVALID_VALUE;
  std::fill_n(capabilities, count, 0u);
  return CUDA_SUCCESS;
}
CUresult device_get_host_atomic_capabilities(Process& process, unsigned* capabilities,
                                             const CUatomicOperation* operations, unsigned count,
                                             CUdevice device) {
  return atomic_capabilities(process.has_device(device), capabilities, operations, count);
}
CUresult device_get_p2p_atomic_capabilities(Process& process, unsigned* capabilities,
                                            const CUatomicOperation* operations, unsigned count,
                                            CUdevice from, CUdevice to) {
  return atomic_capabilities(process.has_device(from) && process.has_device(to) && from != to,
                             capabilities, operations, count);
}

/// Shares of multiprocessors are for MPS.
CUresult device_get_exec_affinity_support(Process& process, int* is_supported,
                                          CUexecAffinityType type, CUdevice device) {
  if (!process.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (is_supported == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *is_supported = 0;
  return CUDA_SUCCESS;
}
CUresult context_get_exec_affinity(Process& process, CUexecAffinityParam* result,
                                   CUexecAffinityType type) {
  if (result == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  result->type = type;
  result->param.smCount.val = static_cast<unsigned>(
      *attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, process.arch(), current_device));
  return CUDA_SUCCESS;
}

// Captures, as the driver called them over the years.

CUresult begin_capture_at_first(Process& process, CUstream stream) {
  return as_driver_error(
      captures::stream_begin_capture(process, stream, cudaStreamCaptureModeGlobal));
}

CUresult capture_info(Process& process, CUstream stream, CUstreamCaptureStatus* status,
                      cuuint64_t* number, CUgraph* graph, const CUgraphNode** after,
                      std::size_t* count) {
  unsigned long long id = number != nullptr ? *number : 0;
  const cudaError_t result = captures::get_capture_info(
      process, stream, reinterpret_cast<cudaStreamCaptureStatus*>(status), &id, graph, after,
      nullptr, count);
  if (number != nullptr) *number = id;
  return as_driver_error(result);
}
CUresult capture_info_at_first(Process& process, CUstream stream, CUstreamCaptureStatus* status,
                               cuuint64_t* number) {
  return capture_info(process, stream, status, number, nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace questions

std::vector<Answer> driver_question_answers() {
  return {
      ANSWER(cuCtxGetDevice_v2, questions::context_get_device, Needs::initialised,
             No(CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT)),
      ANSWER(cuCtxSynchronize_v2, questions::context_synchronize, Needs::initialised),
      ANSWER_AS("cuCtxGetSharedMemConfig", questions::context_get_shared_mem_config,
                Needs::context),
      ANSWER_AS("cuCtxSetSharedMemConfig", questions::context_set_shared_mem_config,
                Needs::context),
      ANSWER_AS("cuFuncSetSharedMemConfig", questions::function_set_shared_mem_config,
                Needs::context),
      ANSWER(cuDeviceGetLuid, questions::device_get_luid, Needs::initialised),
      ANSWER_AS("cuDeviceGetProperties", questions::device_get_properties, Needs::initialised),
      ANSWER(cuOccupancyMaxPotentialBlockSize, questions::occupancy_max_potential_block_size,
             Needs::context),
      ANSWER(cuOccupancyMaxPotentialBlockSizeWithFlags, questions::best_block, Needs::context),
      ANSWER(cuStreamGetCtx, questions::stream_get_context_at_first, Needs::context),
      ANSWER(cuStreamGetCtx_v2, questions::stream_get_context, Needs::context),
      ANSWER(cuDeviceGetHostAtomicCapabilities, questions::device_get_host_atomic_capabilities,
             Needs::initialised),
      ANSWER(cudaDeviceGetHostAtomicCapabilities, questions::device_get_host_atomic_capabilities,
             Needs::context),
      ANSWER(cuDeviceGetP2PAtomicCapabilities, questions::device_get_p2p_atomic_capabilities,
             Needs::initialised),
      ANSWER(cudaDeviceGetP2PAtomicCapabilities, questions::device_get_p2p_atomic_capabilities,
             Needs::context),
      ANSWER(cuDeviceGetExecAffinitySupport, questions::device_get_exec_affinity_support,
             Needs::initialised),
      ANSWER(cuCtxGetExecAffinity, questions::context_get_exec_affinity, Needs::context),
      ANSWER_AS("cuStreamBeginCapture", questions::begin_capture_at_first, Needs::context),
      ANSWER_AS("cuStreamGetCaptureInfo", questions::capture_info_at_first, Needs::context),
      ANSWER_AS("cuStreamGetCaptureInfo_v2", questions::capture_info, Needs::context),
  };
}

}  // namespace warpmeter::runtime
