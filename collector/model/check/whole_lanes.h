// SPDX-License-Identifier: MIT
// The lanes that touched a whole sector, in one number: the first lane, how wide each access was,
// and of other lanes that read the same the first, plus 1.
#pragma once

#include <bit>
#include <cstdint>

namespace warpmeter::model::check {

/// The lanes of a sector that is one cell: lane `first` and those after it, `width` bytes each.
inline std::uint32_t whole_lanes(std::uint32_t first, std::uint32_t width) {
  return first | static_cast<std::uint32_t>(std::countr_zero(width)) << 8;
}

inline std::uint32_t shift_of(std::uint32_t whole) { return whole >> 8 & 0xff; }
inline std::uint32_t width_of(std::uint32_t whole) { return 1u << shift_of(whole); }

/// Other lanes that read the same, in the same instruction: the first of them, plus 1, is packed
/// above. False where it holds others already.
inline bool add_lanes(std::uint32_t& whole, std::uint32_t lanes) {
  if ((whole & 0xffff) == lanes) return true;
  const std::uint32_t second = (lanes & 0xff) + 1;
  if (shift_of(whole) != shift_of(lanes) || (whole >> 16 != 0 && whole >> 16 != second)) {
    return false;
  }
  whole |= second << 16;
  return true;
}

/// The lanes of some bytes of it.
inline std::uint32_t lanes_of(std::uint32_t whole, std::uint32_t first_byte, std::uint32_t count) {
  const auto from_lane = [&](std::uint32_t first) {
    const std::uint32_t from = first + (first_byte >> shift_of(whole));
    const std::uint32_t to = first + ((first_byte + count - 1) >> shift_of(whole));
    return static_cast<std::uint32_t>((std::uint64_t{2} << to) - (std::uint64_t{1} << from));
  };
  const std::uint32_t lanes = from_lane(whole & 0xff);
  return whole >> 16 == 0 ? lanes : lanes | from_lane((whole >> 16) - 1);
}

}  // namespace warpmeter::model::check
