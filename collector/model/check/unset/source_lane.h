// SPDX-License-Identifier: MIT
// Which lane a shuffle reads.
#pragma once

#include <cstdint>

#include "collector/model/machine/warp/unset_steps.h"

namespace warpmeter::model::check {

/// As execute/exchange.h finds it from the shuffle's operands b and c; the lane itself when none.
inline unsigned source_lane(ptx::Spread shuffle, unsigned lane, std::uint32_t b, std::uint32_t c) {
  using ptx::Spread;
  const std::uint32_t segment = c >> 8 & 31, clamp = c & 31, by = b & 31;
  const std::uint32_t bound = (lane & segment) | (clamp & ~segment);
  if (shuffle == Spread::shuffle_up) {
    const auto from = static_cast<std::int32_t>(lane - by);
    return from >= static_cast<std::int32_t>(bound) ? static_cast<unsigned>(from) : lane;
  }
  const std::uint32_t from = shuffle == Spread::shuffle_down  ? lane + by
                             : shuffle == Spread::shuffle_xor ? lane ^ by
                                                              : (lane & segment) | (by & ~segment);
  return from <= bound ? from & 31 : lane;
}

}  // namespace warpmeter::model::check
