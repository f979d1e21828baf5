// SPDX-License-Identifier: MIT
// Follows the stores of one block: which of them are stored over before the block has read them, so
// that the last one would do. As in block_trace.h a part of all sectors stands for all of them
// where there are many; where few are stored to so often, the beginning of the block does.
//
// A sector remembers the bytes that were stored and not read since, by who stored them. A store is
// needless once later ones have covered all its bytes; what a warp's stores at one instruction put
// beside each other counts as one. Reads by other blocks meanwhile are not seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/model/machine/memory/recording.h"

namespace warpmeter::model {

/// A sector's level is how many zeros the hash of its number ends in: half of all sectors have
/// level 0.
inline constexpr unsigned sector_levels = 16;
unsigned level_of_sector(std::uint64_t sector);

class StoreTrace {
 public:
  void start();
  /// `bytes`: of the sector, that a request of the site stores; bit b: byte b.
  void store(std::uint32_t site, std::uint32_t warp, std::uint64_t sector, unsigned level,
             std::uint32_t bytes);
  /// Somebody of the block reads these bytes.
  void load(std::uint64_t sector, std::uint32_t bytes);
  bool has_stores() const { return taken_ > 0; }
  /// Into the recording; once more does nothing.
  void finish(Recording& recording);

 private:
  /// Stores of one site by one warp.
  struct Part {
    std::uint32_t bytes = 0;  ///< 0: none
    std::uint32_t site = 0, warp = 0, times = 0;
  };
  struct Pending {
    std::uint64_t sector = 0;
    Part first;
    std::uint32_t others = 0;  ///< a number in others_; 0: none
    std::uint8_t level = 0;
    bool is_taken = false;
  };
  /// The stores of a site, as in SiteTrace.
  struct Seen {
    std::uint32_t site = 0;
    std::array<std::uint64_t, sector_levels> stored{}, over_by_own_warp{}, over_by_others{};
  };

  Seen& seen(std::uint32_t site) {  // mostly the one that was seen last
    const bool is_last = last_site_ < sites_.size() && sites_[last_site_].site == site;
    return is_last ? sites_[last_site_] : find(site);
  }
  Seen& find(std::uint32_t site);
  /// Visits the rest of it, the first part and the others.
  template <class Visit>
  void for_each_part(Pending& pending, Visit visit) {
    if (pending.first.bytes != 0) visit(pending.first);
    if (pending.others == 0) return;
    for (Part& part : others_[pending.others]) {
      if (part.bytes != 0) visit(part);
    }
  }
  Part& free_part(Pending& pending);
  /// The sector's place in the table, or the free one that it would have.
  Pending& place_of(std::uint64_t sector);
  void grow();
  void thin();

  /// A hash table with linear probing, at most half full; a power of two long.
  std::vector<Pending> pending_;
  std::size_t taken_ = 0;
  /// The sectors that several have stored to, a word each most often; the first is nobody's.
  std::vector<std::array<Part, 7>> others_;
  std::vector<Seen> sites_;
  std::size_t last_site_ = 0;  ///< where it was found
  unsigned level_ = 0;         ///< the lowest that is still followed
  std::uint64_t touches_ = 0;  ///< the touches of the sectors that are
  bool is_over_ = false;       ///< enough was seen
};

}  // namespace warpmeter::model
