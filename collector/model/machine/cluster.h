// SPDX-License-Identifier: MIT
// Clusters: blocks that run side by side, wait for each other, and reach each other's shared
// memory.
//
// Addresses in block r's shared memory are, for the others, (r + 1) × cluster_step above their
// places there. A block's own memory has no such part, also where mapa names it by its rank; on the
// hardware every address has its block's rank there, that of the block itself too, so that an
// address that was not made by mapa must not be handed to another block here.
//
// The barrier is in phases: a phase is over when all threads of the cluster that have not ended
// have arrived in it.
//
// The memory of a block that has ended stays, and who reaches for it is told. On an H200 it goes at
// some time after the end, also where the others know of the end by the barrier, and who comes
// later fails with a launch failure, whatever the access.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/geometry.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

class BlockObserver;

inline constexpr std::uint32_t cluster_step = 1 << 24;
inline constexpr std::uint32_t most_blocks_of_cluster = 16;

/// Blocks in the order in which they are given out, cluster by cluster: the linear index, x
/// fastest, of the `index`-th.
std::uint64_t block_in_clusters(std::uint64_t index, const Dim3& grid, const Dim3& cluster);
/// The rank of a block in its cluster.
std::uint32_t rank_in_cluster(const std::array<std::uint32_t, 3>& block, const Dim3& cluster);

class Cluster {
 public:
  explicit Cluster(std::uint32_t blocks) : members_(blocks) {}

  struct Member {
    std::span<std::byte> shared;
    std::span<const Warp> warps;  ///< empty: the block has not begun
    BlockObserver* observer = nullptr;
    bool has_ended = false;
  };
  void join(std::uint32_t rank, const Member& block) { members_[rank] = block; }
  void end(std::uint32_t rank) { members_[rank].has_ended = true; }

  /// The shared memory of a block that has begun; else empty.
  std::span<std::byte> shared_of(std::uint32_t rank) const;
  bool has_ended(std::uint32_t rank) const;

  /// Lanes of a warp arrive in the phase.
  void arrive(Warp& warp, std::uint32_t lanes) const;
  /// True if the phase is over that the warp arrived in last.
  bool is_over(const Warp& warp);

 private:
  bool have_all_arrived() const;

  std::vector<Member> members_;
  std::uint64_t phase_ = 1;
};

}  // namespace warpmeter::model
