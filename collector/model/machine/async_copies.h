// SPDX-License-Identifier: MIT
// The cost of cp.async beyond what each of its two sides costs by itself.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/counts/rules/async_copies.h"
#include "collector/model/machine/bulk.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// The work of Code::count_copy, by its imm. Its rows: a where to, b where from, c the bytes that
/// the source has, or no_operand.
struct AsyncCopy {
  BulkCopy::Place to, from;
};

/// The last cost of one of these, which only changes when its lanes lie otherwise.
struct AsyncCopyMemo {
  WarpAccess from;            ///< the lanes that read
  std::uint32_t writing = 0;  ///< the lanes that write
  std::array<std::uint64_t, warp_lanes> to{};
  AsyncCopyCost cost;
  unsigned ideal = 0;  ///< the fewest wavefronts that what is written takes
};

/// Adds the wavefronts of what is written, and the sectors of what passes by L1, to the counts of
/// the copy's two sites; where a source may be shorter, all that the reading side counts.
void count_copy(Warp& w, const Operation* op, std::uint32_t mask);

}  // namespace warpmeter::model
