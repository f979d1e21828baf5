// SPDX-License-Identifier: MIT
// Who may look on while the machine runs: somebody who checks the accesses of a launch, block by
// block. The machine knows only these two faces of it (check/ has them).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/lanes.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// Number of the cluster's barrier: not one of the block's sixteen.
inline constexpr std::uint32_t barrier_of_cluster = 16;

/// Warps that have met at a barrier, and those that have ended meanwhile, a bit each.
struct Meeting {
  std::uint32_t barrier = 0;
  bool is_for_all = false;  ///< for the block, not for a number of threads
  std::uint32_t waiting = 0, arrived = 0, finished = 0;
  std::array<const Operation*, warp_lanes> at{};    ///< where each waiting warp stands
  std::array<const Operation*, warp_lanes> last{};  ///< the last operation of each finished lane
};

/// Where lanes access, counted from the beginning of their space (of global memory: the address;
/// in the cluster: from that of the block's own shared memory, see cluster.h).
struct Places {
  AddressSpace space = AddressSpace::global;
  std::uint32_t mask = 0;
  std::uint64_t base = 0;
  const std::uint64_t* beyond = nullptr;  ///< by lane, added to the base

  std::uint64_t operator[](unsigned lane) const { return base + beyond[lane]; }
};

/// The observer belongs to one worker, block after block.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;

  /// By operation: what run_observed() does with it. See Warp::watched.
  virtual const std::uint8_t* watched() const = 0;
  /// 0 as long as watched() says what it said at first, as machine code is made for it; null: there
  /// is to be none.
  virtual const std::uint8_t* watches_more() const { return nullptr; }
  /// Room for loads with watch_late; null: there are none. Whoever has it tells itself of those in
  /// it before it is told of anything else, and when take_late_loads() is called: before a site
  /// forgets how its lanes lay, too. Whoever need not be told of a site's loads any more, as long
  /// as they lie as it remembers, sets its Site::touched to null.
  virtual LateLoads* late_loads() { return nullptr; }
  virtual void take_late_loads() {}
  /// `shared`: the block's memory.
  virtual void start(std::uint64_t block, const std::byte* shared) = 0;
  /// Before an operation that is watched is executed by the lanes of the mask.
  virtual void observe(const Warp& warp, const Operation* op, std::uint32_t mask) = 0;
  /// A lane's access that is refused: where it may go instead.
  virtual std::byte* refuse(const Warp& warp, const Operation* op, TrapKind kind,
                            AddressSpace space, unsigned lane, std::uint64_t address) = 0;
  /// Accesses of one instruction in one space that are fine, before they are made.
  virtual void accept(const Warp& warp, const Operation* op, const SiteInfo& info,
                      const Places& places) = 0;
  /// The same where the mask and the distances between the lanes are those of the site's last.
  virtual void accept_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                            const Places& places) = 0;
  /// Memory at a generic address that is set for a lane by a call of the device's runtime, or by a
  /// formatted store to a surface (sust.p), whose value in memory is not the register's.
  virtual void written_for(const Warp& warp, unsigned lane, std::uint64_t address,
                           std::uint64_t bytes) = 0;
  /// A warp that arrives at a barrier without waiting there.
  virtual void arrive(std::uint32_t barrier, std::uint32_t warp) = 0;
  virtual void release(const Meeting& meeting) = 0;
  /// Lanes of a warp that wait at a barrier for others, which are elsewhere or have ended instead.
  virtual void part(const Warp& warp, const Operation* barrier, std::uint32_t lanes) = 0;
  /// The block has come to its end.
  virtual void end() {}
};

/// The observer of a whole launch.
class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;

  /// Before the first block: the allocations that the launch stores to, by address, as far as its
  /// code shows. Not called where that may be any.
  virtual void stores_to(const std::set<std::uint64_t>& /*allocations*/) {}
  /// For a worker that runs blocks.
  virtual std::unique_ptr<BlockObserver> new_block_observer() = 0;
  /// A kernel that had to be stopped.
  virtual void stopped(TrapKind kind, std::uint32_t instruction, const std::string& message) = 0;
};

}  // namespace warpmeter::model
