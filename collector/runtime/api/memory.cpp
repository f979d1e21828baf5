// SPDX-License-Identifier: MIT
// Memory: taking it, giving it back, asking about it.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/process/pools.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t pitch_alignment = 512;

cudaError_t give(Process& process, void** pointer, std::size_t bytes, const void* caller) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (const cudaError_t unsafe = unsafe_in_capture(process)) return unsafe;
  if (bytes == 0) return cudaSuccess;
  const Block* block =
      process.memory().allocate(bytes, current_device, process.name_of_allocation(bytes, caller));
  if (block == nullptr) return cudaErrorMemoryAllocation;
  process.memory().give_to_context(block->address, Contexts::get().owner());
  *pointer = reinterpret_cast<void*>(block->address);
  return cudaSuccess;
}

cudaError_t give_shared(Process& process, void** pointer, std::size_t bytes, MemoryKind kind,
                        const void* caller) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (const cudaError_t unsafe = unsafe_in_capture(process)) return unsafe;
  if (bytes == 0) return cudaSuccess;  // managed memory too, as measured
  const Block* block = process.memory().allocate_shared(bytes, kind, current_device,
                                                        process.name_of_allocation(bytes, caller));
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

cudaError_t take_back_in_order(Process& process, void* pointer, cudaStream_t handle) {
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

}  // namespace

namespace api {
namespace {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const void* caller = __builtin_return_address(0);
  return call("cudaMalloc", [&](Process& p) { return give(p, pointer, bytes, caller); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  const void* caller = __builtin_return_address(0);
  return call("cudaMallocPitch", [&](Process& p) {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    *pitch = height == 0 ? 0 : model::round_up(width, pitch_alignment);
    return give(p, pointer, *pitch * height, caller);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  const void* caller = __builtin_return_address(0);
  return call("cudaMalloc3D", [&](Process& p) {
    if (pitched == nullptr) return cudaErrorInvalidValue;
    pitched->pitch = model::round_up(extent.width, pitch_alignment);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return give(p, &pitched->ptr, pitched->pitch * extent.height * extent.depth, caller);
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return call("cudaMallocManaged", [&](Process& p) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return give_shared(p, pointer, bytes, MemoryKind::managed, caller);
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  const void* caller = __builtin_return_address(0);
  return call("cudaMallocHost", [&](Process& p) {
    return give_shared(p, pointer, bytes, MemoryKind::pinned, caller);
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return call("cudaHostAlloc", [&](Process& p) {
    if (flags > 7) return cudaErrorInvalidValue;
    const cudaError_t result = give_shared(p, pointer, bytes, MemoryKind::pinned, caller);
    if (result == cudaSuccess && *pointer != nullptr) {
      p.memory().give_flags(reinterpret_cast<std::uint64_t>(*pointer), flags);
    }
    return result;
  });
}

cudaError_t cudaFree(void* pointer) {
  return call("cudaFree", [&](Process& p) {
    p.show_printed();
    return take_back(p, pointer, {MemoryKind::device, MemoryKind::managed});
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", [&](Process& p) { return take_back_in_order(p, pointer, stream); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost",
              [&](Process& p) { return take_back(p, pointer, {MemoryKind::pinned}); });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return call("cudaHostRegister", [&](Process& p) {
    constexpr unsigned known =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    if (pointer == nullptr || bytes == 0 || (flags & ~known) != 0) return cudaErrorInvalidValue;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const Block* there = p.memory().find(address);
    const bool is_other = there != nullptr && there->kind != MemoryKind::registered;
    if (is_other || !is_mapped(address, bytes)) return cudaErrorInvalidValue;
    const Block* block = p.memory().adopt(pointer, bytes, MemoryKind::registered,
                                          fmt::format("registered memory of {} bytes", bytes));
    if (block == nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    p.memory().give_flags(address, flags & cudaHostRegisterPortable);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call("cudaHostUnregister", [&](Process& p) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const bool is_any = p.memory().find(reinterpret_cast<std::uint64_t>(pointer)) != nullptr;
    const cudaError_t result = take_back(p, pointer, {MemoryKind::registered});
    return result == cudaSuccess || is_any ? result : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call("cudaHostGetDevicePointer", [&](Process& p) {
    const Block* block = p.memory().find(reinterpret_cast<std::uint64_t>(host));
    if (device == nullptr || flags != 0 || block == nullptr) return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call("cudaHostGetFlags", [&](Process& p) {
    const Block* block = p.memory().find(reinterpret_cast<std::uint64_t>(host));
    if (flags == nullptr || block == nullptr ||
        (block->kind != MemoryKind::pinned && block->kind != MemoryKind::registered)) {
      return cudaErrorInvalidValue;
    }
    *flags = block->flags | cudaHostAllocMapped;  // there is one address space
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all) {
  return call("cudaMemGetInfo", [&](Process& p) {
    if (free_bytes != nullptr) *free_bytes = p.memory().limit() - p.memory().used(current_device);
    if (all != nullptr) *all = p.memory().limit();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return device_call_always("cudaPointerGetAttributes", [&](Process& p) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    const Block* block = p.memory().find(reinterpret_cast<std::uint64_t>(pointer));
    if (block == nullptr) {
      if (variable_attributes(p, pointer, *attributes)) return cudaSuccess;
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
  });
}

/// The answer holds for managed memory, all of an allocation; of what is none of the driver's
/// nothing is known.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes,
                                     unsigned flags) {
  return call("cudaStreamAttachMemAsync", [&](Process& p) {
    if (p.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    const bool is_default = stream == nullptr || stream == cudaStreamLegacy;
    const bool is_single = flags == cudaMemAttachSingle && !is_default;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && !is_single) {
      return cudaErrorInvalidValue;
    }
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const Block* block = p.memory().find(address);
    if (block == nullptr) return cudaSuccess;
    const bool is_whole = address == block->address && (bytes == 0 || bytes == block->bytes);
    return block->kind == MemoryKind::managed && is_whole ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// Symbols: variables of the program's modules.

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call("cudaGetSymbolAddress", [&](Process& p) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const auto found = p.symbol(symbol);
    if (!found) return p.symbol_mistake(symbol);
    *pointer = reinterpret_cast<void*>(found->place.address);
    return cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return call("cudaGetSymbolSize", [&](Process& p) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    const auto found = p.symbol(symbol);
    if (!found) return p.symbol_mistake(symbol);
    *bytes = found->place.bytes;
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> memory_answers() {
  static const Answer table[] = {
      answer("cudaMalloc", static_cast<cudaError_t (*)(void**, std::size_t)>(&api::cudaMalloc)),
      answer("cudaMallocHost",
             static_cast<cudaError_t (*)(void**, std::size_t)>(&api::cudaMallocHost)),
      WARPMETER_UNDECLARED(cudaMallocManaged),
      WARPMETER_UNDECLARED(cudaMallocPitch),
      WARPMETER_ANSWER(cudaMalloc3D),
      WARPMETER_UNDECLARED(cudaHostAlloc),
      WARPMETER_ANSWER(cudaFree),
      WARPMETER_ANSWER(cudaFreeAsync),
      WARPMETER_ANSWER(cudaFreeHost),
      WARPMETER_ANSWER(cudaHostRegister),
      WARPMETER_ANSWER(cudaHostUnregister),
      WARPMETER_UNDECLARED(cudaHostGetDevicePointer),
      WARPMETER_ANSWER(cudaHostGetFlags),
      WARPMETER_ANSWER(cudaMemGetInfo),
      WARPMETER_ANSWER(cudaPointerGetAttributes),
      WARPMETER_UNDECLARED(cudaStreamAttachMemAsync),
      WARPMETER_UNDECLARED(cudaGetSymbolAddress),
      WARPMETER_UNDECLARED(cudaGetSymbolSize),
  };
  return table;
}

}  // namespace warpmeter::runtime
