// SPDX-License-Identifier: MIT
// Virtual memory management: ranges of addresses that the program reserves, physical memory that it
// creates, and which of it lies where.
//
// Neighbours that may be accessed are one stretch: a block of the device's memory, of which kernels
// and copies reach all. All addresses of the device have a counterpart here, so that the bytes lie
// side by side in this process too; the pages of physical memory are mapped to the counterparts of
// wherever the program maps them, as often as it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collector/runtime/device/cuda_api.h"
#include "collector/runtime/memory/memory.h"
#include "collector/runtime/memory/shareable.h"

namespace warpmeter::runtime {

/// The smallest that is created and mapped; sizes and addresses are multiples of it.
inline constexpr std::uint64_t physical_granularity = std::uint64_t{2} << 20;

/// Memory that cuMemCreate made, here or in another process. It lives while a handle or a mapping
/// of it does.
struct Physical {
  Physical(Memory& from, std::uint64_t bytes, const CUmemAllocationProp& properties);
  /// Memory that a process shares. It takes nothing of this process's devices.
  Physical(Memory& from, const Shareable& shared, const CUmemAllocationProp& properties);
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical();

  bool is_imported() const { return is_imported_; }
  bool is_host() const { return properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE; }

  Memory& memory;
  const std::uint64_t bytes;
  const CUmemAllocationProp properties;
  void* pages = nullptr;                 ///< null: there was no room
  std::unique_ptr<Shareable> shareable;  ///< where the program asked for it, and made it here
  std::string name, where;
  CUmemGenericAllocationHandle handle = 0;
  unsigned references = 0;  ///< to the handle
  unsigned mappings = 0;
  bool was_reached = false;  ///< by anybody, at any address

 private:
  bool takes_of_device() const { return !is_host() && !is_imported_; }
  const bool is_imported_;
};

class VirtualMemory {
 public:
  explicit VirtualMemory(Memory& memory) : memory_(memory) {}

  struct Reservation {
    std::uint64_t address = 0, bytes = 0;
    Label label{""};
  };
  struct Mapping {
    std::uint64_t bytes = 0;
    std::shared_ptr<Physical> physical;
    std::map<int, CUmemAccess_flags> access;  ///< by device; host_access: from host code
  };
  static constexpr int host_access = -1;

  CUresult reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wished, Label label,
                   std::uint64_t& address);
  CUresult free(std::uint64_t address, std::uint64_t bytes);
  CUresult create(std::uint64_t bytes, const CUmemAllocationProp& properties, Label label,
                  CUmemGenericAllocationHandle& handle);
  CUresult import(const Shareable& shared, Label label, CUmemGenericAllocationHandle& handle);
  CUresult release(CUmemGenericAllocationHandle handle);
  CUresult map(std::uint64_t address, std::uint64_t bytes, CUmemGenericAllocationHandle handle);
  CUresult unmap(std::uint64_t address, std::uint64_t bytes);
  CUresult set_access(std::uint64_t address, std::uint64_t bytes,
                      const std::vector<CUmemAccessDesc>& wanted);

  /// The handle of what is mapped there, once more; null: nothing is.
  Physical* retain(std::uint64_t address);
  /// Null for none.
  const Physical* physical(CUmemGenericAllocationHandle handle) const;
  /// The reservation with the address; null: nothing does.
  const Reservation* reservation_at(std::uint64_t address) const;
  const Mapping* mapping_at(std::uint64_t address, std::uint64_t* begin = nullptr) const;
  /// True if kernels of the device may access any of these bytes.
  bool is_open(std::uint64_t address, std::uint64_t bytes, int device) const;

  /// Physical memory that has not gone, with what keeps it.
  struct Kept {
    std::string name, where;
    std::uint64_t bytes = 0;
    bool is_released = false;  ///< it is mapped still
  };
  std::vector<Kept> kept() const;

 private:
  using Mappings = std::map<std::uint64_t, Mapping>;

  CUresult keep(std::shared_ptr<Physical> made, Label label, CUmemGenericAllocationHandle& handle);
  std::uint64_t reuse(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wished);
  std::byte* counterpart(std::uint64_t address);
  /// The mappings in a range, which may have gaps; false: it is not reserved, or cuts a mapping.
  bool whole_mappings(std::uint64_t address, std::uint64_t bytes,
                      std::vector<Mappings::iterator>& all);
  /// The stretches around these bytes as the mappings are now.
  void renew(std::uint64_t address, std::uint64_t bytes);
  /// For the checks: what nobody has written, and what has several addresses.
  void tell_of_contents(std::uint64_t address, std::uint64_t bytes);

  Memory& memory_;
  std::byte* counterparts_ = nullptr;  ///< the counterparts of all addresses of the device
  std::map<std::uint64_t, Reservation> reserved_;      ///< by address
  std::map<std::uint64_t, std::uint64_t> given_back_;  ///< bytes by address
  Mappings mappings_;                                  ///< by address
  std::set<std::uint64_t> stretches_;                  ///< their addresses
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<Physical>> handles_;
  CUmemGenericAllocationHandle next_handle_ = 0x10000;
};

class Process;
/// cuPointerGetAttribute of an address in a reserved range.
CUresult reserved_pointer_attribute(Process& process, void* data, CUpointer_attribute which,
                                    std::uint64_t address);

}  // namespace warpmeter::runtime
