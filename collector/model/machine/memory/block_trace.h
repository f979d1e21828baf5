// SPDX-License-Identifier: MIT
// Follows the accesses of one block one by one: which sectors its loads fetch again, and (in
// store_trace.h) which of its stores are for nothing.
//
// A block may make any number of requests. Once it has made more than a few thousand, a half of all
// sectors is forgotten, chosen by their numbers' hashes, and what is counted is every access to the
// other half from the block's beginning to its end; then a quarter, and so on. So how much of what
// loads fetch was there before is right for the whole block, whichever part of it is looked at.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collector/model/machine/memory/recording.h"
#include "collector/model/machine/memory/store_trace.h"

namespace warpmeter::model {

struct TracedAccess {
  std::uint32_t warp = 0, site = 0;
  bool is_load = false, is_atomic = false;
  unsigned width = 4;
  AddressSpace space = AddressSpace::global;
  std::uint32_t mask = 0;
  std::uint64_t first = 0;  ///< address of the first active lane
  /// The same mask and distances as the site's access before this one, which was followed too.
  bool lies_as_before = false;
};

class BlockTrace {
 public:
  /// `lines`: of each site the first one of its source line, by which the addresses of atomics are
  /// told apart; empty: each site has a line of its own.
  explicit BlockTrace(Recording& recording, std::vector<std::uint32_t> lines = {})
      : recording_(recording), lines_(std::move(lines)) {}

  void start();
  /// `delta`: of each active lane, the distance from the first.
  void follow(const TracedAccess& access, const std::uint64_t* delta);
  /// Into the recording; the block has ended. Once more does nothing.
  void finish();

 private:
  /// The sectors of a site's loads, as in SiteTrace.
  struct Seen {
    std::uint64_t sectors = 0, repeated = 0, by_own_warp = 0, by_other_warps = 0, known = 0;
  };
  static constexpr unsigned levels = sector_levels;

  /// The state of a fetched sector.
  struct Fetched {
    std::uint32_t warps = 0;    ///< that have it; bit w: warp w of the block
    std::uint32_t version = 0;  ///< how often it was stored to since
    std::uint32_t last = no_request, version_of_last = 0;  ///< that fetched it, in requests_
  };
  static constexpr std::uint32_t no_request = ~std::uint32_t{0}, no_shape = no_request;
  /// The distance of each active lane from the first.
  using Shape = std::array<std::uint64_t, warp_lanes>;
  /// Lanes of a warp and where they went.
  struct LoadRequest {
    std::uint32_t warp = 0, mask = 0;
    unsigned width = 0;
    std::uint32_t shape = no_shape;  ///< in shapes_
    std::uint64_t first = 0;         ///< address of the first active lane
  };
  /// A request by the sectors that it goes to.
  struct Sectors {
    std::size_t count = 0;
    std::array<std::uint64_t, warp_lanes> number;
    std::array<std::uint32_t, warp_lanes> bytes;  ///< the accessed bytes of each
    std::array<unsigned, warp_lanes> level;
  };
  /// The state of a site in this block.
  struct Followed {
    unsigned requests = 0;
    std::uint64_t first = 0;           ///< for the last one, the address of its first active lane,
    std::unique_ptr<Sectors> sectors;  ///< where it went; null: not to global memory,
    std::uint64_t hash = 0;            ///< how its lanes lie, as a hash, and
    std::uint32_t shape = no_shape;    ///< the same in shapes_, if it is there
  };

  void follow_atomic(const TracedAccess& traced, const std::uint64_t* delta, SiteTrace& trace);
  void follow_load(const TracedAccess& traced, const std::uint64_t* delta, Followed& followed);
  void follow_store(const TracedAccess& traced, const Followed& followed);
  bool is_followed(const Sectors& sectors) const;
  bool is_known_to_its_lanes(const Fetched& fetched, const TracedAccess& traced,
                             const std::uint64_t* delta, std::uint64_t sector) const;
  std::uint32_t kept(const TracedAccess& traced, const std::uint64_t* delta, Followed& followed);
  static void find_sectors(const TracedAccess& traced, const std::uint64_t* delta,
                           Sectors& sectors);
  static const Sectors& sectors_of(const TracedAccess& traced, const std::uint64_t* delta,
                                   Followed& followed);
  void thin();
  void keep_needed_requests();

  Recording& recording_;
  std::vector<std::uint32_t> lines_;
  std::uint64_t atomics_left_ = 0;                      ///< requests that are still followed
  std::unordered_map<std::uint64_t, Fetched> fetched_;  ///< by sector
  /// The sector's version that lanes know, and how many requests their warp had made when they
  /// stored it themselves.
  struct Known {
    std::uint32_t version = 0;
    std::optional<std::uint32_t> stored_at = {};
  };
  /// By hashes of sectors, warps and addresses, the last bits the sector's level.
  std::unordered_map<std::uint64_t, Known> loaded_;
  std::array<std::uint32_t, warp_lanes> made_{};  ///< requests to global memory, of each warp
  std::vector<LoadRequest> requests_;
  std::vector<Shape> shapes_;
  StoreTrace stores_;
  std::unordered_set<std::uint64_t> atomics_;  ///< hashes of lines and addresses
  std::vector<Followed> followed_;             ///< by site
  std::unordered_map<std::uint32_t, std::array<Seen, levels>>
      loads_;                  ///< the loads of each site, by level
  unsigned level_ = 0;         ///< the lowest that is still followed
  std::uint64_t touches_ = 0;  ///< the touches of the sectors that are
  bool is_narrow_ = false;     ///< so few sectors that no half can stand for all
};

/// The blocks of a grid that are followed.
bool is_traced(std::uint64_t block, std::uint64_t blocks);

}  // namespace warpmeter::model
