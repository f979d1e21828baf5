// SPDX-License-Identifier: MIT
#include "collector/model/machine/cluster.h"

#include <algorithm>

#include "collector/model/machine/observer.h"
#include "collector/model/machine/warp/cluster_barrier.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

bool is_there(const Cluster::Member& member) { return !member.warps.empty() && !member.has_ended; }

/// Their block has met, as at a barrier of its own.
void tell(const Cluster::Member& member) {
  Meeting meeting;
  meeting.barrier = barrier_of_cluster;
  for (const Warp& warp : member.warps) {
    (warp.status == WarpStatus::finished ? meeting.finished : meeting.waiting) |= 1u << warp.index;
  }
  member.observer->release(meeting);
}

}  // namespace

std::uint64_t block_in_clusters(std::uint64_t index, const Dim3& grid, const Dim3& cluster) {
  const std::uint64_t rank = index % cluster.count(), number = index / cluster.count();
  const std::uint64_t across = grid.x / cluster.x, down = grid.y / cluster.y;
  const std::uint64_t x = number % across * cluster.x + rank % cluster.x;
  const std::uint64_t y = number / across % down * cluster.y + rank / cluster.x % cluster.y;
  const std::uint64_t z = number / across / down * cluster.z + rank / cluster.x / cluster.y;
  return (z * grid.y + y) * grid.x + x;
}

std::uint32_t rank_in_cluster(const std::array<std::uint32_t, 3>& block, const Dim3& cluster) {
  return (block[2] % cluster.z * cluster.y + block[1] % cluster.y) * cluster.x +
         block[0] % cluster.x;
}

std::span<std::byte> Cluster::shared_of(std::uint32_t rank) const {
  if (rank >= members_.size() || members_[rank].warps.empty()) return {};
  return members_[rank].shared;
}

bool Cluster::has_ended(std::uint32_t rank) const {
  return rank < members_.size() && members_[rank].has_ended;
}

void Cluster::arrive(Warp& warp, std::uint32_t lanes) const {
  if (warp.cluster_phase != phase_) warp.cluster_lanes = 0;
  warp.cluster_phase = phase_;
  warp.cluster_lanes |= lanes;
}

bool Cluster::have_all_arrived() const {
  const auto has_arrived = [&](const Warp& warp) {
    if (warp.status == WarpStatus::finished) return true;
    const std::uint32_t lanes = warp.cluster_phase == phase_ ? warp.cluster_lanes : 0;
    return (warp.alive & ~lanes) == 0;
  };
  return std::all_of(members_.begin(), members_.end(), [&](const Member& member) {
    if (member.has_ended) return true;
    return !member.warps.empty() &&
           std::all_of(member.warps.begin(), member.warps.end(), has_arrived);
  });
}

bool Cluster::is_over(const Warp& warp) {
  if (warp.cluster_phase < phase_) return true;
  if (!have_all_arrived()) return false;
  ++phase_;
  for (const Member& member : members_) {
    if (is_there(member) && member.observer != nullptr) tell(member);
  }
  return true;
}

void arrive_in_cluster(Warp& warp, std::uint32_t lanes) {
  warp.memory->cluster->arrive(warp, lanes);
}

bool may_leave_cluster_barrier(const Warp& warp) { return warp.memory->cluster->is_over(warp); }

}  // namespace warpmeter::model
