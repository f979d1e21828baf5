// SPDX-License-Identifier: MIT
// Races between the blocks of one cluster: on each other's shared memory, and what orders their
// accesses to global memory, which Shadow keeps.
//
// Only the cluster's barrier orders these blocks here. An access comes before another block's
// access if some phase of the barrier lies between them: the first thread arrives in that phase
// after its access, and the second thread waits for the phase before its own. An access between
// arrive and wait therefore belongs to both neighbouring phases. An arrival that is relaxed orders
// no memory (PTX ISA, barrier.cluster).
//
// For each unit of memory and each kind of access this keeps the accesses of two different blocks
// that arrived last. A later access of any block then conflicts with one of them if it conflicts
// with any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collector/model/check/shadow.h"

namespace warpmeter::model::check {

class ClusterRaces {
 public:
  /// Strong accesses, atomics for example, do not race with each other.
  enum class Kind : std::uint8_t { reads, strong, writes };

  /// Accesses of one instruction by one warp between two phases.
  struct By {
    std::uint32_t rank = 0, warp = 0, site = 0;
    std::uint32_t arrived = 0, waited = 0;  ///< the last phases of which this is true; the first: 1
  };
  struct Earlier {
    By by;
    std::uint32_t lane = 0;
    Kind kind = Kind::reads;
    std::uint64_t begin = 0, end = 0;  ///< the bytes in question
  };

  /// `bytes`: the shared memory of a block. `unit`: a power of two that divides all accesses.
  ClusterRaces(std::uint32_t blocks, std::uint64_t bytes, std::uint32_t unit, Budget& budget);
  ClusterRaces(const ClusterRaces&) = delete;
  ClusterRaces& operator=(const ClusterRaces&) = delete;
  ~ClusterRaces();

  void join(std::uint32_t rank, const std::byte* memory) { members_[rank].memory = memory; }
  const std::byte* memory_of(std::uint32_t rank) const { return members_[rank].memory; }

  /// Lanes of a warp of the block arrive in a phase, which comes behind their accesses up to `now`.
  void arrive(std::uint32_t rank, std::uint32_t warp, std::uint32_t phase, Stamp now,
              bool is_relaxed);
  /// The last phase in which all lanes of the warp had arrived before they did what has this stamp.
  std::uint32_t arrived_before(std::uint32_t rank, std::uint32_t warp, Stamp stamp) const;
  /// True if a phase of the cluster's barrier lies between the two.
  bool is_ordered(const By& earlier, const By& later) const;

  std::uint32_t add(const By& by);  ///< its number; 0: there is no room for more
  const By& operator[](std::uint32_t number) const { return all_[number]; }

  /// A lane touches shared memory of the block of rank `owner`. Returns an earlier access of
  /// another block that races with it: a write only if no other kind does. `number`: not 0.
  std::optional<Earlier> touch(std::uint32_t owner, std::uint64_t offset, std::uint32_t width,
                               Kind kind, std::uint32_t number, std::uint32_t lane);

  /// True if the earlier one arrived in a phase, before the other waited for it, but relaxed.
  bool met_relaxed(const By& earlier, const By& later) const {
    return earlier.arrived < later.waited;
  }

 private:
  /// Contexts and lanes, packed; 0: none. The first of two arrived last.
  using Slots = std::array<std::uint32_t, 2>;
  using Cell = std::array<Slots, 3>;
  static constexpr std::uint32_t lane_bits = 5, units_of_page = 1024;
  static constexpr std::size_t most_contexts = std::size_t{1} << (32 - lane_bits);
  enum class Arrival : std::uint8_t { none, relaxed, releasing };
  struct Member {
    const std::byte* memory = nullptr;
    std::vector<std::unique_ptr<std::array<Cell, units_of_page>>> pages;
    std::vector<Arrival> arrivals;            ///< by phase
    std::vector<std::vector<Stamp>> moments;  ///< by warp and phase: its last lane's arrival
  };

  const By& by_of(std::uint32_t slot) const { return all_[slot >> lane_bits]; }
  Cell* cell(std::uint32_t owner, std::uint64_t unit);
  std::uint32_t rival(const Cell& cell, Kind kind, const By& by, Kind* of_kind) const;
  void keep(Slots& slots, std::uint32_t slot) const;

  const std::uint32_t unit_;
  Budget& budget_;
  std::size_t used_ = 0;
  std::vector<Member> members_;
  std::vector<By> all_;
};

}  // namespace warpmeter::model::check
