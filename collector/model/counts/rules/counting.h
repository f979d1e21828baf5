// SPDX-License-Identifier: MIT
// How the hardware counts one warp access: the rules that were measured on an H200 with single
// accesses (tests/golden/access_patterns/sm_90.csv, every row of which they meet). They are pure
// functions of the addresses, so that a table can test them and the machine may remember their
// answers.
//
// A wavefront is what nvprof called a shared transaction. A sector is 32 bytes. A bank is
// (address / 4) mod 32. Only active lanes count.
//
// Addresses must be multiples of the access's alignment (the machine traps otherwise). A warp's
// wavefronts do not change when every address moves by the same multiple of 4, nor its sectors when
// every address moves by a multiple of 32; distinct bytes and ideals do not change at all.
#pragma once

#include <array>
#include <cstdint>

#include "base/lanes.h"

namespace warpmeter::model {

inline constexpr unsigned sector_bytes = 32;

struct WarpAccess {
  std::array<std::uint64_t, warp_lanes> address;  ///< the address of inactive lanes: anything
  std::uint32_t mask = 0;                         ///< bit l: lane l is active
  unsigned width = 4;                             ///< bytes a lane: 1, 2, 4, 8, 16 (or 32)
};

/// The cost of one access. All zero for an empty mask.
struct Cost {
  unsigned transactions = 0;  ///< wavefronts of shared, sectors of global memory
  unsigned ideal = 0;         ///< the fewest that the same access could cost, see each function
  unsigned bytes = 0;         ///< distinct ones: the numerator of gld_efficiency; 0 for shared
};

enum class SharedAccess { load, store, atomic };

/// Wavefronts. Ideal: the same words in the same groups of lanes, spread evenly over the banks;
/// lanes of an atomic that share an address can never be parallel.
Cost shared_cost(const WarpAccess& access, SharedAccess kind);

/// The lanes 8 i to 8 i + 7 of ldmatrix or stmatrix name the eight rows of 16 bytes of matrix i.
/// It costs what a store of 16 bytes by each of these lanes costs; so does this, by shared_cost().
WarpAccess matrix_rows(const WarpAccess& access);

/// The wavefront, from 1, that serves the last word of each active lane, 0 of the others; the
/// largest is the access's wavefronts. Which words of a bank come first is not known of the
/// hardware: here the lanes go in their order.
std::array<unsigned, warp_lanes> shared_passes(const WarpAccess& access, SharedAccess kind);

/// True if shared_cost() is what the hardware was measured to need. It is not known in full how the
/// hardware groups the lanes of a 128-bit load by some of the lanes of both halves of a warp.
bool is_calibrated(const WarpAccess& access, SharedAccess kind);

/// Sectors: the distinct ones, of a load, store, atomic or reduction alike. (What the first-level
/// cache does for lanes of an atomic that share an address is more, and another counter's.) Ideal:
/// as many as the distinct bytes fit into.
Cost global_cost(const WarpAccess& access);

/// Sectors of the shared memory of other blocks of a cluster. Loads and stores ask for distinct
/// ones; atomics, and stores whose bytes a barrier object counts, once more for each lane that
/// shares an address with an earlier one.
Cost cluster_cost(const WarpAccess& access, bool takes_turns);

}  // namespace warpmeter::model
