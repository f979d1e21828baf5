// SPDX-License-Identifier: MIT
// Memory: taking it, giving it back, asking about it.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/with_noun.h"
#include "collector/model/machine/memory/align.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/process/pools.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace memory {
namespace {

constexpr std::uint64_t pitch_alignment = 512;

cudaError_t give(Process& process, void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (const cudaError_t unsafe = unsafe_in_capture(process)) return unsafe;
  if (bytes == 0) return cudaSuccess;
  const Block* block =
      process.memory().allocate(bytes, current_device, process.name_of_allocation(bytes));
  if (block == nullptr) return cudaErrorMemoryAllocation;
  process.memory().give_to_context(block->address, Contexts::get().owner());
  *pointer = reinterpret_cast<void*>(block->address);
  return cudaSuccess;
}

cudaError_t give_shared(Process& process, void** pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (const cudaError_t unsafe = unsafe_in_capture(process)) return unsafe;
  if (bytes == 0) return cudaSuccess;  // managed memory too, as measured
  const Block* block = process.memory().allocate_shared(bytes, kind, current_device,
                                                        process.name_of_allocation(bytes));
  if (block == nullptr) return cudaErrorMemoryAllocation;
  process.memory().give_to_context(block->address, Contexts::get().owner());
  *pointer = reinterpret_cast<void*>(block->address);
  return cudaSuccess;
}

/// The mistake in a free, and which kind of mistake it is.
std::pair<std::string, std::string> why_not_freed(Process& process, std::uint64_t address,
                                                  const Block* block) {
  const Checks& checks = *process.checks();
  const Checks::Freed* freed = checks.freed_at(address);
  if (block != nullptr) {
    return {"invalid free", block->address == address
                                ? fmt::format("{} is freed by another function", block->name)
                                : fmt::format("byte {} of {} is not where it begins",
                                              address - block->address, block->name)};
  }
  if (freed != nullptr && checks.beginning_of_freed(address) == address) {
    return {"double free", fmt::format("{} was freed before{}", freed->name, freed->where)};
  }
  return {"invalid free", "nothing was allocated there"};
}

/// Only what begins there, and only of these kinds.
cudaError_t take_back(Process& process, void* pointer, std::initializer_list<MemoryKind> kinds) {
  if (const cudaError_t unsafe = unsafe_in_capture(process)) return unsafe;
  if (pointer == nullptr) return cudaSuccess;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Block* block = process.memory().find(address);
  const bool is_one = block != nullptr && block->address == address && block->may_be_freed() &&
                      std::find(kinds.begin(), kinds.end(), block->kind) != kinds.end();
  if (!is_one) {
    if (process.checks() != nullptr) {
      auto [kind, why] = why_not_freed(process, address, block);
      process.checks()->because(std::move(kind), std::move(why));
    }
    return cudaErrorInvalidValue;
  }
  if (pool_holding(address) != nullptr && process.races() != nullptr) {
    process.races()->freed(*block, process.function());
  }
  for (int device = 0; device < process.devices(); ++device) wait_for_device(process, device);
  process.memory().release(address);
  return cudaSuccess;
}

/// True if the process has memory there, all of it.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t begin = address / host_page_bytes * host_page_bytes;
  return msync(reinterpret_cast<void*>(begin), address - begin + bytes, MS_ASYNC) == 0;
}

/// False where no module has a variable.
bool variable_attributes(Process& process, const void* pointer, cudaPointerAttributes& result) {
  const auto found = process.variable_at(reinterpret_cast<std::uint64_t>(pointer));
  if (!found) return false;
  result.type = found->is_managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
  result.device = found->device;
  result.devicePointer = const_cast<void*>(pointer);
  if (found->is_managed) result.hostPointer = result.devicePointer;
  return true;
}

cudaError_t allocate(Process& process, void** pointer, std::size_t bytes) {
  return give(process, pointer, bytes);
}

cudaError_t allocate_pitch(Process& process, void** pointer, std::size_t* pitch, std::size_t width,
                           std::size_t height) {
  if (pitch == nullptr) return cudaErrorInvalidValue;
  *pitch = height == 0 ? 0 : model::round_up(width, pitch_alignment);
  return give(process, pointer, *pitch * height);
}

cudaError_t allocate_3d(Process& process, cudaPitchedPtr* pitched, cudaExtent extent) {
  if (pitched == nullptr) return cudaErrorInvalidValue;
  pitched->pitch = model::round_up(extent.width, pitch_alignment);
  pitched->xsize = extent.width;
  pitched->ysize = extent.height;
  return give(process, &pitched->ptr, pitched->pitch * extent.height * extent.depth);
}

cudaError_t allocate_managed(Process& process, void** pointer, std::size_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
  return give_shared(process, pointer, bytes, MemoryKind::managed);
}

cudaError_t allocate_host(Process& process, void** pointer, std::size_t bytes) {
  return give_shared(process, pointer, bytes, MemoryKind::pinned);
}

cudaError_t allocate_host_with_flags(Process& process, void** pointer, std::size_t bytes,
                                     unsigned flags) {
  if (flags > 7) return cudaErrorInvalidValue;
  const cudaError_t result = give_shared(process, pointer, bytes, MemoryKind::pinned);
  if (result == cudaSuccess && *pointer != nullptr) {
    process.memory().give_flags(reinterpret_cast<std::uint64_t>(*pointer), flags);
  }
  return result;
}

cudaError_t free(Process& process, void* pointer) {
  process.show_printed();
  return take_back(process, pointer, {MemoryKind::device, MemoryKind::managed});
}

cudaError_t free_async(Process& process, void* pointer, cudaStream_t handle) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (pointer == nullptr) return cudaSuccess;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Block* block = process.memory().find(address);
  // A pool's memory may be the host's.
  const bool is_there = block != nullptr && block->address == address && block->may_be_freed() &&
                        (block->kind == MemoryKind::device || block->kind == MemoryKind::managed ||
                         block->kind == MemoryKind::pinned);
  if (!is_there && stream->capture == nullptr) return cudaErrorInvalidValue;
  return submit(process, handle, FreeWork{address});
}

cudaError_t free_host(Process& process, void* pointer) {
  return take_back(process, pointer, {MemoryKind::pinned});
}

cudaError_t register_host(Process& process, void* pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned known =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
  if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) return cudaErrorInvalidValue;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Block* there = process.memory().find(address);
  const bool is_other = there != nullptr && there->kind != MemoryKind::registered;
  if (is_other || !is_mapped(address, bytes)) return cudaErrorInvalidValue;
  const Block* block =
      process.memory().adopt(pointer, bytes, MemoryKind::registered,
                             fmt::format("registered memory of {}", with_noun(bytes, "byte")));
  if (block == nullptr) return cudaErrorHostMemoryAlreadyRegistered;
  process.memory().give_flags(address, flags & cudaHostRegisterPortable);
  return cudaSuccess;
}

cudaError_t unregister_host(Process& process, void* pointer) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  const bool is_any = process.memory().find(reinterpret_cast<std::uint64_t>(pointer)) != nullptr;
  const cudaError_t result = take_back(process, pointer, {MemoryKind::registered});
  return result == cudaSuccess || is_any ? result : cudaErrorHostMemoryNotRegistered;
}

cudaError_t get_device_pointer(Process& process, void** device, void* host, unsigned flags) {
  const Block* block = process.memory().find(reinterpret_cast<std::uint64_t>(host));
  if (device == nullptr || flags != 0 || block == nullptr) return cudaErrorInvalidValue;
  *device = host;
  return cudaSuccess;
}

cudaError_t host_get_flags(Process& process, unsigned* flags, void* host) {
  const Block* block = process.memory().find(reinterpret_cast<std::uint64_t>(host));
  if (flags == nullptr || block == nullptr ||
      (block->kind != MemoryKind::pinned && block->kind != MemoryKind::registered)) {
    return cudaErrorInvalidValue;
  }
  *flags = block->flags | cudaHostAllocMapped;  // there is one address space
  return cudaSuccess;
}

cudaError_t get_info(Process& process, std::size_t* free_bytes, std::size_t* all) {
  if (free_bytes != nullptr)
    *free_bytes = process.memory().limit() - process.memory().used(current_device);
  if (all != nullptr) *all = process.memory().limit();
  return cudaSuccess;
}

cudaError_t pointer_get_attributes(Process& process, cudaPointerAttributes* attributes,
                                   const void* pointer) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  *attributes = {};
  const Block* block = process.memory().find(reinterpret_cast<std::uint64_t>(pointer));
  if (block == nullptr) {
    if (variable_attributes(process, pointer, *attributes)) return cudaSuccess;
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  }
  auto* address = const_cast<void*>(pointer);
  attributes->device = block->device;
  attributes->devicePointer = address;
  switch (block->kind) {
    case MemoryKind::device:
    case MemoryKind::module:
    case MemoryKind::mapped:
      attributes->type = cudaMemoryTypeDevice;
      break;
    case MemoryKind::managed:
      attributes->type = cudaMemoryTypeManaged;
      attributes->hostPointer = address;
      break;
    case MemoryKind::pinned:
    case MemoryKind::registered:
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = address;
      break;
  }
  return cudaSuccess;
}

/// The answer holds for managed memory, all of an allocation; of what is none of the driver's
/// nothing is known.
cudaError_t attach_to_stream(Process& process, cudaStream_t stream, void* pointer,
                             std::size_t bytes, unsigned flags) {
  if (process.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
  const bool is_default = stream == nullptr || stream == cudaStreamLegacy;
  const bool is_single = flags == cudaMemAttachSingle && !is_default;
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && !is_single) {
    return cudaErrorInvalidValue;
  }
  if (pointer == nullptr) return cudaErrorInvalidValue;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Block* block = process.memory().find(address);
  if (block == nullptr) return cudaSuccess;
  const bool is_whole = address == block->address && (bytes == 0 || bytes == block->bytes);
  return block->kind == MemoryKind::managed && is_whole ? cudaSuccess : cudaErrorInvalidValue;
}

// Symbols: variables of the program's modules.

cudaError_t get_symbol_address(Process& process, void** pointer, const void* symbol) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  const auto found = process.symbol(symbol);
  if (!found) return process.symbol_mistake(symbol);
  *pointer = reinterpret_cast<void*>(found->place.address);
  return cudaSuccess;
}

cudaError_t get_symbol_size(Process& process, std::size_t* bytes, const void* symbol) {
  if (bytes == nullptr) return cudaErrorInvalidValue;
  const auto found = process.symbol(symbol);
  if (!found) return process.symbol_mistake(symbol);
  *bytes = found->place.bytes;
  return cudaSuccess;
}

}  // namespace
}  // namespace memory

std::vector<Answer> memory_answers() {
  return {
      ANSWER(cudaMalloc, memory::allocate, Needs::context),
      ANSWER(cudaMallocHost, memory::allocate_host, Needs::context),
      ANSWER(cudaMallocManaged, memory::allocate_managed, Needs::context),
      ANSWER(cudaMallocPitch, memory::allocate_pitch, Needs::context),
      ANSWER(cudaMalloc3D, memory::allocate_3d, Needs::context),
      ANSWER(cudaHostAlloc, memory::allocate_host_with_flags, Needs::context),
      BOTH(cudaFree, cuMemFree_v2, memory::free, Needs::context),
      BOTH(cudaFreeAsync, cuMemFreeAsync, memory::free_async, Needs::context),
      BOTH(cudaFreeHost, cuMemFreeHost, memory::free_host, Needs::context),
      BOTH(cudaHostRegister, cuMemHostRegister_v2, memory::register_host, Needs::context),
      BOTH(cudaHostUnregister, cuMemHostUnregister, memory::unregister_host, Needs::context),
      BOTH(cudaHostGetDevicePointer, cuMemHostGetDevicePointer_v2, memory::get_device_pointer,
           Needs::context),
      ANSWER(cudaHostGetFlags, memory::host_get_flags, Needs::context),
      ANSWER(cuMemHostGetFlags, memory::host_get_flags, Needs::context,
             No(CUDA_ERROR_INVALID_VALUE)),
      BOTH(cudaMemGetInfo, cuMemGetInfo_v2, memory::get_info, Needs::context),
      ANSWER(cudaPointerGetAttributes, memory::pointer_get_attributes, Needs::device,
             Answers::after_failure),
      BOTH(cudaStreamAttachMemAsync, cuStreamAttachMemAsync, memory::attach_to_stream,
           Needs::context),
      ANSWER(cudaGetSymbolAddress, memory::get_symbol_address, Needs::context),
      ANSWER(cudaGetSymbolSize, memory::get_symbol_size, Needs::context),
  };
}

}  // namespace warpmeter::runtime
