// SPDX-License-Identifier: MIT
// How the lanes of accesses to global memory lie: in a row, in a row that begins in the middle of a
// sector, the same distance apart, or in no order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/explain/subject.h"

namespace warpmeter::model::explain {

enum class Way { whole, misaligned, strided, scattered };

/// How the active lanes of a request lie.
struct Lie {
  Way way = Way::whole;
  std::int64_t step = 0;      ///< bytes between neighbouring lanes, where they are strided
  std::int64_t period = 0;    ///< from the first lane before such a step to the first behind it
  unsigned run_lanes = 1;     ///< lanes next to each other, or at one place, before the step
  unsigned run_elements = 1;  ///< different elements that those take
  unsigned width = 4;         ///< bytes a lane, as the machine code accesses them
  bool rises = false;  ///< a scattered pattern: each lane lies behind the one before, somewhere
};

/// The pattern of one site: which way costs most, and by which pattern.
struct SiteLie {
  Lie lie;
  std::uint64_t excess = 0;
  WarpAccess worst;
  unsigned worst_cost = 0;
  bool is_narrow = false;  ///< neighbouring lanes take neighbouring elements of one or two bytes
  WarpAccess narrow;       ///< one such request; without lanes: there is none
};

SiteLie site_lie(const Subject& subject, std::size_t index);

/// Distances between neighbouring active lanes.
std::vector<std::int64_t> steps_of(const LanePattern& pattern);

/// One or two sentences. `threads_of_row`: of the block.
std::string way_in_words(const Lie& lie, unsigned threads_of_row);

/// The warp, from the first sector that it goes to.
schema::WarpPicture sectors_of(const WarpAccess& access);
/// The same with the elements next to each other, each once, in the order of the lanes.
schema::WarpPicture sectors_of_row(const WarpAccess& access);
/// The same where each lane takes the `bytes` around its element.
schema::WarpPicture sectors_of_vectors(const WarpAccess& access, unsigned bytes);

}  // namespace warpmeter::model::explain
