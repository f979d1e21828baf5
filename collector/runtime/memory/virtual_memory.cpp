// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/virtual_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "collector/model/machine/memory/align.h"

namespace warpmeter::runtime {
namespace {

bool is_in_steps(std::uint64_t number) { return number % physical_granularity == 0; }

/// Nothing is there any more, and nobody else's gets there.
void clear(void* at, std::uint64_t bytes) {
  [[maybe_unused]] const void* cleared =
      mmap(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/// The same pages a second time: what mremap does with shared ones whose old size is 0.
bool map_again(void* pages, std::uint64_t bytes, void* at) {
  return mremap(pages, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at;
}

/// The access that kernels have. Those of one device reach what those of another do.
CUmemAccess_flags access_of_devices(const VirtualMemory::Mapping& mapping) {
  unsigned all = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  for (const auto& [device, flags] : mapping.access) {
    if (device != VirtualMemory::host_access) all |= static_cast<unsigned>(flags);
  }
  return static_cast<CUmemAccess_flags>(all);
}

/// The mappings as stretches without a gap.
template <class Mappings, class Visit>
void for_each_run(const Mappings& all, const Visit& visit) {
  for (auto first = all.begin(); first != all.end();) {
    const std::uint64_t begin = (*first)->first;
    std::uint64_t end = begin;
    for (; first != all.end() && (*first)->first == end; ++first) end += (*first)->second.bytes;
    visit(begin, end - begin);
  }
}

}  // namespace

Physical::Physical(Memory& from, std::uint64_t size, const CUmemAllocationProp& wanted)
    : memory(from), bytes(size), properties(wanted), is_imported_(false) {
  if (takes_of_device() && !memory.take(properties.location.id, bytes)) return;
  if ((properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
    shareable = Shareable::make(Shareable::Kind::memory, properties.location.id, bytes);
    if (shareable != nullptr) pages = shareable->map();
  } else {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped != MAP_FAILED) pages = mapped;
  }
  if (pages == nullptr && takes_of_device()) memory.give_back(properties.location.id, bytes);
}

Physical::Physical(Memory& from, const Shareable& shared, const CUmemAllocationProp& wanted)
    : memory(from),
      bytes(shared.bytes()),
      properties(wanted),
      pages(shared.map()),
      is_imported_(true) {}

Physical::~Physical() {
  if (pages == nullptr) return;
  munmap(pages, bytes);
  if (takes_of_device()) memory.give_back(properties.location.id, bytes);
}

std::byte* VirtualMemory::counterpart(std::uint64_t address) {
  if (counterparts_ == nullptr) {
    void* mapped = mmap(nullptr, model::first_window - model::first_allocation, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    counterparts_ = static_cast<std::byte*>(mapped);
  }
  return counterparts_ + (address - model::first_allocation);
}

/// The wished range that was given back, or else, without a wish, any.
std::uint64_t VirtualMemory::reuse(std::uint64_t bytes, std::uint64_t alignment,
                                   std::uint64_t wished) {
  for (const auto& [begin, room] : given_back_) {
    const std::uint64_t at = wished != 0 ? wished : model::round_up(begin, alignment);
    if (at < begin || at - begin > room || bytes > room - (at - begin)) continue;
    const std::uint64_t end = begin + room, first = begin;
    given_back_.erase(first);
    if (at > first) given_back_[first] = at - first;
    if (end > at + bytes) given_back_[at + bytes] = end - (at + bytes);
    return at;
  }
  return 0;
}

CUresult VirtualMemory::reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wished,
                                Label label, std::uint64_t& address) {
  const bool is_aligned = alignment == 0 || std::has_single_bit(alignment);
  if (bytes == 0 || bytes % host_page_bytes != 0 || wished % host_page_bytes != 0 || !is_aligned) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::uint64_t taken = model::round_up(bytes, physical_granularity);
  const std::uint64_t step = std::max(alignment, physical_granularity);
  if (taken < bytes || counterpart(model::first_allocation) == nullptr) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  // A wish that cannot be granted is none.
  if (wished % step != 0) wished = 0;
  std::uint64_t at = wished != 0 ? reuse(taken, step, wished) : 0;
  if (at == 0) at = memory_.addresses(taken, step, wished);
  if (at == 0) at = reuse(taken, step, 0);
  if (at == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  reserved_[at] = {at, bytes, std::move(label)};
  address = at;
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::free(std::uint64_t address, std::uint64_t bytes) {
  const auto found = reserved_.find(address);
  if (found == reserved_.end() || found->second.bytes != bytes) return CUDA_ERROR_INVALID_VALUE;
  const auto mapped = mappings_.lower_bound(address);
  if (mapped != mappings_.end() && mapped->first < address + bytes) return CUDA_ERROR_INVALID_VALUE;
  reserved_.erase(found);
  given_back_[address] = model::round_up(bytes, physical_granularity);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::create(std::uint64_t bytes, const CUmemAllocationProp& properties,
                               Label label, CUmemGenericAllocationHandle& handle) {
  if (bytes == 0 || !is_in_steps(bytes)) return CUDA_ERROR_INVALID_VALUE;
  return keep(std::make_shared<Physical>(memory_, bytes, properties), std::move(label), handle);
}

CUresult VirtualMemory::import(const Shareable& shared, Label label,
                               CUmemGenericAllocationHandle& handle) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, shared.device()};
  return keep(std::make_shared<Physical>(memory_, shared, properties), std::move(label), handle);
}

CUresult VirtualMemory::keep(std::shared_ptr<Physical> made, Label label,
                             CUmemGenericAllocationHandle& handle) {
  if (made->pages == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  made->name = std::move(label.name);
  made->where = std::move(label.where);
  made->references = 1;
  made->handle = handle = next_handle_++;
  handles_[handle] = std::move(made);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return CUDA_ERROR_INVALID_VALUE;
  if (--found->second->references == 0) handles_.erase(found);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::map(std::uint64_t address, std::uint64_t bytes,
                            CUmemGenericAllocationHandle handle) {
  const auto known = handles_.find(handle);
  const Reservation* reserved = reservation_at(address);
  if (known == handles_.end() || reserved == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes != known->second->bytes || !is_in_steps(address)) return CUDA_ERROR_INVALID_VALUE;
  // Reservations that follow each other are one for this.
  std::uint64_t end = reserved->address + reserved->bytes;
  for (auto next = reserved_.find(end); end < address + bytes && next != reserved_.end();
       next = reserved_.find(end)) {
    end += next->second.bytes;
  }
  const auto behind = mappings_.lower_bound(address);
  if (bytes > end - address || mapping_at(address) != nullptr ||
      (behind != mappings_.end() && behind->first < address + bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!map_again(known->second->pages, bytes, counterpart(address))) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  mappings_[address] = {bytes, known->second, {}};
  ++known->second->mappings;
  return CUDA_SUCCESS;
}

bool VirtualMemory::whole_mappings(std::uint64_t address, std::uint64_t bytes,
                                   std::vector<Mappings::iterator>& all) {
  const std::uint64_t end = address + bytes;
  if (bytes == 0 || end < address || !is_in_steps(address) || !is_in_steps(bytes)) return false;
  for (std::uint64_t at = address; at < end;) {
    const Reservation* reserved = reservation_at(at);
    if (reserved == nullptr) return false;
    at = reserved->address + model::round_up(reserved->bytes, physical_granularity);
  }
  std::uint64_t begin = address;
  if (mapping_at(address, &begin) != nullptr && begin != address) return false;
  for (auto next = mappings_.lower_bound(address); next != mappings_.end() && next->first < end;
       ++next) {
    if (next->second.bytes > end - next->first) return false;
    all.push_back(next);
  }
  return true;
}

CUresult VirtualMemory::unmap(std::uint64_t address, std::uint64_t bytes) {
  std::vector<Mappings::iterator> gone;
  if (!whole_mappings(address, bytes, gone)) return CUDA_ERROR_INVALID_VALUE;
  if (gone.empty()) return CUDA_SUCCESS;
  for (const Mappings::iterator& one : gone) {
    if (one->second.access.contains(host_access)) {
      clear(reinterpret_cast<void*>(one->first), one->second.bytes);
    }
    one->second.access.clear();
  }
  for_each_run(gone, [&](std::uint64_t begin, std::uint64_t size) { renew(begin, size); });
  for (const Mappings::iterator& one : gone) {
    --one->second.physical->mappings;
    mappings_.erase(one);
  }
  clear(counterpart(address), bytes);
  return CUDA_SUCCESS;
}

CUresult VirtualMemory::set_access(std::uint64_t address, std::uint64_t bytes,
                                   const std::vector<CUmemAccessDesc>& wanted) {
  std::vector<Mappings::iterator> all;
  if (!whole_mappings(address, bytes, all) || all.empty()) return CUDA_ERROR_INVALID_VALUE;
  // Host code reaches what lies in the host's memory, and none of the device's.
  const bool is_host = std::all_of(all.begin(), all.end(), [](const Mappings::iterator& one) {
    return one->second.physical->is_host();
  });
  for (const CUmemAccessDesc& one : wanted) {
    if (one.location.type != CU_MEM_LOCATION_TYPE_DEVICE && !is_host) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  for (const CUmemAccessDesc& one : wanted) {
    const bool is_of_host = one.location.type != CU_MEM_LOCATION_TYPE_DEVICE;
    for (const Mappings::iterator& mapping : all) {
      mapping->second.access[is_of_host ? host_access : one.location.id] = one.flags;
      if (!is_of_host) continue;
      void* at = reinterpret_cast<void*>(mapping->first);
      if (!map_again(mapping->second.physical->pages, mapping->second.bytes, at)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
      }
      // The bits of both are the same: 1 to read, 2 to write.
      mprotect(at, mapping->second.bytes, static_cast<int>(one.flags));
    }
  }
  for_each_run(all, [&](std::uint64_t begin, std::uint64_t size) { renew(begin, size); });
  tell_of_contents(address, bytes);
  return CUDA_SUCCESS;
}

bool VirtualMemory::is_open(std::uint64_t address, std::uint64_t bytes, int device) const {
  for (auto at = mappings_.lower_bound(address);
       at != mappings_.end() && at->first < address + bytes; ++at) {
    const auto flags = at->second.access.find(device);
    if (flags != at->second.access.end() && flags->second != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
      return true;
    }
  }
  return false;
}

void VirtualMemory::tell_of_contents(std::uint64_t address, std::uint64_t bytes) {
  MemoryObserver* observer = memory_.observer();
  if (observer == nullptr) return;
  for (auto at = mappings_.lower_bound(address);
       at != mappings_.end() && at->first < address + bytes; ++at) {
    Physical& physical = *at->second.physical;
    if (access_of_devices(at->second) == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
    const bool was_reached = std::exchange(physical.was_reached, true);
    // Others than this process's devices may write it.
    const bool is_shared =
        physical.is_host() || physical.is_imported() || physical.shareable != nullptr;
    if (physical.mappings > 1 || is_shared) {
      for (const auto& [place, other] : mappings_) {
        if (other.physical == at->second.physical) observer->is_shared(place, other.bytes);
      }
    } else if (!was_reached) {
      observer->is_fresh(at->first, at->second.bytes);
    }
  }
}

void VirtualMemory::renew(std::uint64_t address, std::uint64_t bytes) {
  // With all that it is joined to.
  auto first = mappings_.find(address);
  while (first != mappings_.begin()) {
    const auto before = std::prev(first);
    if (before->first + before->second.bytes != first->first) break;
    first = before;
  }
  auto last = mappings_.lower_bound(address + bytes);
  std::uint64_t end = address + bytes;
  for (; last != mappings_.end() && last->first == end; ++last) end += last->second.bytes;
  const auto gone = std::pair(stretches_.lower_bound(first->first), stretches_.lower_bound(end));
  for (auto stretch = gone.first; stretch != gone.second; ++stretch) memory_.release(*stretch);
  stretches_.erase(gone.first, gone.second);

  while (first != last) {
    const std::uint64_t begin = first->first;
    const CUmemAccess_flags access = access_of_devices(first->second);
    const int device = first->second.physical->properties.location.id;
    std::uint64_t size = 0;
    for (; first != last && access_of_devices(first->second) == access; ++first) {
      size += first->second.bytes;
    }
    if (access == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
    const Reservation* reserved = reservation_at(begin);
    memory_.show(begin, counterpart(begin), size, std::max(device, 0), reserved->label,
                 access == CU_MEM_ACCESS_FLAGS_PROT_READ);
    stretches_.insert(begin);
  }
  if (memory_.observer() != nullptr) memory_.observer()->renewed();
}

Physical* VirtualMemory::retain(std::uint64_t address) {
  const Mapping* mapping = mapping_at(address);
  if (mapping == nullptr) return nullptr;
  Physical& physical = *mapping->physical;
  ++physical.references;
  handles_[physical.handle] = mapping->physical;
  return &physical;
}

const Physical* VirtualMemory::physical(CUmemGenericAllocationHandle handle) const {
  const auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second.get();
}

const VirtualMemory::Reservation* VirtualMemory::reservation_at(std::uint64_t address) const {
  const auto after = reserved_.upper_bound(address);
  if (after == reserved_.begin()) return nullptr;
  const Reservation& reserved = std::prev(after)->second;
  return address - reserved.address < reserved.bytes ? &reserved : nullptr;
}

const VirtualMemory::Mapping* VirtualMemory::mapping_at(std::uint64_t address,
                                                        std::uint64_t* begin) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return nullptr;
  const auto& [at, mapping] = *std::prev(after);
  if (address - at >= mapping.bytes) return nullptr;
  if (begin != nullptr) *begin = at;
  return &mapping;
}

std::vector<VirtualMemory::Kept> VirtualMemory::kept() const {
  std::map<CUmemGenericAllocationHandle, const Physical*> all;  // as they were made
  for (const auto& [handle, physical] : handles_) all[handle] = physical.get();
  for (const auto& [address, mapping] : mappings_) {
    all[mapping.physical->handle] = mapping.physical.get();
  }
  std::vector<Kept> result;
  for (const auto& [handle, one] : all) {
    if (one->is_imported()) continue;  // it is for its owner to free
    result.push_back({one->name, one->where, one->bytes, one->references == 0});
  }
  return result;
}

}  // namespace warpmeter::runtime
