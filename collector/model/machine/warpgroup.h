// SPDX-License-Identifier: MIT
// The shared memory that a product of a warpgroup (wgmma) reads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// Where each 16 bytes of a warp's operands are on this machine: of a line its first and its second
/// half, line by line; of a matrix that is turned, eight lines of one k, k by k.
struct WarpgroupOperands {
  const std::byte* first[2 * lines_of_warp];  ///< for no meaning where A comes in registers
  const std::byte* second[512];
};

/// Finds, checks and counts them, or raises w.trap and says false.
bool reach_operands(Warp& w, const Operation* op, WarpgroupOperands& operands);

enum class GroupProgress : std::uint8_t {
  complete,
  behind,       ///< some warp of the group has still to make as many products as this one
  lacks_warps,  ///< and never will: it has ended, or is not there
};
GroupProgress progress_of_group(const Warp& w);

}  // namespace warpmeter::model
