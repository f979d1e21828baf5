// SPDX-License-Identifier: MIT
// The driver's memory: what allocates it, and what is known of a pointer.
#include <cstring>
#include <set>
#include <utility>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/pools.h"

namespace warpmeter::runtime {
namespace driver_memory {
namespace {

constexpr std::uint64_t pitch_step = 512;

CUresult give_memory(Process& process, CUdeviceptr* pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  Memory& memory = process.memory();
  Label name = process.name_of_allocation(bytes);
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
struct Synchronous {
  std::set<std::uint64_t> all;
  void reset() { all.clear(); }
};
std::set<std::uint64_t>& synchronous() { return Process::get().state<Synchronous>().all; }

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

CUresult mem_allocate(Process& process, CUdeviceptr* pointer, std::size_t bytes) {
  return give_memory(process, pointer, bytes, MemoryKind::device);
}

CUresult mem_allocate_async(Process& process, CUdeviceptr* pointer, std::size_t bytes,
                            CUstream stream) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* given = nullptr;
  const cudaError_t result = give_in_order(process, &given, bytes, stream, nullptr);
  *pointer = reinterpret_cast<CUdeviceptr>(given);
  return as_driver_error(result);
}

CUresult mem_allocate_pitch(Process& process, CUdeviceptr* pointer, std::size_t* pitch,
                            std::size_t width, std::size_t height, unsigned element_bytes) {
  const bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
  if (pitch == nullptr || !is_element) return CUDA_ERROR_INVALID_VALUE;
  *pitch = model::round_up(width, pitch_step);
  return give_memory(process, pointer, *pitch * height, MemoryKind::device);
}

CUresult mem_allocate_managed(Process& process, CUdeviceptr* pointer, std::size_t bytes,
                              unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return give_memory(process, pointer, bytes, MemoryKind::managed);
}

CUresult mem_host_allocate(Process& process, void** pointer, std::size_t bytes, unsigned flags) {
  if (pointer == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  *pointer = nullptr;
  if (bytes == 0) return CUDA_SUCCESS;
  CUdeviceptr address = 0;
  const CUresult result = give_memory(process, &address, bytes, MemoryKind::pinned);
  *pointer = reinterpret_cast<void*>(address);
  if (result == CUDA_SUCCESS) process.memory().give_flags(address, flags);
  return result;
}

CUresult mem_allocate_host(Process& process, void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr address = 0;
  const CUresult result = give_memory(process, &address, bytes, MemoryKind::pinned);
  *pointer = reinterpret_cast<void*>(address);
  return result;
}

CUresult mem_get_address_range(Process& process, CUdeviceptr* base, std::size_t* bytes,
                               CUdeviceptr pointer) {
  std::uint64_t begin = 0;
  const VirtualMemory::Mapping* mapping = process.virtual_memory().mapping_at(pointer, &begin);
  if (mapping != nullptr) {
    if (base != nullptr) *base = begin;
    if (bytes != nullptr) *bytes = mapping->bytes;
    return CUDA_SUCCESS;
  }
  const Block* block = block_at(process, pointer);
  if (block == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = block->address;
  if (bytes != nullptr) *bytes = block->bytes;
  return CUDA_SUCCESS;
}

CUresult pointer_get_attribute(Process& process, void* data, CUpointer_attribute which,
                               CUdeviceptr pointer) {
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return pointer_attribute(process, data, which, pointer);
}

CUresult pointer_set_attribute(Process& process, const void* value, CUpointer_attribute which,
                               CUdeviceptr pointer) {
  const Block* block = block_at(process, pointer);
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
}

/// All attributes are 0 for pointers outside the driver's memory.
CUresult pointer_get_attributes(Process& process, unsigned count, CUpointer_attribute* which,
                                void** data, CUdeviceptr pointer) {
  if (which == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (block_at(process, pointer) != nullptr ||
        process.virtual_memory().reservation_at(pointer) != nullptr) {
      pointer_attribute(process, data[i], which[i], pointer);
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
}

}  // namespace
}  // namespace driver_memory

std::vector<Answer> driver_memory_answers() {
  return {
      ANSWER(cuMemAlloc_v2, driver_memory::mem_allocate, Needs::context),
      ANSWER(cuMemAllocAsync, driver_memory::mem_allocate_async, Needs::context),
      ANSWER(cuMemAllocPitch_v2, driver_memory::mem_allocate_pitch, Needs::context),
      ANSWER(cuMemAllocManaged, driver_memory::mem_allocate_managed, Needs::context),
      ANSWER(cuMemHostAlloc, driver_memory::mem_host_allocate, Needs::context),
      ANSWER(cuMemAllocHost_v2, driver_memory::mem_allocate_host, Needs::context),
      ANSWER(cuMemGetAddressRange_v2, driver_memory::mem_get_address_range, Needs::context,
             No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cuPointerGetAttribute, driver_memory::pointer_get_attribute, Needs::initialised,
             No(CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED)),
      ANSWER(cuPointerGetAttributes, driver_memory::pointer_get_attributes, Needs::initialised,
             No(CUDA_ERROR_NOT_INITIALIZED)),
      ANSWER(cuPointerSetAttribute, driver_memory::pointer_set_attribute, Needs::initialised),
  };
}

}  // namespace warpmeter::runtime
