// SPDX-License-Identifier: MIT
#include "collector/runtime/api/driver/node_forms.h"

#include <bit>
#include <cstring>

#include "collector/runtime/api/row.h"
#include "collector/runtime/memory/array.h"

namespace warpmeter::runtime {
namespace {

const Array* array_of(const void* handle) { return static_cast<const Array*>(handle); }

bool is_of_host(CUmemorytype type) { return type == CU_MEMORYTYPE_HOST; }

cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (is_of_host(to)) return is_of_host(from) ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
  return is_of_host(from) ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

/// One side of a copy. The driver counts bytes, the runtime elements where a side is an array.
struct Side {
  CUmemorytype type;
  void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x, y, z, pitch, height;

  bool is_complete() const {
    const bool is_known = type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED;
    return is_known && (type != CU_MEMORYTYPE_ARRAY || array != nullptr);
  }
  void put(cudaArray_t& to_array, cudaPitchedPtr& pointer, cudaPos& position, std::size_t width,
           std::size_t rows) const {
    position = {x, y, z};
    if (type == CU_MEMORYTYPE_ARRAY) {
      to_array = std::bit_cast<cudaArray_t>(array);
      position.x = x / array_of(array)->element_bytes();
      return;
    }
    pointer.ptr = is_of_host(type) ? host : reinterpret_cast<void*>(device);
    pointer.pitch = pitch == 0 ? width : pitch;
    pointer.xsize = width;
    pointer.ysize = height == 0 ? rows : height;
  }
};

Side side_of(cudaArray_t array, const cudaPitchedPtr& pointer, const cudaPos& position,
             CUmemorytype type) {
  if (array != nullptr) {
    return {CU_MEMORYTYPE_ARRAY,
            nullptr,
            0,
            std::bit_cast<CUarray>(array),
            position.x * array_of(array)->element_bytes(),
            position.y,
            position.z,
            0,
            0};
  }
  const auto address = reinterpret_cast<CUdeviceptr>(pointer.ptr);
  return {type,
          is_of_host(type) ? pointer.ptr : nullptr,
          is_of_host(type) ? 0 : address,
          nullptr,
          position.x,
          position.y,
          position.z,
          pointer.pitch,
          pointer.ysize};
}

/// The structures whose members are the same in both.
template <class To, class From>
To same(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return std::bit_cast<To>(from);
}

}  // namespace

CUresult as_runtime(Process& process, const CUDA_KERNEL_NODE_PARAMS& given,
                    cudaKernelNodeParams& wanted) {
  const void* kernel = given.func != nullptr ? static_cast<const void*>(given.func) : given.kern;
  if (process.kernel(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (given.kernelParams != nullptr && given.extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  wanted = {const_cast<void*>(kernel),
            dim3(given.gridDimX, given.gridDimY, given.gridDimZ),
            dim3(given.blockDimX, given.blockDimY, given.blockDimZ),
            given.sharedMemBytes,
            given.kernelParams,
            given.extra};
  return CUDA_SUCCESS;
}

CUDA_KERNEL_NODE_PARAMS as_driver(Process& process, const cudaKernelNodeParams& known) {
  CUDA_KERNEL_NODE_PARAMS told{};
  told.func = reinterpret_cast<CUfunction>(process.kernel(known.func));
  told.gridDimX = known.gridDim.x;
  told.gridDimY = known.gridDim.y;
  told.gridDimZ = known.gridDim.z;
  told.blockDimX = known.blockDim.x;
  told.blockDimY = known.blockDim.y;
  told.blockDimZ = known.blockDim.z;
  told.sharedMemBytes = known.sharedMemBytes;
  told.kernelParams = known.kernelParams;
  told.extra = known.extra;
  return told;
}

CUresult as_runtime(const CUDA_MEMCPY3D& c, cudaMemcpy3DParms& wanted) {
  const Side to{c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes,
                c.dstY,          c.dstZ,    c.dstPitch,  c.dstHeight};
  const Side from{c.srcMemoryType, const_cast<void*>(c.srcHost),
                  c.srcDevice,     c.srcArray,
                  c.srcXInBytes,   c.srcY,
                  c.srcZ,          c.srcPitch,
                  c.srcHeight};
  if (!to.is_complete() || !from.is_complete()) return CUDA_ERROR_INVALID_VALUE;
  wanted = {};
  wanted.extent = {c.WidthInBytes, c.Height, c.Depth};
  for (const Side* side : {&from, &to}) {
    if (side->type != CU_MEMORYTYPE_ARRAY) continue;
    wanted.extent.width = c.WidthInBytes / array_of(side->array)->element_bytes();
  }
  wanted.kind = kind_of(to.type, from.type);
  to.put(wanted.dstArray, wanted.dstPtr, wanted.dstPos, c.WidthInBytes, c.Height);
  from.put(wanted.srcArray, wanted.srcPtr, wanted.srcPos, c.WidthInBytes, c.Height);
  return CUDA_SUCCESS;
}

CUDA_MEMCPY3D as_driver(const cudaMemcpy3DParms& known) {
  const bool is_unified = known.kind == cudaMemcpyDefault;
  const bool to_host = known.kind == cudaMemcpyHostToHost || known.kind == cudaMemcpyDeviceToHost;
  const bool from_host = known.kind == cudaMemcpyHostToHost || known.kind == cudaMemcpyHostToDevice;
  const auto type = [&](bool is_host) {
    if (is_unified) return CU_MEMORYTYPE_UNIFIED;
    return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  };
  const Side to = side_of(known.dstArray, known.dstPtr, known.dstPos, type(to_host));
  const Side from = side_of(known.srcArray, known.srcPtr, known.srcPos, type(from_host));
  CUDA_MEMCPY3D told{};
  told.srcXInBytes = from.x;
  told.srcY = from.y;
  told.srcZ = from.z;
  told.srcMemoryType = from.type;
  told.srcHost = from.host;
  told.srcDevice = from.device;
  told.srcArray = from.array;
  told.srcPitch = from.pitch;
  told.srcHeight = from.height;
  told.dstXInBytes = to.x;
  told.dstY = to.y;
  told.dstZ = to.z;
  told.dstMemoryType = to.type;
  told.dstHost = to.host;
  told.dstDevice = to.device;
  told.dstArray = to.array;
  told.dstPitch = to.pitch;
  told.dstHeight = to.height;
  told.WidthInBytes = known.extent.width;
  if (known.srcArray != nullptr) told.WidthInBytes *= array_of(known.srcArray)->element_bytes();
  if (known.srcArray == nullptr && known.dstArray != nullptr) {
    told.WidthInBytes *= array_of(known.dstArray)->element_bytes();
  }
  told.Height = known.extent.height;
  told.Depth = known.extent.depth;
  return told;
}

CUresult as_runtime(Process& process, const CUgraphNodeParams& given, cudaGraphNodeParams& wanted) {
  if (given.type == CU_GRAPH_NODE_TYPE_KERNEL) {
    wanted = {};
    wanted.type = cudaGraphNodeTypeKernel;
    cudaKernelNodeParams kernel{};
    const CUresult mistake =
        as_runtime(process, same<CUDA_KERNEL_NODE_PARAMS>(given.kernel), kernel);
    wanted.kernel = {kernel.func,           kernel.gridDim,      kernel.blockDim,
                     kernel.sharedMemBytes, kernel.kernelParams, kernel.extra};
    return mistake;
  }
  if (given.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    wanted = {};
    wanted.type = cudaGraphNodeTypeMemcpy;
    return as_runtime(given.memcpy.copyParams, wanted.memcpy.copyParams);
  }
  // The current context does not stand in for one that is not named (seen on an H200).
  if (given.type == CU_GRAPH_NODE_TYPE_MEMSET && given.memset.ctx == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // The members of the others are the same, but for contexts behind them.
  static_assert(sizeof given == sizeof wanted);
  std::memcpy(static_cast<void*>(&wanted), &given, sizeof wanted);
  return CUDA_SUCCESS;
}

}  // namespace warpmeter::runtime
