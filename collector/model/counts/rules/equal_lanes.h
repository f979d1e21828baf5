// SPDX-License-Identifier: MIT
// Which lanes of a warp have equal numbers. Every lane is compared with all lower ones, many lanes
// at a time: 31 shifts of the warp against itself take less time than one hash table.
#pragma once

#include <array>
#include <cstdint>

#include "base/lanes.h"

namespace warpmeter::model {

/// Distances in bytes of the lanes of a mask from a place that is a multiple of 128.
struct LaneOffsets {
  alignas(32) std::array<std::uint32_t, warp_lanes> of_lane;  ///< those of other lanes: anything
  std::uint32_t low_bits = 0;  ///< all bits below 128 that an active lane's has, together
  bool is_near = false;        ///< false: some lanes are more than 1 GiB apart, and it is not set
};
LaneOffsets offsets_of(const std::array<std::uint64_t, warp_lanes>& addresses, std::uint32_t mask);

/// The lanes of the mask whose number, `offsets` shifted right, no lower lane of the mask has.
std::uint32_t first_of_each(const LaneOffsets& offsets, int shift, std::uint32_t mask);

/// The lanes of the mask that have the most frequent number.
unsigned most_equal(const LaneOffsets& offsets, int shift, std::uint32_t mask);

/// The same of numbers modulo `period`, a power of two up to 128.
unsigned most_equal_modulo(const LaneOffsets& offsets, int shift, unsigned period,
                           std::uint32_t mask);

}  // namespace warpmeter::model
