// SPDX-License-Identifier: MIT
// Pools of memory: made, asked, changed, and taken from.
#include <algorithm>
#include <memory>
#include <tuple>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/graph/graph_addresses.h"
#include "collector/runtime/process/pools.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

/// The step in which a pool takes memory from the device, as an H100's driver does.
constexpr std::uint64_t reserved_step = std::uint64_t{32} << 20;

/// The key of the owner's pools: type of allocation, type and number of the location.
using Owner = std::tuple<int, int, int>;

struct Pools {
  Handles<Pool> all;
  std::map<Owner, Pool*> defaults, current;
};

Pools& pools() { return Process::get().state<Pools>(); }

Owner owner_of(const cudaMemLocation& location, cudaMemAllocationType type) {
  const bool has_number =
      location.type == cudaMemLocationTypeDevice || location.type == cudaMemLocationTypeHostNuma;
  return {type, location.type, has_number ? location.id : 0};
}

Pool* default_pool(const cudaMemLocation& location, cudaMemAllocationType type) {
  Pool*& pool = pools().defaults[owner_of(location, type)];
  if (pool == nullptr) {
    cudaMemPoolProps properties{};
    properties.allocType = type;
    properties.location = location;
    pool = &add_pool(properties);
    pool->is_default = true;
  }
  return pool;
}

Pool*& current(const cudaMemLocation& location, cudaMemAllocationType type) {
  Pool*& pool = pools().current[owner_of(location, type)];
  if (pool == nullptr) pool = default_pool(location, type);
  return pool;
}

/// Refuses pools of memory of that type there.
cudaError_t owner_mistake(const Process& process, const cudaMemLocation* location,
                          cudaMemAllocationType type) {
  if (location == nullptr) return cudaErrorInvalidValue;
  const bool is_managed = type == cudaMemAllocationTypeManaged;
  if (type != cudaMemAllocationTypePinned && !is_managed) return cudaErrorInvalidValue;
  switch (location->type) {
    case cudaMemLocationTypeDevice:
      return location->id >= 0 && location->id < process.devices() ? cudaSuccess
                                                                   : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
      return cudaSuccess;
    case cudaMemLocationTypeNone:
      return is_managed ? cudaSuccess : cudaErrorInvalidValue;
    default:
      return cudaErrorInvalidValue;
  }
}

std::uint64_t used(const Process& process, Pool& pool) {
  const Memory& memory = const_cast<Process&>(process).memory();
  std::uint64_t bytes = 0;
  std::erase_if(pool.addresses, [&](std::uint64_t address) {
    const Block* block = memory.find(address);
    const bool is_there = block != nullptr && block->address == address;
    bytes += is_there ? block->bytes : 0;
    return !is_there;
  });
  return bytes;
}

/// The device's memory that the pool keeps: what is used, and what the threshold lets it keep.
std::uint64_t reserved(const Process& process, Pool& pool) {
  const std::uint64_t needed = model::round_up(used(process, pool), reserved_step);
  pool.reserved = std::max(needed, std::min(pool.reserved, pool.threshold));
  return pool.reserved;
}

void count(const Process& process, Pool& pool, std::uint64_t address) {
  pool.addresses.insert(address);
  const std::uint64_t bytes = used(process, pool);
  pool.used_high = std::max(pool.used_high, bytes);
  pool.reserved = std::max(pool.reserved, model::round_up(bytes, reserved_step));
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

const Block* allocate(Process& process, const Pool& pool, std::uint64_t bytes) {
  Label label = process.name_of_allocation(bytes);
  const bool is_managed = pool.properties.allocType == cudaMemAllocationTypeManaged;
  if (pool.is_of_device() && !is_managed) {
    return process.memory().allocate(bytes, pool.properties.location.id, std::move(label));
  }
  return process.memory().allocate_shared(bytes,
                                          is_managed ? MemoryKind::managed : MemoryKind::pinned,
                                          current_device, std::move(label));
}

/// A call about a pool.
template <class Body>
cudaError_t pool_call(cudaMemPool_t handle, const Body& body) {
  Pool* pool = pool_of(handle);
  return pool != nullptr ? body(*pool) : cudaErrorInvalidValue;
}
/// One that another process's pool cannot be asked.
template <class Body>
cudaError_t own_pool_call(Process& process, cudaMemPool_t handle, const Body& body) {
  return pool_call(handle, [&](Pool& pool) {
    if (!pool.is_imported) return body(pool);
    return process.refuse(cudaErrorInvalidValue, "failed call",
                          [] { return std::string("the pool is another process's"); });
  });
}

}  // namespace

Pool& add_pool(const cudaMemPoolProps& properties) {
  auto pool = std::make_unique<Pool>();
  pool->properties = properties;
  return pools().all.add(std::move(pool));
}

cudaMemPool_t handle_of(const Pool& pool) {
  return reinterpret_cast<cudaMemPool_t>(const_cast<Pool*>(&pool));
}

Pool* pool_of(cudaMemPool_t handle) { return pools().all.find(handle); }

Pool& current_pool(int device) {
  return *current({cudaMemLocationTypeDevice, device}, cudaMemAllocationTypePinned);
}

Pool* pool_holding(std::uint64_t address) {
  for (const auto& [handle, pool] : pools().all) {
    if (pool->addresses.contains(address)) return pool.get();
  }
  return nullptr;
}

cudaError_t give_in_order(Process& process, void** pointer, std::size_t bytes, cudaStream_t handle,
                          Pool* pool) {
  const Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  Pool& from = pool != nullptr ? *pool : current_pool(stream->device);
  if (stream->capture == nullptr) {
    const std::uint64_t most = from.properties.maxSize;
    if (most != 0 && bytes > most - std::min(most, used(process, from))) {
      return cudaErrorMemoryAllocation;
    }
    const Block* block = allocate(process, from, bytes);
    if (block == nullptr) return cudaErrorMemoryAllocation;
    count(process, from, block->address);
    if (Races* races = process.races()) {
      races->allocated(*process.stream(handle), *block, process.function());
    }
    *pointer = reinterpret_cast<void*>(block->address);
    return cudaSuccess;
  }
  AllocationWork allocation;
  allocation.parameters.bytesize = bytes;
  allocation.parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.parameters.poolProps.location = {cudaMemLocationTypeDevice, stream->device};
  const bool is_placed =
      place(process.memory(), *stream->capture->graph, stream->capture_after, allocation);
  if (!is_placed) return cudaErrorMemoryAllocation;
  *pointer = allocation.parameters.dptr;
  return submit(process, handle, allocation);
}

namespace memory_pools {
namespace {

cudaError_t allocate_async(Process& process, void** pointer, std::size_t bytes,
                           cudaStream_t stream) {
  return give_in_order(process, pointer, bytes, stream, nullptr);
}

cudaError_t allocate_from_pool_async(Process& process, void** pointer, std::size_t bytes,
                                     cudaMemPool_t handle, cudaStream_t stream) {
  return own_pool_call(process, handle, [&](Pool& pool) {
    return give_in_order(process, pointer, bytes, stream, &pool);
  });
}

cudaError_t mem_get_default_mem_pool(Process& process, cudaMemPool_t* result,
                                     cudaMemLocation* location, cudaMemAllocationType type) {
  const cudaError_t mistake = owner_mistake(process, location, type);
  if (result == nullptr || mistake == cudaErrorInvalidValue) return cudaErrorInvalidValue;
  if (mistake == cudaSuccess) *result = handle_of(*default_pool(*location, type));
  return mistake;
}

cudaError_t mem_get_mem_pool(Process& process, cudaMemPool_t* result, cudaMemLocation* location,
                             cudaMemAllocationType type) {
  const cudaError_t mistake = owner_mistake(process, location, type);
  if (result == nullptr || mistake == cudaErrorInvalidValue) return cudaErrorInvalidValue;
  if (mistake == cudaSuccess) *result = handle_of(*current(*location, type));
  return mistake;
}

cudaError_t mem_set_mem_pool(Process& process, cudaMemLocation* location,
                             cudaMemAllocationType type, cudaMemPool_t handle) {
  return own_pool_call(process, handle, [&](Pool& pool) {
    const cudaError_t mistake = owner_mistake(process, location, type);
    if (mistake != cudaSuccess) return mistake;
    const cudaMemPoolProps& own = pool.properties;
    if (owner_of(own.location, own.allocType) != owner_of(*location, type)) {
      return cudaErrorInvalidValue;
    }
    current(*location, type) = &pool;
    return cudaSuccess;
  });
}

cudaError_t device_get_default_mem_pool(Process& process, cudaMemPool_t* result, int device) {
  cudaMemLocation location = {cudaMemLocationTypeDevice, device};
  return mem_get_default_mem_pool(process, result, &location, cudaMemAllocationTypePinned);
}

cudaError_t device_get_mem_pool(Process& process, cudaMemPool_t* result, int device) {
  cudaMemLocation location = {cudaMemLocationTypeDevice, device};
  return mem_get_mem_pool(process, result, &location, cudaMemAllocationTypePinned);
}

cudaError_t device_set_mem_pool(Process& process, int device, cudaMemPool_t handle) {
  cudaMemLocation location = {cudaMemLocationTypeDevice, device};
  return mem_set_mem_pool(process, &location, cudaMemAllocationTypePinned, handle);
}

cudaError_t create(Process& process, cudaMemPool_t* result, const cudaMemPoolProps* properties) {
  if (result == nullptr || properties == nullptr) return cudaErrorInvalidValue;
  if (owner_mistake(process, &properties->location, properties->allocType) != cudaSuccess) {
    return cudaErrorInvalidValue;
  }
  const bool is_of_host = properties->location.type == cudaMemLocationTypeHost;
  if (is_of_host && properties->handleTypes != 0) return cudaErrorInvalidValue;
  *result = handle_of(add_pool(*properties));
  return cudaSuccess;
}

/// Memory from the pool stays until it is given back.
cudaError_t destroy(cudaMemPool_t handle) {
  return pool_call(handle, [&](Pool& pool) {
    if (pool.is_default) return cudaErrorInvalidValue;
    std::erase_if(pools().current, [&](const auto& one) { return one.second == &pool; });
    pools().all.take(handle);
    return cudaSuccess;
  });
}

cudaError_t set_attribute(Process& process, cudaMemPool_t handle, cudaMemPoolAttr which,
                          void* value) {
  return own_pool_call(process, handle, [&](Pool& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (which) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        pool.reuse[static_cast<std::size_t>(which - 1)] = *static_cast<int*>(value) != 0 ? 1 : 0;
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        pool.threshold = *static_cast<std::uint64_t*>(value);
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:  // set back, to what there is now
        if (*static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        if (which == cudaMemPoolAttrUsedMemHigh) {
          pool.used_high = used(process, pool);
        } else {
          pool.reserved_high = reserved(process, pool);
        }
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t get_attribute(Process& process, cudaMemPool_t handle, cudaMemPoolAttr which,
                          void* value) {
  return own_pool_call(process, handle, [&](Pool& pool) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto put = [&](std::uint64_t number) {
      *static_cast<std::uint64_t*>(value) = number;
      return cudaSuccess;
    };
    switch (which) {
      case cudaMemPoolReuseFollowEventDependencies:
      case cudaMemPoolReuseAllowOpportunistic:
      case cudaMemPoolReuseAllowInternalDependencies:
        *static_cast<int*>(value) = pool.reuse[static_cast<std::size_t>(which - 1)];
        return cudaSuccess;
      case cudaMemPoolAttrReleaseThreshold:
        return put(pool.threshold);
      case cudaMemPoolAttrReservedMemCurrent:
        return put(reserved(process, pool));
      case cudaMemPoolAttrReservedMemHigh:
        return put(pool.reserved_high);
      case cudaMemPoolAttrUsedMemCurrent:
        return put(used(process, pool));
      case cudaMemPoolAttrUsedMemHigh:
        return put(pool.used_high);
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t trim_to(Process& process, cudaMemPool_t handle, std::size_t least) {
  return own_pool_call(process, handle, [&](Pool& pool) {
    const std::uint64_t needed = model::round_up(used(process, pool), reserved_step);
    pool.reserved = std::max(needed, std::min<std::uint64_t>(pool.reserved, least));
    return cudaSuccess;
  });
}

cudaError_t set_access(Process& process, cudaMemPool_t handle, const cudaMemAccessDesc* wanted,
                       std::size_t count) {
  return pool_call(handle, [&](Pool& pool) {
    if (wanted == nullptr && count > 0) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      const cudaMemLocation& location = wanted[i].location;
      if (location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
      if (location.id < 0 || location.id >= process.devices()) return cudaErrorInvalidDevice;
      const bool is_own = pool.is_of_device() && pool.properties.location.id == location.id;
      if (is_own && wanted[i].flags != cudaMemAccessFlagsProtReadWrite) {
        const bool is_read = wanted[i].flags == cudaMemAccessFlagsProtRead;
        return is_read ? cudaErrorNotSupported : cudaErrorInvalidValue;
      }
    }
    for (std::size_t i = 0; i < count; ++i) pool.access[wanted[i].location.id] = wanted[i].flags;
    return cudaSuccess;
  });
}

cudaError_t get_access(Process& process, cudaMemAccessFlags* flags, cudaMemPool_t handle,
                       cudaMemLocation* location) {
  return pool_call(handle, [&](Pool& pool) {
    if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (location->type != cudaMemLocationTypeDevice) {
      const bool is_of_host = !pool.is_of_device();
      *flags = is_of_host ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
      return cudaSuccess;
    }
    if (location->id < 0 || location->id >= process.devices()) return cudaErrorInvalidDevice;
    const auto set = pool.access.find(location->id);
    const bool is_own = pool.is_of_device() && pool.properties.location.id == location->id;
    *flags = set != pool.access.end() ? set->second
             : is_own                 ? cudaMemAccessFlagsProtReadWrite
                                      : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace memory_pools

std::vector<Answer> pool_answers() {
  return {
      ANSWER(cudaMallocAsync, memory_pools::allocate_async, Needs::context),
      BOTH(cudaMallocFromPoolAsync, cuMemAllocFromPoolAsync, memory_pools::allocate_from_pool_async,
           Needs::context),
      ANSWER(cudaMemGetDefaultMemPool, memory_pools::mem_get_default_mem_pool, Needs::device),
      ANSWER(cuMemGetDefaultMemPool, memory_pools::mem_get_default_mem_pool, Needs::initialised),
      ANSWER(cudaMemGetMemPool, memory_pools::mem_get_mem_pool, Needs::device),
      ANSWER(cuMemGetMemPool, memory_pools::mem_get_mem_pool, Needs::initialised),
      ANSWER(cudaMemSetMemPool, memory_pools::mem_set_mem_pool, Needs::context),
      ANSWER(cuMemSetMemPool, memory_pools::mem_set_mem_pool, Needs::initialised),
      ANSWER(cudaDeviceGetDefaultMemPool, memory_pools::device_get_default_mem_pool, Needs::device),
      ANSWER(cuDeviceGetDefaultMemPool, memory_pools::device_get_default_mem_pool,
             Needs::initialised),
      ANSWER(cudaDeviceGetMemPool, memory_pools::device_get_mem_pool, Needs::device),
      ANSWER(cuDeviceGetMemPool, memory_pools::device_get_mem_pool, Needs::initialised),
      ANSWER(cudaDeviceSetMemPool, memory_pools::device_set_mem_pool, Needs::context),
      ANSWER(cuDeviceSetMemPool, memory_pools::device_set_mem_pool, Needs::initialised),
      BOTH(cudaMemPoolCreate, cuMemPoolCreate, memory_pools::create, Needs::context),
      BOTH(cudaMemPoolDestroy, cuMemPoolDestroy, memory_pools::destroy, Needs::context),
      BOTH(cudaMemPoolSetAttribute, cuMemPoolSetAttribute, memory_pools::set_attribute,
           Needs::context),
      BOTH(cudaMemPoolGetAttribute, cuMemPoolGetAttribute, memory_pools::get_attribute,
           Needs::context),
      BOTH(cudaMemPoolTrimTo, cuMemPoolTrimTo, memory_pools::trim_to, Needs::context),
      BOTH(cudaMemPoolSetAccess, cuMemPoolSetAccess, memory_pools::set_access, Needs::context),
      BOTH(cudaMemPoolGetAccess, cuMemPoolGetAccess, memory_pools::get_access, Needs::context),
  };
}

}  // namespace warpmeter::runtime
