// How the hardware counts one warp access: the rules that were measured on an H200 with single
// accesses (tests/golden/h200_access_patterns.csv, every row of which they meet). They are pure
// functions of the addresses, so that a table can test them and the machine may remember their
// answers.
//
// A wavefront is what nvprof called a shared transaction. A sector is 32 bytes. A bank is
// (address / 4) mod 32. Only active lanes count. All answers are 0 for an empty mask.
//
// Addresses must be multiples of the access's alignment (the machine traps otherwise). A warp's
// wavefronts do not change when every address moves by the same multiple of 4, nor its sectors when
// every address moves by a multiple of 32; distinct bytes and ideals do not change at all.
#pragma once

#include <array>
#include <cstdint>

namespace warpmeter::model {

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned sector_bytes = 32;

struct WarpAccess {
  std::array<std::uint64_t, warp_lanes> address;  ///< of inactive lanes: anything
  std::uint32_t mask = 0;                         ///< bit l: lane l is active
  unsigned width = 4;                             ///< bytes a lane: 1, 2, 4, 8, 16 (or 32)
};

enum class SharedAccess { load, store, atomic };

/// Wavefronts of one shared access.
unsigned shared_wavefronts(const WarpAccess& access, SharedAccess kind);

/// The fewest wavefronts that the same words could cost in the same groups of lanes, were they
/// spread evenly over the banks. Lanes of an atomic that share an address can never be parallel.
unsigned ideal_shared_wavefronts(const WarpAccess& access, SharedAccess kind);

/// Distinct 32-byte sectors of a global load or store.
unsigned global_sectors(const WarpAccess& access);

/// Distinct bytes: the numerator of gld_efficiency and gst_efficiency.
unsigned distinct_bytes(const WarpAccess& access);

/// The fewest sectors that as many distinct bytes fit into.
unsigned ideal_global_sectors(const WarpAccess& access);

/// Sectors of a global atomic or reduction: round r holds each address's r-th lane; the sum over
/// the rounds of their distinct sectors.
unsigned atomic_sectors(const WarpAccess& access);

/// The fewest sectors of an atomic, with the same rounds.
unsigned ideal_atomic_sectors(const WarpAccess& access);

}  // namespace warpmeter::model
