// SPDX-License-Identifier: MIT
// The mistakes that --check finds while a kernel runs, one thread of the host at a time: accesses
// out of bounds or misaligned (they are left out, and the kernel goes on), reads of memory that
// nobody has written, accesses that race, copies to shared memory that nobody waits for, barriers
// that threads go past, and masks of *.sync instructions that name lanes which are not there.
//
// A Checker is about one launch; each block that runs has a BlockChecker (block_checker.h), which
// the machine tells of every access and of the operations that it watches (machine/observer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/geometry.h"
#include "collector/model/check/cluster_races.h"
#include "collector/model/check/copies.h"
#include "collector/model/check/findings.h"
#include "collector/model/check/gaps.h"
#include "collector/model/check/order.h"
#include "collector/model/check/passage.h"
#include "collector/model/check/shadow.h"
#include "collector/model/check/signals.h"
#include "collector/model/check/unset/written.h"
#include "collector/model/check/updates.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/observer.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model::check {

class BlockChecker;

/// Names of threads, blocks and lines in messages.
class Names {
 public:
  Names(const Program& program, const Geometry& geometry)
      : program_(program), geometry_(geometry) {}

  std::string thread(std::uint32_t thread) const;  ///< "thread (3,0,0)"
  std::string block(std::uint64_t block) const;    ///< "block (1,0,0)"
  std::string line(std::uint32_t instruction) const;

 private:
  const Program& program_;
  const Geometry geometry_;
};

/// The checker's own needs for an operation that it observes, beside watch_….
inline constexpr std::uint8_t watch_meeting = 4, watch_step = 8;
/// The one operation of an instruction at which the checker looks at the instruction as a whole.
/// Others of the same instruction may be a label's join, without its guard, or compute addresses.
inline constexpr std::uint8_t watch_instruction = 16;

/// A buffer of global memory, as the checker sees it.
struct Region {
  const Allocation* allocation = nullptr;
  Shadow* shadow = nullptr;
  MarkedBytes* written = nullptr;  ///< null: it was set from the start
  /// The bytes that were read, where that is wanted, of an allocation that the launch does not
  /// store to: nothing there conflicts with a load, so its shadow is not told of any. Null: it is.
  MarkedBytes* read = nullptr;
  std::uint64_t begin = 0, bytes = 0;  ///< the allocation's

  bool holds(std::uint64_t address) const { return address - begin < bytes; }
};

/// The answers that a checker is asked for: its findings, or for_each_touched() too, for which it
/// has to be told of each load.
enum class Wanted : std::uint8_t { findings, touched };

class Checker final : public LaunchObserver {
 public:
  /// All of these outlive the checker.
  Checker(const Program& program, const Geometry& geometry, DeviceMemory& memory,
          WrittenMemory& written, Wanted wanted);
  ~Checker() override;

  void stores_to(const std::set<std::uint64_t>& allocations) override;
  std::unique_ptr<BlockObserver> new_block_observer() override;
  void stopped(TrapKind kind, std::uint32_t instruction, const std::string& message) override;

  /// After the launch: what it reached of blocks of its clusters that had ended is a mistake.
  void ended(const LaunchOutcome& outcome);

  std::vector<Finding> findings() const { return findings_.list(); }
  /// Memory became too much to follow all of it: races on what was touched first from then on are
  /// not found.
  bool is_partial() const { return budget_.is_exceeded; }
  /// The mistakes that this launch may have beyond those that are found.
  Gaps gaps() const;
  /// That the checker took, at most.
  std::size_t bytes() const;

  /// Calls `see` for all that the launch did to global memory, but for what kernels allocate
  /// themselves: allocation by allocation, each in ascending stretches. Wanted::touched only.
  void for_each_touched(const SeesTouched& see) const;
  /// The kernel may hand on to others what it wrote while it runs: it has fences, or accesses that
  /// release. `has_system_fence`: to the host too.
  bool has_releases() const { return program_.has_releases; }
  bool has_system_fence() const;

 private:
  friend class BlockChecker;

  void watch_instructions();
  void look_at_clusters();
  bool may_signal_in_cluster(const SiteInfo& site) const;
  bool may_plan(const SiteInfo& site) const;
  void note_start(std::uint64_t block);
  void note_end();
  /// A block's place: the number of its cluster, and its rank there.
  struct Seat {
    std::uint64_t cluster = 0;
    std::uint32_t rank = 0;
  };
  Seat seat_of(std::uint64_t block) const;
  std::uint64_t block_at(const Seat& seat) const;
  bool are_of_one_cluster(std::uint64_t block, std::uint64_t other) const {
    return seat_of(block).cluster == seat_of(other).cluster;
  }
  std::shared_ptr<ClusterRaces> races_in(std::uint64_t cluster);
  const Region& region_of(std::uint64_t address);
  /// From now on what becomes of unset parts is followed.
  void follow_memory();

  const Program& program_;
  const Geometry geometry_;
  DeviceMemory& memory_;
  WrittenMemory& written_;
  const Wanted wanted_;
  const Names names_;
  Findings findings_;
  const std::vector<Update> updates_;        ///< see updates.h
  std::vector<std::uint8_t> watched_;        ///< by operation: see Warp::watched
  std::vector<std::uint16_t> members_;       ///< row of the mask, by instruction; no_operand: none
  std::vector<std::uint8_t> fences_;         ///< by instruction: 0 none, else 1 + its Scope
  std::vector<bool> is_ignored_;             ///< by instruction: a wait whose answer nobody uses
  std::vector<bool> in_structures_;          ///< by site: loads a part of one
  std::vector<std::uint32_t> site_of_copy_;  ///< by instruction
  Passage passage_;
  Budget budget_;
  Contexts contexts_;  ///< the contexts of accesses to global memory
  Locations locations_;
  std::map<std::uint64_t, std::unique_ptr<Shadow>> shadows_;  ///< by the allocation's address
  std::map<std::uint64_t, Region> regions_;
  /// The allocations that may be stored to, as the code shows; nullopt: any.
  std::optional<std::set<std::uint64_t>> stored_;
  std::map<std::uint64_t, MarkedBytes> read_;  ///< by the allocation's address, of the others
  bool has_stray_stores_ = false;              ///< some access stored to one of the others
  std::set<std::uint32_t> told_copies_;        ///< by instruction: bulk copies that a finding names
  bool is_plain_ = false;                      ///< see Accessing
  /// The block that runs, all ones for none; and whether another has begun before it was over.
  std::uint64_t block_ = ~std::uint64_t{0};
  bool has_turns_ = false;
  bool has_arrays_ = false;   ///< several in shared memory
  bool has_unnamed_ = false;  ///< an access to one of them does not show which it means
  bool has_signals_ = false;  ///< some thread may be told something by another: see signals.h
  Signals signals_;           ///< between blocks
  /// The launch is in clusters; its blocks may write to each other's shared memory.
  bool is_in_clusters_ = false, has_remote_writes_ = false;
  /// Its blocks may order each other by more than the cluster's barrier: then races on their shared
  /// memory are not judged.
  bool has_cluster_signals_ = false;
  /// By cluster; the blocks that run own them.
  std::map<std::uint64_t, std::weak_ptr<ClusterRaces>> cluster_races_;
  /// Some load has found a part of what it reads unset; what each of them did: "12 of the 16 bytes
  /// of 'in' at byte 0". By instruction.
  std::uint8_t follows_memory_ = 0;
  std::map<std::uint32_t, std::string> partly_written_;
  /// Shuffles that have read lanes which are not there: "lane 8, which is not here (…)".
  std::map<std::uint32_t, std::string> from_nobody_;
  /// Strong accesses of the block's scope to global memory: the code has some, or has made one
  /// where it leaves the space open.
  bool has_narrow_ = false;
  std::uint64_t removals_ = 0;
};

}  // namespace warpmeter::model::check
