// Follows the accesses of one block one by one: which sectors its loads fetch again.
//
// A block may make any number of requests. Once it has made more than a few thousand, a half of all
// sectors is forgotten, chosen by their numbers' hashes, and what is counted is every access to the
// other half from the block's beginning to its end; then a quarter, and so on. So how much of what
// loads fetch was there before is right for the whole block, whichever part of it is looked at.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collector/model/machine/recording.h"

namespace warpmeter::model {

struct TracedAccess {
  std::uint32_t warp = 0, site = 0;
  bool is_load = false, is_atomic = false;
  unsigned width = 4;
  AddressSpace space = AddressSpace::global;
  std::uint32_t mask = 0;
  std::uint64_t first = 0;  ///< address of the first active lane
};

class BlockTrace {
 public:
  explicit BlockTrace(Recording& recording) : recording_(recording) {}

  void start();
  /// `delta`: of each active lane, the distance from the first.
  void follow(const TracedAccess& access, const std::uint64_t* delta);
  /// Into the recording; the block has ended. Once more does nothing.
  void finish();

 private:
  /// Of a site's loads, as in SiteTrace.
  struct Seen {
    std::uint64_t sectors = 0, repeated = 0, by_own_warp = 0, by_other_warps = 0;
  };
  /// A sector's level is how many zeros its hash ends in: half of all sectors have level 0.
  static constexpr unsigned levels = 16;

  void follow_atomic(const TracedAccess& traced, const std::uint64_t* delta, SiteTrace& trace);
  void follow_load(const TracedAccess& traced, const std::uint64_t* delta);
  static unsigned level_of(std::uint64_t sector);
  void thin();

  Recording& recording_;
  std::uint64_t atomics_left_ = 0;                            ///< requests that are still followed
  std::unordered_map<std::uint64_t, std::uint32_t> fetched_;  ///< sector → the last warp
  /// Hashes of sectors, warps and addresses, the last bits the sector's level.
  std::unordered_set<std::uint64_t> loaded_;
  std::unordered_set<std::uint64_t> atomics_;  ///< hashes of sites and addresses
  std::vector<unsigned> seen_;                 ///< requests of each site
  std::unordered_map<std::uint32_t, std::array<Seen, levels>> loads_;  ///< of each site, by level
  unsigned level_ = 0;         ///< the lowest that is still followed
  std::uint64_t touches_ = 0;  ///< of the sectors that are
  bool is_narrow_ = false;     ///< so few sectors that no half can stand for all
};

/// The blocks of a grid that are followed.
bool is_traced(std::uint64_t block, std::uint64_t blocks);

}  // namespace warpmeter::model
