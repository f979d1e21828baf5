// SPDX-License-Identifier: MIT
#include "collector/model/machine/windows.h"

#include <span>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/cluster.h"
#include "collector/model/machine/memory/sharing.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

AddressSpace space_at(std::uint64_t generic) {
  for (const AddressSpace space :
       {AddressSpace::shared, AddressSpace::local, AddressSpace::constant, AddressSpace::param}) {
    if (generic - window_of(space) < window_bytes) return space;
  }
  return AddressSpace::global;
}

/// The shared memory of another block; `offset`: in the window of shared memory.
Window window_of_cluster(const Cluster& cluster, std::uint64_t begin, std::uint64_t offset) {
  const auto block = static_cast<std::uint32_t>(offset / cluster_step);
  const std::span<std::byte> shared = cluster.shared_of(block - 1);
  return {AddressSpace::cluster,
          begin + std::uint64_t{block} * cluster_step,
          shared.size(),
          shared.data(),
          nullptr,
          cluster.has_ended(block - 1)};
}

}  // namespace

Window window_at(const Warp& w, const SiteInfo& info, std::uint64_t address, unsigned lane) {
  WorkerMemory& memory = *w.memory;
  const bool is_generic = info.space == AddressSpace::generic;
  const AddressSpace space = is_generic ? space_at(address) : info.space;
  const std::uint64_t begin = is_generic ? window_of(space) : 0;
  switch (space) {
    case AddressSpace::shared:
    case AddressSpace::cluster:
      if (memory.cluster != nullptr && address - begin >= cluster_step) {
        return window_of_cluster(*memory.cluster, begin, address - begin);
      }
      return {space, begin, memory.shared_bytes, memory.shared.data()};
    case AddressSpace::local: {
      const std::uint64_t bytes = memory.program->local_bytes;
      return {space, begin, bytes, memory.local.data() + (w.index * warp_lanes + lane) * bytes};
    }
    case AddressSpace::constant:
      return {space, begin, memory.constants.size(), memory.constants.data()};
    case AddressSpace::param:
      return {space, begin, memory.parameters.size(), memory.parameters.data()};
    case AddressSpace::global:
    case AddressSpace::generic:
      break;
  }
  Allocation* allocation = memory.device->find(address);
  if (allocation == nullptr || allocation->is_out_of_reach) {
    return {AddressSpace::global, 0, 0, nullptr};
  }
  const bool stores = info.kind != AccessKind::load;
  if (stores && allocation->is_read_only) return {AddressSpace::global, 0, 0, nullptr};
  return {AddressSpace::global, allocation->address, allocation->data.size(),
          allocation->data.data(),
          memory.footprint != nullptr ? memory.footprint->enter(*allocation, stores) : nullptr};
}

Window slack_at(const Warp& w, std::uint64_t address) {
  Allocation* allocation = w.memory->device->find_slack(address);
  if (allocation == nullptr || allocation->is_read_only || allocation->is_out_of_reach) {
    return {AddressSpace::global, 0, 0, nullptr};
  }
  if (w.memory->footprint != nullptr) w.memory->footprint->give_up();
  return {AddressSpace::global, allocation->address - allocation->slack_before,
          allocation->slack_before + allocation->data.size() + allocation->slack_behind,
          allocation->data.data() - allocation->slack_before};
}

}  // namespace warpmeter::model
