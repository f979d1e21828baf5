// SPDX-License-Identifier: MIT
// Pools that memory is taken from in the order of streams. All of it is the device's memory like
// any other; what pools add is whose it is, and how much.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "collector/runtime/memory/shareable.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

struct Pool {
  cudaMemPoolProps properties{};
  bool is_default = false;
  std::map<int, cudaMemAccessFlags> access;  ///< by device, where it was set
  std::array<int, 3> reuse = {1, 1, 1};      ///< the attributes that are switches
  std::uint64_t threshold = 0, used_high = 0, reserved = 0, reserved_high = 0;
  std::set<std::uint64_t> addresses;  ///< the allocations from it; some may have been given back
  std::unique_ptr<Shareable> shared;  ///< the handle for other processes, or from one
  bool is_imported = false;           ///< it is another process's: nothing is taken from it here

  bool is_of_device() const { return properties.location.type == cudaMemLocationTypeDevice; }
};

Pool& add_pool(const cudaMemPoolProps& properties);
cudaMemPool_t handle_of(const Pool& pool);
/// Null for none.
Pool* pool_of(cudaMemPool_t handle);
Pool& current_pool(int device);
/// The one that memory was taken from; null: none.
Pool* pool_holding(std::uint64_t address);

/// Memory from a pool, or from the current one of the stream's device for null: at once, or when a
/// graph gets there.
cudaError_t give_in_order(Process& process, void** pointer, std::size_t bytes, cudaStream_t stream,
                          Pool* pool);

}  // namespace warpmeter::runtime
