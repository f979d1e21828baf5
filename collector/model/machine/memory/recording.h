// SPDX-License-Identifier: MIT
// The record of a launch beyond its counts, for those who explain them (explain/): how the lanes of
// each access lay and from where, how often each instruction ran with how many lanes, and, of one
// or two blocks, which sectors were fetched again.
//
// Like the counts, all of it is the same however many threads of the host ran the blocks. A site
// with more ways than anybody can follow is not kept in part: it is said to be full, and empty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/lanes.h"
#include "collector/model/machine/memory/memory.h"

namespace warpmeter::model {

/// How the lanes of an access lie.
struct LanePattern {
  AddressSpace space = AddressSpace::global;
  std::uint32_t mask = 0;
  std::array<std::uint64_t, warp_lanes> delta{};  ///< bytes from the first active lane; of others 0

  bool operator<(const LanePattern& other) const;
};

/// By which power of two a place in global memory is known, where lanes lie so: 32 suffices for its
/// sectors. Lanes at one distance keep more, up to 2,048, so that it is known how their elements
/// would lie next to each other (32 bytes of them, from a first one on).
std::uint32_t place_period(std::uint32_t mask, const std::uint64_t* delta, unsigned width);

/// The recording of one site: how its lanes lay, from where, how often.
class SiteRecording {
 public:
  /// Where the first active lane was: in shared memory its offset, in global memory its address
  /// modulo place_period; and how often. The lowest first, each once: they mostly come so.
  using Places = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

  using Entry = std::pair<LanePattern, Places>;

  /// How the lanes lay that are added next. `delta`: of inactive lanes anything.
  void lie(AddressSpace space, std::uint32_t mask, const std::uint64_t* delta);
  void add(std::uint32_t place, std::uint64_t times);
  /// Brings the patterns into their order, which is the same whichever came first.
  void sort();
  /// Both are in order, as their sum is.
  void add(const SiteRecording& other);

  const std::vector<Entry>& patterns() const { return patterns_; }
  /// More than are kept; then there are none.
  bool is_full() const { return is_full_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t& slot(std::uint64_t hash, AddressSpace space, std::uint32_t mask,
                      const std::uint64_t* delta);
  void make_slots();
  void forget_places();
  void limit();

  std::vector<Entry> patterns_;
  std::uint32_t last_ = none;          ///< the latest pattern
  std::vector<std::uint64_t> hashes_;  ///< those of the patterns, while there are slots
  /// The numbers of patterns by their hashes: a power of two, at least twice as many. Or none.
  std::vector<std::uint32_t> slots_;
  std::size_t place_count_ = 0;
  bool is_full_ = false;
};

/// How often instructions were executed, and by how many lanes in all. While the machine runs, what
/// is added at one instruction holds for all from it on.
struct InstructionRecording {
  std::vector<std::uint64_t> issues, lanes;
};

/// The trace of one site, in the blocks that were followed access by access (block_trace.h).
struct SiteTrace {
  std::uint64_t requests = 0;  ///< to global memory
  /// That loads among them fetched, as far as a part of all sectors says it; of these:
  std::uint64_t sectors = 0;
  /// Loads from addresses that the warp loaded before, and nobody of the block but the same lanes
  /// has stored to the sector since.
  std::uint64_t repeated = 0;
  /// Not among these: the warp had it, and asks for half of it or more; another warp of the block
  /// had it. Maybe both.
  std::uint64_t by_own_warp = 0, by_other_warps = 0;
  std::uint64_t known = 0;  ///< all that the block had fetched before, in whatever way
  /// Sectors that stores among them went to, in the same way, and of these what was stored over
  /// before the block had read it: by the same warp, or by another.
  std::uint64_t stored = 0, over_by_own_warp = 0, over_by_others = 0;
  std::uint64_t lanes = 0;           ///< active ones; and of atomics, to either memory,
  std::uint64_t addresses = 0;       ///< distinct ones of each block, new to the site's source line
  std::uint64_t meeting = 0;         ///< lanes whose address a lower lane of the request has
  bool is_cut = false;               ///< a block had more atomics than were followed
  std::optional<LanePattern> first;  ///< a block's first access, and its first lane's address
  std::uint64_t first_address = 0;
  SiteRecording sample;  ///< the first accesses of each block; places as in SiteRecording
};

/// The recording of one cp.async, whose cost depends on both of its sides.
struct CopyRecording {
  /// Where the first lane wrote, and how the lanes lay. The lower half of a delta is that of the
  /// places written; the upper half is where the lane reads: its place in the line of 128 bytes,
  /// and before it the first lane that reads of that line. No more of what is read has a cost.
  SiteRecording ways;
  /// While the machine runs, the deltas of the latest.
  std::array<std::uint64_t, warp_lanes> delta{};
};

/// A box of a tensor in shared memory, that a copy moved there or from there.
struct BoxPlace {
  std::uint32_t place = 0;                ///< its offset in shared memory
  std::uint32_t row_bytes = 0, rows = 0;  ///< without what a swizzle leaves free behind a row
  std::uint8_t swizzle_shift = 0;         ///< as in its descriptor (tensor_map.h)

  bool operator<(const BoxPlace& other) const {
    return std::tie(place, row_bytes, rows, swizzle_shift) <
           std::tie(other.place, other.row_bytes, other.rows, other.swizzle_shift);
  }
};

/// The boxes of one copy, each once.
class BoxRecording {
 public:
  void add(const BoxPlace& box);
  void add(const BoxRecording& other);

  const std::set<BoxPlace>& places() const { return places_; }
  /// More than are kept; then there are none.
  bool is_full() const { return is_full_; }

 private:
  std::set<BoxPlace> places_;
  bool is_full_ = false;
};

struct Recording {
  std::vector<SiteRecording> sites;
  InstructionRecording instructions;
  std::vector<SiteTrace> traces;      ///< the traces of each site
  std::vector<CopyRecording> copies;  ///< for each cp.async
  std::vector<BoxRecording> boxes;    ///< for each copy in bulk

  Recording() = default;
  Recording(std::size_t site_count, std::size_t instruction_count);
  /// As of each site's recording.
  void sort();
  Recording& operator+=(const Recording& other);
};

}  // namespace warpmeter::model
