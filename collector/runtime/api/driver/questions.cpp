// SPDX-License-Identifier: MIT
// Small questions to the driver: contexts, devices and streams in forms that few programs use, the
// block that fills the device, and captures.
#include <algorithm>
#include <functional>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

/// The current one for null; null: there is none.
const Context* active_context_of(CUcontext handle) {
  const auto* context = reinterpret_cast<const Context*>(handle);
  if (context == nullptr) return Contexts::get().current();
  return Contexts::get().holds(context) && context->is_active() ? context : nullptr;
}

/// The largest block whose multiprocessor has the most threads at once.
CUresult best_block(int* grid, int* best, CUfunction function, CUoccupancyB2DSize shared_of,
                    std::size_t shared, int most, unsigned flags) {
  static auto* const ask =
      runtime_function<decltype(::cudaFuncGetAttributes)>("cudaFuncGetAttributes");
  static auto* const count =
      runtime_function<decltype(::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)>(
          "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags");
  if (grid == nullptr || best == nullptr || function == nullptr || most < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  cudaFuncAttributes known{};
  const cudaError_t mistake = ask(&known, function);
  if (mistake != cudaSuccess) return as_driver_error(mistake);
  Process& process = Process::get();
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
    const cudaError_t wrong = count(&blocks, function, block, bytes, flags);
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

}  // namespace

namespace api {
namespace {

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return driver_call("cuCtxGetDevice", Needs::initialised, [&](Process&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Context* context = active_context_of(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *device = context->device;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return driver_call("cuCtxSynchronize", Needs::initialised, [&](Process&) {
    static auto* const wait =
        runtime_function<decltype(::cudaDeviceSynchronize)>("cudaDeviceSynchronize");
    const Context* context = active_context_of(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const int before = std::exchange(current_device, context->device);
    const cudaError_t result = wait();
    current_device = before;
    return as_driver_error(result);
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return driver_call("cuCtxGetSharedMemConfig", Needs::context, [&](Process&) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return driver_call("cuCtxSetSharedMemConfig", Needs::context, [&](Process&) {
    return is_bank_size(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  return driver_call("cuFuncSetSharedMemConfig", Needs::context, [&](Process& p) {
    if (kernel_of(p, function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return is_bank_size(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

/// Those are Windows's.
CUresult cuDeviceGetLuid(char*, unsigned*, CUdevice) {
  return driver_call("cuDeviceGetLuid", Needs::initialised,
                     [](Process&) { return CUDA_ERROR_NOT_SUPPORTED; });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return driver_call("cuDeviceGetProperties", Needs::initialised, [&](Process& p) {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device < 0 || device >= p.devices()) return CUDA_ERROR_INVALID_DEVICE;
    cudaDeviceProp known{};
    fill_properties(known, p.arch(), p.device_of_machine(device));
    *properties = {};
    properties->maxThreadsPerBlock = known.maxThreadsPerBlock;
    std::copy_n(known.maxThreadsDim, 3, properties->maxThreadsDim);
    std::copy_n(known.maxGridSize, 3, properties->maxGridSize);
    properties->sharedMemPerBlock = static_cast<int>(known.sharedMemPerBlock);
    properties->totalConstantMemory = static_cast<int>(known.totalConstMem);
    properties->SIMDWidth = known.warpSize;
    properties->memPitch = static_cast<int>(known.memPitch);
    properties->regsPerBlock = known.regsPerBlock;
    properties->clockRate = attribute(cudaDevAttrClockRate, p.arch(), device).value_or(0);
    properties->textureAlign = static_cast<int>(known.textureAlignment);
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, std::size_t shared,
                                          int most) {
  return driver_call("cuOccupancyMaxPotentialBlockSize", Needs::context, [&](Process&) {
    return best_block(grid, block, function, shared_of, shared, most, 0);
  });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int most, unsigned flags) {
  return driver_call("cuOccupancyMaxPotentialBlockSizeWithFlags", Needs::context, [&](Process&) {
    return best_block(grid, block, function, shared_of, shared, most, flags);
  });
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  return driver_call("cuStreamGetCtx", Needs::context, [&](Process& p) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Stream* stream = p.stream(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Context* own = green_of(handle, *stream);
    Context* current = Contexts::get().current();
    const bool is_regular = own == nullptr && !current->is_green();
    *context = reinterpret_cast<CUcontext>(
        is_regular ? current : &Contexts::get().primary(device_of(handle, *stream)));
    if (green != nullptr) *green = reinterpret_cast<CUgreenCtx>(own);
    return CUDA_SUCCESS;
  });
}

// The answer that differs between machines: as an H200 on PCI Express answered, whose link has no
// atomics of its own.

CUresult atomic_capabilities(std::string_view name, unsigned* capabilities,
                             const CUatomicOperation* operations, unsigned count,
                             const std::function<bool(const Process&)>& has_devices) {
  return driver_call(name, Needs::initialised, [&](Process& p) {
    if (!has_devices(p)) return CUDA_ERROR_INVALID_DEVICE;
    if (capabilities == nullptr || operations == nullptr || count == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const auto is_known = [](int operation) {
      return operation >= 0 && operation < CU_ATOMIC_OPERATION_MAX;
    };
    if (!std::all_of(operations, operations + count, is_known)) return CUDA_ERROR_INVALID_VALUE;
    std::fill_n(capabilities, count, 0u);
    return CUDA_SUCCESS;
  });
}
CUresult cuDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                           const CUatomicOperation* operations, unsigned count,
                                           CUdevice device) {
  return atomic_capabilities("cuDeviceGetHostAtomicCapabilities", capabilities, operations, count,
                             [&](const Process& p) { return p.has_device(device); });
}
CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* capabilities,
                                          const CUatomicOperation* operations, unsigned count,
                                          CUdevice from, CUdevice to) {
  return atomic_capabilities(
      "cuDeviceGetP2PAtomicCapabilities", capabilities, operations, count,
      [&](const Process& p) { return p.has_device(from) && p.has_device(to) && from != to; });
}

/// Shares of multiprocessors are for MPS.
CUresult cuDeviceGetExecAffinitySupport(int* is_supported, CUexecAffinityType type,
                                        CUdevice device) {
  return driver_call("cuDeviceGetExecAffinitySupport", Needs::initialised, [&](Process& p) {
    if (!p.has_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (is_supported == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *is_supported = 0;
    return CUDA_SUCCESS;
  });
}
CUresult cuCtxGetExecAffinity(CUexecAffinityParam* result, CUexecAffinityType type) {
  return driver_call("cuCtxGetExecAffinity", Needs::context, [&](Process& p) {
    if (result == nullptr || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    result->type = type;
    result->param.smCount.val = static_cast<unsigned>(
        *attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, p.arch(), current_device));
    return CUDA_SUCCESS;
  });
}

// Captures, as the driver called them over the years.

CUresult begin_capture_at_first(CUstream stream) {
  return driver_call("cuStreamBeginCapture", Needs::context, [&](Process&) {
    static auto* const begin =
        runtime_function<decltype(::cudaStreamBeginCapture)>("cudaStreamBeginCapture");
    return as_driver_error(begin(stream, cudaStreamCaptureModeGlobal));
  });
}

CUresult capture_info(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* number,
                      CUgraph* graph, const CUgraphNode** after, std::size_t* count) {
  return driver_call("cuStreamGetCaptureInfo", Needs::context, [&](Process&) {
    static auto* const ask =
        runtime_function<decltype(::cudaStreamGetCaptureInfo)>("cudaStreamGetCaptureInfo");
    unsigned long long id = number != nullptr ? *number : 0;
    const cudaError_t result = ask(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status), &id,
                                   graph, after, nullptr, count);
    if (number != nullptr) *number = id;
    return as_driver_error(result);
  });
}
CUresult capture_info_at_first(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* number) {
  return capture_info(stream, status, number, nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_question_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuCtxGetDevice_v2),
      WARPMETER_ANSWER(cuCtxSynchronize_v2),
      WARPMETER_UNDECLARED(cuCtxGetSharedMemConfig),
      WARPMETER_UNDECLARED(cuCtxSetSharedMemConfig),
      WARPMETER_UNDECLARED(cuFuncSetSharedMemConfig),
      WARPMETER_ANSWER(cuDeviceGetLuid),
      WARPMETER_UNDECLARED(cuDeviceGetProperties),
      WARPMETER_FORWARD_IN(cuDeviceGetP2PAttribute, cudaDeviceGetP2PAttribute, initialised),
      WARPMETER_FORWARD_IN(cuDeviceGetByPCIBusId, cudaDeviceGetByPCIBusId, initialised),
      WARPMETER_ANSWER(cuOccupancyMaxPotentialBlockSize),
      WARPMETER_ANSWER(cuOccupancyMaxPotentialBlockSizeWithFlags),
      WARPMETER_ANSWER(cuStreamGetCtx_v2),
      WARPMETER_ANSWER(cuDeviceGetHostAtomicCapabilities),
      WARPMETER_ANSWER(cuDeviceGetP2PAtomicCapabilities),
      WARPMETER_BACKWARD(cudaDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities),
      WARPMETER_BACKWARD(cudaDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities),
      WARPMETER_ANSWER(cuDeviceGetExecAffinitySupport),
      WARPMETER_ANSWER(cuCtxGetExecAffinity),
      answer("cuStreamBeginCapture", &api::begin_capture_at_first),
      answer("cuStreamGetCaptureInfo", &api::capture_info_at_first),
      answer("cuStreamGetCaptureInfo_v2", &api::capture_info),
      WARPMETER_FORWARD(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo),
  };
  return table;
}

}  // namespace warpmeter::runtime
