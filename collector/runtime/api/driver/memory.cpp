// SPDX-License-Identifier: MIT
// The driver's memory: what allocates it, and what is known of a pointer.
#include <cstring>
#include <set>
#include <utility>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/pools.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t pitch_step = 512;

CUresult give_memory(Process& process, CUdeviceptr* pointer, std::size_t bytes, MemoryKind kind,
                     const void* caller) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Memory& memory = process.memory();
  Label name = process.name_of_allocation(bytes, caller);
  const Block* block = kind == MemoryKind::device
                           ? memory.allocate(bytes, current_device, std::move(name))
                           : memory.allocate_shared(bytes, kind, current_device, std::move(name));
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  memory.give_to_context(block->address, Contexts::get().owner());
  *pointer = block->address;
  return CUDA_SUCCESS;
}

const Block* block_at(Process& process, CUdeviceptr pointer) {
  return process.memory().find(pointer);
}

template <class Value>
CUresult put_value(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

/// Memory whose synchronous operations are to be so, by address; all of them are.
std::set<std::uint64_t>& synchronous() {
  static auto* all = new std::set<std::uint64_t>;
  return *all;
}

CUresult pointer_attribute(Process& process, void* data, CUpointer_attribute which,
                           CUdeviceptr pointer) {
  if (process.virtual_memory().reservation_at(pointer) != nullptr) {
    return reserved_pointer_attribute(process, data, which, pointer);
  }
  const Block* block = block_at(process, pointer);
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool is_host = block->kind == MemoryKind::pinned || block->kind == MemoryKind::registered;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put_value<const void*>(data, &Contexts::get().owning(block->context, block->device));
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
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put_value<unsigned>(data, synchronous().contains(block->address) ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put_value<std::uint64_t>(data, 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put_value<unsigned>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put_value<const void*>(data, pool_holding(block->address));
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put_value<CUdeviceptr>(data, block->address);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put_value<std::size_t>(data, block->bytes);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put_value<unsigned long long>(data, block->address);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
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
    if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    void* given = nullptr;
    const cudaError_t result = give_in_order(p, &given, bytes, stream, nullptr, caller);
    *pointer = reinterpret_cast<CUdeviceptr>(given);
    return as_driver_error(result);
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
    *pointer = nullptr;
    if (bytes == 0) return CUDA_SUCCESS;
    CUdeviceptr address = 0;
    const CUresult result = give_memory(p, &address, bytes, MemoryKind::pinned, caller);
    *pointer = reinterpret_cast<void*>(address);
    if (result == CUDA_SUCCESS) p.memory().give_flags(address, flags);
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
    std::uint64_t begin = 0;
    const VirtualMemory::Mapping* mapping = p.virtual_memory().mapping_at(pointer, &begin);
    if (mapping != nullptr) {
      if (base != nullptr) *base = begin;
      if (bytes != nullptr) *bytes = mapping->bytes;
      return CUDA_SUCCESS;
    }
    const Block* block = block_at(p, pointer);
    if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = block->address;
    if (bytes != nullptr) *bytes = block->bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr pointer) {
  return driver_call("cuPointerGetAttribute", Needs::initialised, [&](Process& p) {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return pointer_attribute(p, data, which, pointer);
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  return driver_call("cuPointerSetAttribute", Needs::initialised, [&](Process& p) {
    const Block* block = block_at(p, pointer);
    if (value == nullptr || block == nullptr || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned is_set = 0;
    std::memcpy(&is_set, value, sizeof is_set);
    if (is_set != 0) {
      synchronous().insert(block->address);
    } else {
      synchronous().erase(block->address);
    }
    return CUDA_SUCCESS;
  });
}

/// All attributes are 0 for pointers outside the driver's memory.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** data,
                                CUdeviceptr pointer) {
  return driver_call("cuPointerGetAttributes", Needs::initialised, [&](Process& p) {
    if (which == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      if (block_at(p, pointer) != nullptr ||
          p.virtual_memory().reservation_at(pointer) != nullptr) {
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
      WARPMETER_FORWARD(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync),
      WARPMETER_FORWARD(cuMemPoolCreate, cudaMemPoolCreate),
      WARPMETER_FORWARD(cuMemPoolDestroy, cudaMemPoolDestroy),
      WARPMETER_FORWARD(cuMemPoolSetAttribute, cudaMemPoolSetAttribute),
      WARPMETER_FORWARD(cuMemPoolGetAttribute, cudaMemPoolGetAttribute),
      WARPMETER_FORWARD(cuMemPoolTrimTo, cudaMemPoolTrimTo),
      WARPMETER_FORWARD(cuMemPoolSetAccess, cudaMemPoolSetAccess),
      WARPMETER_FORWARD(cuMemPoolGetAccess, cudaMemPoolGetAccess),
      WARPMETER_FORWARD_IN(cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool, initialised),
      WARPMETER_FORWARD_IN(cuMemGetMemPool, cudaMemGetMemPool, initialised),
      WARPMETER_FORWARD_IN(cuMemSetMemPool, cudaMemSetMemPool, initialised),
      WARPMETER_FORWARD_IN(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, initialised),
      WARPMETER_FORWARD_IN(cuDeviceGetMemPool, cudaDeviceGetMemPool, initialised),
      WARPMETER_FORWARD_IN(cuDeviceSetMemPool, cudaDeviceSetMemPool, initialised),
      WARPMETER_ANSWER(cuPointerGetAttribute),
      WARPMETER_ANSWER(cuPointerGetAttributes),
      WARPMETER_ANSWER(cuPointerSetAttribute),
  };
  return table;
}

}  // namespace warpmeter::runtime
