// SPDX-License-Identifier: MIT
// Virtual memory management: what the driver's functions take and refuse.
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/memory/virtual_memory.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace {

bool is_device(const Process& process, const CUmemLocation& location) {
  return location.id >= 0 && location.id < process.devices();
}

bool is_of_host(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_HOST ||
         location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
}

/// The mistake in a location where memory is to lie, or to be accessed from.
CUresult location_mistake(const Process& process, const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
    return is_device(process, location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  }
  return is_of_host(location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult properties_mistake(const Process& process, const CUmemAllocationProp* properties) {
  if (properties == nullptr || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return location_mistake(process, properties->location);
}

CUresult create(Process& process, CUmemGenericAllocationHandle* handle, std::size_t bytes,
                const CUmemAllocationProp* properties, unsigned long long flags) {
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const CUresult mistake = properties_mistake(process, properties);
  if (mistake != CUDA_SUCCESS) return mistake;
  constexpr unsigned known_handles = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const auto handles = static_cast<unsigned>(properties->requestedHandleTypes);
  if (handles != 0 && properties->location.type == CU_MEM_LOCATION_TYPE_HOST) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((handles & ~known_handles) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return process.virtual_memory().create(bytes, *properties, process.name_of_allocation(bytes),
                                         *handle);
}

CUresult reserve(Process& process, CUdeviceptr* pointer, std::size_t bytes, std::size_t alignment,
                 CUdeviceptr wished, unsigned long long flags) {
  if (pointer == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Label label = process.name_of_allocation(bytes);
  if (!label.name.starts_with("'")) label.name = "reserved " + label.name;
  std::uint64_t address = 0;
  const CUresult result =
      process.virtual_memory().reserve(bytes, alignment, wished, std::move(label), address);
  if (result == CUDA_SUCCESS) *pointer = address;
  return result;
}

CUresult set_access(Process& process, CUdeviceptr pointer, std::size_t bytes,
                    const CUmemAccessDesc* wanted, std::size_t count) {
  if (wanted == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUresult mistake = location_mistake(process, wanted[i].location);
    if (mistake != CUDA_SUCCESS) return mistake;
    const bool is_known = wanted[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                          wanted[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                          wanted[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!is_known) return CUDA_ERROR_INVALID_VALUE;
  }
  for (int device = 0; device < process.devices(); ++device) wait_for_device(process, device);
  return process.virtual_memory().set_access(pointer, bytes, {wanted, wanted + count});
}

CUmemAccess_flags access_of(const VirtualMemory::Mapping& mapping, int who) {
  const auto found = mapping.access.find(who);
  return found == mapping.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

template <class Value>
CUresult put_attribute(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

/// For --check: what is wrong with a range of addresses that a call refuses.
CUresult refused(Process& process, CUresult result, const std::string& why) {
  const bool is_about_range =
      result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_NOT_SUPPORTED;
  if (is_about_range && process.checks() != nullptr) {
    process.checks()->because("failed call", why);
  }
  return result;
}

std::string why_not_mapped(Process& process, CUdeviceptr pointer,
                           CUmemGenericAllocationHandle handle) {
  const VirtualMemory& memory = process.virtual_memory();
  if (memory.physical(handle) == nullptr) return "there is no such handle";
  const VirtualMemory::Reservation* reserved = memory.reservation_at(pointer);
  if (reserved == nullptr) return "nothing is reserved there";
  if (memory.mapping_at(pointer) != nullptr) {
    return fmt::format("something is mapped there already, in {}", reserved->label.name);
  }
  return fmt::format("it does not fit into {}, or begins at no multiple of 2 MiB",
                     reserved->label.name);
}

std::string why_no_mappings(Process& process, CUdeviceptr pointer) {
  const VirtualMemory& memory = process.virtual_memory();
  return memory.mapping_at(pointer) == nullptr
             ? "nothing is mapped there, not all of it is reserved, or it ends within a mapping"
             : "it is not the whole of what is mapped there";
}

std::string why_not_given_back(Process& process, CUdeviceptr pointer, std::size_t bytes) {
  const VirtualMemory::Reservation* reserved = process.virtual_memory().reservation_at(pointer);
  if (reserved == nullptr) return "nothing is reserved there";
  const bool is_whole = reserved->address == pointer && reserved->bytes == bytes;
  return fmt::format("{} {}", is_whole ? "something is mapped still in" : "it is not the whole of",
                     reserved->label.name);
}

}  // namespace

CUresult reserved_pointer_attribute(Process& process, void* data, CUpointer_attribute which,
                                    std::uint64_t address) {
  const VirtualMemory& memory = process.virtual_memory();
  const VirtualMemory::Reservation& reserved = *memory.reservation_at(address);
  std::uint64_t begin = 0;
  const VirtualMemory::Mapping* mapping = memory.mapping_at(address, &begin);
  switch (which) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put_attribute<CUdeviceptr>(data, reserved.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put_attribute<std::size_t>(data, reserved.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put_attribute<unsigned>(data, mapping != nullptr ? 1 : 0);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put_attribute<unsigned>(data, 0);
    default:
      break;
  }
  if (mapping == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Physical& physical = *mapping->physical;
  const int device = physical.is_host() ? current_device : physical.properties.location.id;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:  // physical memory belongs to none
      return put_attribute<const void*>(data, nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put_attribute<unsigned>(
          data, physical.is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put_attribute<CUdeviceptr>(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!physical.is_host()) return CUDA_ERROR_INVALID_VALUE;
      return put_attribute<CUdeviceptr>(data, address);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put_attribute<int>(data, device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put_attribute<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put_attribute<std::uint64_t>(
          data, static_cast<std::uint64_t>(physical.properties.requestedHandleTypes));
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put_attribute<unsigned>(data,
                                     static_cast<unsigned>(access_of(*mapping, current_device)));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put_attribute<const void*>(data, nullptr);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put_attribute<std::size_t>(data, mapping->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put_attribute<CUdeviceptr>(data, begin);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put_attribute<unsigned long long>(data, physical.handle);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

namespace virtual_memory {
namespace {

CUresult mem_get_allocation_granularity(Process& process, std::size_t* granularity,
                                        const CUmemAllocationProp* properties,
                                        CUmemAllocationGranularity_flags which) {
  if (granularity == nullptr || (which != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                                 which != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const CUresult mistake = properties_mistake(process, properties);
  if (mistake == CUDA_SUCCESS) *granularity = physical_granularity;
  return mistake;
}

CUresult mem_address_reserve(Process& process, CUdeviceptr* pointer, std::size_t bytes,
                             std::size_t alignment, CUdeviceptr wished, unsigned long long flags) {
  return reserve(process, pointer, bytes, alignment, wished, flags);
}

CUresult mem_address_free(Process& process, CUdeviceptr pointer, std::size_t bytes) {
  return refused(process, process.virtual_memory().free(pointer, bytes),
                 why_not_given_back(process, pointer, bytes));
}

CUresult mem_create(Process& process, CUmemGenericAllocationHandle* handle, std::size_t bytes,
                    const CUmemAllocationProp* properties, unsigned long long flags) {
  return create(process, handle, bytes, properties, flags);
}

CUresult mem_release(Process& process, CUmemGenericAllocationHandle handle) {
  return process.virtual_memory().release(handle);
}

CUresult mem_map(Process& process, CUdeviceptr pointer, std::size_t bytes, std::size_t offset,
                 CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Physical* physical = process.virtual_memory().physical(handle);
  if (physical != nullptr && (offset != 0 || bytes != physical->bytes)) {
    return refused(process, CUDA_ERROR_NOT_SUPPORTED,
                   "a driver maps the whole of what a handle stands for");
  }
  const std::string why = why_not_mapped(process, pointer, handle);
  return refused(process, process.virtual_memory().map(pointer, bytes, handle), why);
}

CUresult mem_unmap(Process& process, CUdeviceptr pointer, std::size_t bytes) {
  for (int device = 0; device < process.devices(); ++device) wait_for_device(process, device);
  const std::string why = why_no_mappings(process, pointer);
  return refused(process, process.virtual_memory().unmap(pointer, bytes), why);
}

CUresult mem_set_access(Process& process, CUdeviceptr pointer, std::size_t bytes,
                        const CUmemAccessDesc* wanted, std::size_t count) {
  return refused(process, runtime::set_access(process, pointer, bytes, wanted, count),
                 why_no_mappings(process, pointer));
}

CUresult mem_get_access(Process& process, unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr pointer) {
  if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult mistake = location_mistake(process, *location);
  if (mistake != CUDA_SUCCESS) return mistake;
  const VirtualMemory::Mapping* mapping = process.virtual_memory().mapping_at(pointer);
  if (mapping == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int who = is_of_host(*location) ? VirtualMemory::host_access : location->id;
  *flags = static_cast<unsigned long long>(access_of(*mapping, who));
  return CUDA_SUCCESS;
}

CUresult mem_retain_allocation_handle(Process& process, CUmemGenericAllocationHandle* handle,
                                      void* pointer) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Physical* physical =
      process.virtual_memory().retain(reinterpret_cast<std::uint64_t>(pointer));
  if (physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = physical->handle;
  return CUDA_SUCCESS;
}

CUresult mem_get_allocation_properties_from_handle(Process& process,
                                                   CUmemAllocationProp* properties,
                                                   CUmemGenericAllocationHandle handle) {
  const Physical* physical = process.virtual_memory().physical(handle);
  if (properties == nullptr || physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *properties = physical->properties;
  return CUDA_SUCCESS;
}

CUresult mem_export_to_shareable_handle(Process& process, void* result,
                                        CUmemGenericAllocationHandle handle,
                                        CUmemAllocationHandleType type, unsigned long long flags) {
  const Physical* physical = process.virtual_memory().physical(handle);
  if (result == nullptr || flags != 0 || physical == nullptr ||
      type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (physical->shareable == nullptr) {
    return refused(process, CUDA_ERROR_INVALID_VALUE,
                   physical->is_imported()
                       ? "it is another process's"
                       : "no descriptor was asked for when it was made (requestedHandleTypes)");
  }
  return put_attribute<int>(result, physical->shareable->handed_out());
}

CUresult mem_import_from_shareable_handle(Process& process, CUmemGenericAllocationHandle* handle,
                                          void* descriptor, CUmemAllocationHandleType type) {
  if (handle == nullptr || type == CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  const auto shared = Shareable::of(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)),
                                    Shareable::Kind::memory);
  if (shared == nullptr) return CUDA_ERROR_UNKNOWN;
  return process.virtual_memory().import(*shared, process.name_of_allocation(shared->bytes()),
                                         *handle);
}

}  // namespace
}  // namespace virtual_memory

std::vector<Answer> virtual_memory_answers() {
  return {
      ANSWER(cuMemGetAllocationGranularity, virtual_memory::mem_get_allocation_granularity,
             Needs::initialised),
      ANSWER(cuMemAddressReserve, virtual_memory::mem_address_reserve, Needs::initialised),
      ANSWER(cuMemAddressFree, virtual_memory::mem_address_free, Needs::initialised),
      ANSWER(cuMemCreate, virtual_memory::mem_create, Needs::initialised),
      ANSWER(cuMemRelease, virtual_memory::mem_release, Needs::initialised),
      ANSWER(cuMemMap, virtual_memory::mem_map, Needs::initialised),
      ANSWER(cuMemUnmap, virtual_memory::mem_unmap, Needs::initialised),
      ANSWER(cuMemSetAccess, virtual_memory::mem_set_access, Needs::initialised),
      ANSWER(cuMemGetAccess, virtual_memory::mem_get_access, Needs::initialised),
      ANSWER(cuMemRetainAllocationHandle, virtual_memory::mem_retain_allocation_handle,
             Needs::initialised),
      ANSWER(cuMemGetAllocationPropertiesFromHandle,
             virtual_memory::mem_get_allocation_properties_from_handle, Needs::initialised),
      ANSWER(cuMemExportToShareableHandle, virtual_memory::mem_export_to_shareable_handle,
             Needs::initialised),
      ANSWER(cuMemImportFromShareableHandle, virtual_memory::mem_import_from_shareable_handle,
             Needs::initialised),
  };
}

}  // namespace warpmeter::runtime
