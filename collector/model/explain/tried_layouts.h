// SPDX-License-Identifier: MIT
// Other layouts of an array in shared memory, by what its accesses would cost in them.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/model/explain/what_if.h"

namespace warpmeter::model::explain {

/// The shared memory that a larger array needs.
enum class Room {
  as_now,
  opt_in,   ///< more than a launch gets unasked
  dynamic,  ///< more than can be static
  none,     ///< more than a block can have
};

/// Stands behind the words of a change.
const char* needs_of(Room room);

/// A layout, and those of its kind and row with more padding or another shift that cost the same.
struct Tried {
  Layout layout;
  const LayoutCost* cost = nullptr;
  std::uint64_t wavefronts = 0;
  std::uint32_t more_bytes = 0;
  Room room = Room::as_now;
  bool is_advised = false;
  ShortList<std::uint8_t, 31> also_amounts;
};

/// Layouts tried, those advised before the others: of each kind the best, where it saves enough.
/// Where a layout leaves no conflict there is nothing to gain by more of its kind: no swizzle by
/// higher bits of the row is tried, and no row of another length where lengths are guesses.
std::vector<Tried> tried_layouts(const Subject& subject, const SharedArray& array,
                                 const WhatIf& what_if, std::uint64_t now, std::uint64_t ideal);

}  // namespace warpmeter::model::explain
