// The driver's memory: copies of boxes and sets of its own shape; what is the runtime's by another
// name.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collector/model/machine/align.h"
#include "collector/runtime/array.h"
#include "collector/runtime/driver_call.h"
#include "collector/runtime/submit.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t pitch_step = 512;

CUresult give_memory(Process& process, CUdeviceptr* pointer, std::size_t bytes, MemoryKind kind,
                     const void* caller) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Memory& memory = process.memory();
  Label name = process.name_of_allocation(bytes, caller);
  const Block* block =
      kind == MemoryKind::device
          ? memory.allocate(bytes, Process::current_device, std::move(name))
          : memory.allocate_shared(bytes, kind, Process::current_device, std::move(name));
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = block->address;
  return CUDA_SUCCESS;
}

CUresult submit_driver_copy(Process& process, CUstream stream, const CopyWork& copy) {
  const cudaError_t mistake = copy_mistake(process, copy);
  return as_driver_error(mistake != cudaSuccess ? mistake : submit(process, stream, copy));
}

/// One side of a copy of a box.
struct BoxSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x, y, z, pitch, height;

  bool is_device() const { return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY; }

  void put(std::uint64_t& address, std::uint64_t& row, std::uint64_t& rows,
           std::uint64_t width) const {
    if (type == CU_MEMORYTYPE_ARRAY) {
      const Array& known = *reinterpret_cast<const Array*>(array);
      address = known.address;
      row = known.pitch();
      rows = known.rows();
    } else {
      address = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
      row = pitch == 0 ? width : pitch;
      rows = height;
    }
    address += (z * rows + y) * row + x;
  }
};

cudaMemcpyKind copy_kind(const BoxSide& to, const BoxSide& from) {
  if (to.type == CU_MEMORYTYPE_UNIFIED || from.type == CU_MEMORYTYPE_UNIFIED) {
    return cudaMemcpyDefault;
  }
  if (to.is_device()) return from.is_device() ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from.is_device() ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

CUresult copy_box(Process& process, CUstream stream, const BoxSide& to, const BoxSide& from,
                  std::size_t width, std::size_t height, std::size_t depth) {
  const auto lacks_array = [](const BoxSide& side) {
    return side.type == CU_MEMORYTYPE_ARRAY && side.array == nullptr;
  };
  if (lacks_array(to) || lacks_array(from)) return CUDA_ERROR_INVALID_VALUE;
  CopyWork copy;
  copy.width = width;
  copy.height = height;
  copy.depth = depth;
  copy.kind = copy_kind(to, from);
  to.put(copy.to, copy.to_pitch, copy.to_height, width);
  from.put(copy.from, copy.from_pitch, copy.from_height, width);
  // What is wrong with a pitch is an invalid value to the driver.
  const CUresult result = submit_driver_copy(process, stream, copy);
  return result == static_cast<CUresult>(cudaErrorInvalidPitchValue) ? CUDA_ERROR_INVALID_VALUE
                                                                     : result;
}

CUresult copy_2d(std::string_view name, const CUDA_MEMCPY2D* c, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return copy_box(p, stream,
                    {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                     c->dstY, 0, c->dstPitch, 0},
                    {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                     c->srcY, 0, c->srcPitch, 0},
                    c->WidthInBytes, c->Height, 1);
  });
}

CUresult copy_3d(std::string_view name, const CUDA_MEMCPY3D* c, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return copy_box(p, stream,
                    {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                     c->dstY, c->dstZ, c->dstPitch, c->dstHeight},
                    {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                     c->srcY, c->srcZ, c->srcPitch, c->srcHeight},
                    c->WidthInBytes, c->Height, c->Depth);
  });
}

template <class Value>
CUresult set_numbers(std::string_view name, CUdeviceptr to, std::size_t pitch, Value value,
                     std::size_t width, std::size_t height, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    SetWork work;
    work.to = to;
    work.value = value;
    work.element_bytes = sizeof value;
    work.width = width;
    work.height = height;
    work.pitch = pitch;
    if (to % sizeof value != 0) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t mistake = set_mistake(p, work);
    return as_driver_error(mistake != cudaSuccess ? mistake : submit(p, stream, work));
  });
}

const Block* block_at(Process& process, CUdeviceptr pointer) {
  return process.memory().find(pointer);
}

template <class Value>
CUresult put_value(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

CUresult pointer_attribute(Process& process, void* data, CUpointer_attribute which,
                           CUdeviceptr pointer) {
  const Block* block = block_at(process, pointer);
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool is_host = block->kind == MemoryKind::pinned || block->kind == MemoryKind::registered;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put_value<const void*>(data, &Contexts::get().primary(block->device));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put_value<unsigned>(data, is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put_value<CUdeviceptr>(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (block->kind == MemoryKind::device) return CUDA_ERROR_INVALID_VALUE;
      return put_value<CUdeviceptr>(data, pointer);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put_value<unsigned>(data, block->kind == MemoryKind::managed ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put_value<int>(data, block->device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put_value<CUdeviceptr>(data, block->address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put_value<std::size_t>(data, block->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put_value<unsigned>(data, 1);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put_value<unsigned long long>(data, block->address);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult is_managed(Process& process, CUdeviceptr pointer) {
  const Block* block = block_at(process, pointer);
  return block != nullptr && block->kind == MemoryKind::managed ? CUDA_SUCCESS
                                                                : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

namespace api {
namespace {

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
  const void* caller = __builtin_return_address(0);
  return driver_call("cuMemAlloc", Needs::context, [&](Process& p) {
    return give_memory(p, pointer, bytes, MemoryKind::device, caller);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  const void* caller = __builtin_return_address(0);
  return driver_call("cuMemAllocAsync", Needs::context, [&](Process& p) {
    if (p.stream(stream) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return give_memory(p, pointer, bytes, MemoryKind::device, caller);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element_bytes) {
  const void* caller = __builtin_return_address(0);
  return driver_call("cuMemAllocPitch", Needs::context, [&](Process& p) {
    const bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (pitch == nullptr || !is_element) return CUDA_ERROR_INVALID_VALUE;
    *pitch = model::round_up(width, pitch_step);
    return give_memory(p, pointer, *pitch * height, MemoryKind::device, caller);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return driver_call("cuMemAllocManaged", Needs::context, [&](Process& p) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return give_memory(p, pointer, bytes, MemoryKind::managed, caller);
  });
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return driver_call("cuMemHostAlloc", Needs::context, [&](Process& p) {
    if (pointer == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address = 0;
    const CUresult result = give_memory(p, &address, bytes, MemoryKind::pinned, caller);
    *pointer = reinterpret_cast<void*>(address);
    return result;
  });
}

CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  const void* caller = __builtin_return_address(0);
  return driver_call("cuMemAllocHost", Needs::context, [&](Process& p) {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr address = 0;
    const CUresult result = give_memory(p, &address, bytes, MemoryKind::pinned, caller);
    *pointer = reinterpret_cast<void*>(address);
    return result;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
  return driver_call("cuMemGetAddressRange", Needs::context, [&](Process& p) {
    const Block* block = block_at(p, pointer);
    if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = block->address;
    if (bytes != nullptr) *bytes = block->bytes;
    return CUDA_SUCCESS;
  });
}

// Copies in a line.
CUresult copy_line(std::string_view name, std::uint64_t to, std::uint64_t from, std::size_t bytes,
                   cudaMemcpyKind kind, CUstream stream) {
  return driver_call(name, Needs::context, [&](Process& p) {
    if (stream == nullptr) p.show_printed();
    CopyWork copy;
    copy.to = to;
    copy.from = from;
    copy.width = copy.to_pitch = copy.from_pitch = bytes;
    copy.kind = kind;
    return submit_driver_copy(p, stream, copy);
  });
}
std::uint64_t host_address(const void* host) { return reinterpret_cast<std::uint64_t>(host); }

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t n) {
  return copy_line("cuMemcpy", to, from, n, cudaMemcpyDefault, nullptr);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyAsync", to, from, n, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t n) {
  return copy_line("cuMemcpyHtoD", to, host_address(from), n, cudaMemcpyHostToDevice, nullptr);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyHtoDAsync", to, host_address(from), n, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t n) {
  return copy_line("cuMemcpyDtoH", host_address(to), from, n, cudaMemcpyDeviceToHost, nullptr);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyDtoHAsync", host_address(to), from, n, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t n) {
  return copy_line("cuMemcpyDtoD", to, from, n, cudaMemcpyDeviceToDevice, nullptr);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t n, CUstream stream) {
  return copy_line("cuMemcpyDtoDAsync", to, from, n, cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t n) {
  return copy_line("cuMemcpyPeer", to, from, n, cudaMemcpyDeviceToDevice, nullptr);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t n,
                           CUstream stream) {
  return copy_line("cuMemcpyPeerAsync", to, from, n, cudaMemcpyDeviceToDevice, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) { return copy_2d("cuMemcpy2D", copy, nullptr); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return copy_2d("cuMemcpy2DUnaligned", copy, nullptr);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_2d("cuMemcpy2DAsync", copy, stream);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) { return copy_3d("cuMemcpy3D", copy, nullptr); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_3d("cuMemcpy3DAsync", copy, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t n) {
  return set_numbers("cuMemsetD8", to, n, value, n, 1, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t n) {
  return set_numbers("cuMemsetD16", to, 2 * n, value, n, 1, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t n) {
  return set_numbers("cuMemsetD32", to, 4 * n, value, n, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t n, CUstream stream) {
  return set_numbers("cuMemsetD8Async", to, n, value, n, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t n, CUstream stream) {
  return set_numbers("cuMemsetD16Async", to, 2 * n, value, n, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t n, CUstream stream) {
  return set_numbers("cuMemsetD32Async", to, 4 * n, value, n, 1, stream);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return set_numbers("cuMemsetD2D8", to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return set_numbers("cuMemsetD2D16", to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                          std::size_t height) {
  return set_numbers("cuMemsetD2D32", to, pitch, value, width, height, nullptr);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return set_numbers("cuMemsetD2D8Async", to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return set_numbers("cuMemsetD2D16Async", to, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return set_numbers("cuMemsetD2D32Async", to, pitch, value, width, height, stream);
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr pointer) {
  return driver_call("cuPointerGetAttribute", Needs::initialised, [&](Process& p) {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return pointer_attribute(p, data, which, pointer);
  });
}

/// Of what is none of the driver's memory all are 0.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** data,
                                CUdeviceptr pointer) {
  return driver_call("cuPointerGetAttributes", Needs::initialised, [&](Process& p) {
    if (which == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      if (block_at(p, pointer) != nullptr) {
        pointer_attribute(p, data[i], which[i], pointer);
      } else {
        const bool is_word = which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                             which[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
                             which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ||
                             which[i] == CU_POINTER_ATTRIBUTE_MAPPED;
        std::memset(data[i], which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? 0xfe : 0,
                    is_word ? 4 : 8);
        if (which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
          put_value<int>(data[i], CU_DEVICE_INVALID);
      }
    }
    return CUDA_SUCCESS;
  });
}

// Where managed memory lies is no question here, whatever the signature.
CUresult prefetch_to_device(CUdeviceptr pointer, std::size_t, CUdevice, CUstream) {
  return driver_call("cuMemPrefetchAsync", Needs::context,
                     [&](Process& p) { return is_managed(p, pointer); });
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, std::size_t, CUmemLocation, unsigned,
                               CUstream) {
  return driver_call("cuMemPrefetchAsync", Needs::context,
                     [&](Process& p) { return is_managed(p, pointer); });
}
CUresult advise_of_device(CUdeviceptr pointer, std::size_t, CUmem_advise, CUdevice) {
  return driver_call("cuMemAdvise", Needs::context,
                     [&](Process& p) { return is_managed(p, pointer); });
}
CUresult cuMemAdvise_v2(CUdeviceptr pointer, std::size_t, CUmem_advise, CUmemLocation) {
  return driver_call("cuMemAdvise", Needs::context,
                     [&](Process& p) { return is_managed(p, pointer); });
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_memory_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuMemAlloc_v2),
      WARPMETER_ANSWER(cuMemAllocAsync),
      WARPMETER_ANSWER(cuMemAllocPitch_v2),
      WARPMETER_ANSWER(cuMemAllocManaged),
      WARPMETER_ANSWER(cuMemHostAlloc),
      WARPMETER_ANSWER(cuMemAllocHost_v2),
      WARPMETER_ANSWER(cuMemGetAddressRange_v2),
      WARPMETER_FORWARD(cuMemFree_v2, cudaFree),
      WARPMETER_FORWARD(cuMemFreeAsync, cudaFreeAsync),
      WARPMETER_FORWARD(cuMemFreeHost, cudaFreeHost),
      WARPMETER_FORWARD(cuMemGetInfo_v2, cudaMemGetInfo),
      WARPMETER_FORWARD(cuMemHostRegister_v2, cudaHostRegister),
      WARPMETER_FORWARD(cuMemHostUnregister, cudaHostUnregister),
      WARPMETER_FORWARD(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer),
      WARPMETER_FORWARD(cuMemHostGetFlags, cudaHostGetFlags),
      WARPMETER_FORWARD(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync),
      WARPMETER_FORWARD(cuMemPoolCreate, cudaMemPoolCreate),
      WARPMETER_FORWARD(cuMemPoolDestroy, cudaMemPoolDestroy),
      WARPMETER_FORWARD(cuMemPoolSetAttribute, cudaMemPoolSetAttribute),
      WARPMETER_FORWARD(cuMemPoolGetAttribute, cudaMemPoolGetAttribute),
      WARPMETER_FORWARD(cuMemPoolTrimTo, cudaMemPoolTrimTo),
      WARPMETER_FORWARD(cuMemPoolSetAccess, cudaMemPoolSetAccess),
      WARPMETER_FORWARD_IN(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, initialised),
      WARPMETER_FORWARD_IN(cuDeviceGetMemPool, cudaDeviceGetMemPool, initialised),
      WARPMETER_FORWARD_IN(cuDeviceSetMemPool, cudaDeviceSetMemPool, initialised),
      WARPMETER_ANSWER(cuMemcpy),
      WARPMETER_ANSWER(cuMemcpyAsync),
      WARPMETER_ANSWER(cuMemcpyHtoD_v2),
      WARPMETER_ANSWER(cuMemcpyHtoDAsync_v2),
      WARPMETER_ANSWER(cuMemcpyDtoH_v2),
      WARPMETER_ANSWER(cuMemcpyDtoHAsync_v2),
      WARPMETER_ANSWER(cuMemcpyDtoD_v2),
      WARPMETER_ANSWER(cuMemcpyDtoDAsync_v2),
      WARPMETER_ANSWER(cuMemcpyPeer),
      WARPMETER_ANSWER(cuMemcpyPeerAsync),
      WARPMETER_ANSWER(cuMemcpy2D_v2),
      WARPMETER_ANSWER(cuMemcpy2DUnaligned_v2),
      WARPMETER_ANSWER(cuMemcpy2DAsync_v2),
      WARPMETER_ANSWER(cuMemcpy3D_v2),
      WARPMETER_ANSWER(cuMemcpy3DAsync_v2),
      WARPMETER_ANSWER(cuMemsetD8_v2),
      WARPMETER_ANSWER(cuMemsetD16_v2),
      WARPMETER_ANSWER(cuMemsetD32_v2),
      WARPMETER_ANSWER(cuMemsetD8Async),
      WARPMETER_ANSWER(cuMemsetD16Async),
      WARPMETER_ANSWER(cuMemsetD32Async),
      WARPMETER_ANSWER(cuMemsetD2D8_v2),
      WARPMETER_ANSWER(cuMemsetD2D16_v2),
      WARPMETER_ANSWER(cuMemsetD2D32_v2),
      WARPMETER_ANSWER(cuMemsetD2D8Async),
      WARPMETER_ANSWER(cuMemsetD2D16Async),
      WARPMETER_ANSWER(cuMemsetD2D32Async),
      WARPMETER_ANSWER(cuPointerGetAttribute),
      WARPMETER_ANSWER(cuPointerGetAttributes),
      answer("cuMemPrefetchAsync", &api::prefetch_to_device),
      WARPMETER_ANSWER(cuMemPrefetchAsync_v2),
      answer("cuMemAdvise", &api::advise_of_device),
      WARPMETER_ANSWER(cuMemAdvise_v2),
      WARPMETER_FORWARD(cuStreamAttachMemAsync, cudaStreamAttachMemAsync),
  };
  return table;
}

}  // namespace warpmeter::runtime
