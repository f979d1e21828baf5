// SPDX-License-Identifier: MIT
// Lanes of a warp as bits of a mask.
#pragma once

#include <bit>
#include <cstdint>

namespace warpmeter {

inline constexpr unsigned warp_lanes = 32;

/// Calls visit(lane) for each bit of the mask, the lowest first.
template <class Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace warpmeter
