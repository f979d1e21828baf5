// SPDX-License-Identifier: MIT
// The cost of one cp.async, which depends on where its lanes read and on where they write. The
// rules meet what an H200 counts: tests/golden/h200_async_patterns.csv.
//
// Through L1 (cp.async.ca) the lanes go in groups of 128 bytes. In each bank the lanes of a group
// read in their order; a wavefront takes the first of each bank, but for those that would write to
// a bank that another one writes to.
//
// Past L1 (cp.async.cg) the data come in packets, each from one line of 128 bytes to another, and a
// packet is a wavefront. All sectors of a packet move their halves alike, and are all turned by the
// same number of sectors or all exchanged alike.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model {

struct AsyncCopyCost {
  unsigned wavefronts = 0;
  // Past L1 alone; through L1 they are global_cost()'s.
  unsigned sectors = 0, ideal_sectors = 0;
  unsigned bytes = 0;         ///< distinct ones that are not overwritten by a later lane's
  bool is_calibrated = true;  ///< false: no pattern measured tells how hardware does this one
};

/// `from.address` is aligned to the width, and so is `to`.
AsyncCopyCost cost_through_l1(const WarpAccess& from,
                              const std::array<std::uint64_t, warp_lanes>& to);
/// Each lane copies 16 bytes.
AsyncCopyCost cost_past_l1(const WarpAccess& from, const std::array<std::uint64_t, warp_lanes>& to);

}  // namespace warpmeter::model
