// SPDX-License-Identifier: MIT
// Whole numbers from −8 to 8, taken from a mixing hash of the index: they look random, are the same
// on every machine, and sums and products of them are exact in float and double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/element.h"

namespace warpmeter {

inline constexpr int largest_small_value = 8;  ///< they lie between its negative and it

/// The value at `index` of the stream `seed`. Buffers with different seeds differ.
constexpr std::int32_t small_value(std::uint64_t index, std::uint32_t seed) {
  // The finaliser of SplitMix64 (Steele, Lea, Flood, 2014), cut to 32 bits of state.
  std::uint32_t x = static_cast<std::uint32_t>(index) ^ static_cast<std::uint32_t>(index >> 32);
  x = (x + seed * 0x27D4EB2FU) * 0x9E3779B9U;
  x = (x ^ (x >> 16)) * 0x85EBCA6BU;
  x = (x ^ (x >> 13)) * 0xC2B2AE35U;
  x ^= x >> 16;
  // The high half times 17, so that no division stands in the way of vectorising.
  return static_cast<std::int32_t>(((x >> 16) * (2U * largest_small_value + 1)) >> 16) -
         largest_small_value;
}

/// Writes `count` elements of the stream `seed` to `to`.
void write_small_values(Element element, std::uint32_t seed, std::uint64_t count, std::byte* to);

}  // namespace warpmeter
