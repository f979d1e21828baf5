// SPDX-License-Identifier: MIT
// The common steps of a shadow, each equal to what Shadow::touch() and touch_run() do there: plain
// accesses to places where nothing is kept, or only what no longer matters, or what this access
// replaces. They compare the numbers of contexts and look none up: within a block, contexts are
// numbered in the order in which they begin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/model/check/plain/plan.h"
#include "collector/model/check/shadow.h"
#include "collector/model/check/whole_lanes.h"

namespace warpmeter::model::check {

inline Shadow::Sector* Shadow::known_sector(std::uint64_t index) const {
  const std::uint64_t page = index / sectors_of_page;
  if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
  return &(*pages_[page])[index % sectors_of_page];
}

/// Forgets what a shadow kept from before the block's last barrier.
inline void Shadow::renew(Sector& sector, bool is_whole, const Accessing& by) {
  if (sector.latest == 0 || sector.latest >= by.past) return;
  if (sector.parts == 1 && sector.whole.more == 0) {
    sector.whole = {};
  } else if (sector.parts == word_parts && !is_whole) {
    for (std::size_t i = 0; i < word_parts; ++i) {
      if (sector.cells[i].more != 0) chains_.drop(sector.cells[i].more);
      sector.cells[i] = {};
    }
  } else {
    make_whole(sector);
  }
}

/// False where more is kept than one place can say: then nothing has changed.
inline bool Shadow::read_at_once(Cell& cell, std::uint32_t lanes, bool is_whole,
                                 const Accessing& by) {
  const auto is_past = [&](std::uint32_t number) {
    return number < by.past && number >= by.first_of_block;
  };
  Slot& last = cell.read;
  const bool is_written = cell.write.context != 0;
  if (is_written && !is_past(cell.write.context)) return false;
  if (last.context == by.number) {
    if (is_whole)
      return by.is_plain && !is_written ? add_lanes(last.lanes, lanes)
                                        : last.lanes == lanes && cell.more == 0;
    if (cell.more != 0 && (!by.is_plain || is_written)) return false;
    last.lanes |= lanes;
    return true;
  }
  if (cell.more == 0) {
    if (last.context != 0 && !is_past(last.context)) return false;
  } else {
    if (!by.is_plain || is_written || last.context == 0) return false;
    const std::uint32_t other = chains_[cell.more].value.context;
    if (last.context < by.first_of_block) {
      if (other >= by.first_of_block) return false;
    } else if (last.context >= by.past &&
               (other < by.past || by.contexts[other].warp == by.context.warp)) {
      return false;
    }
  }
  last = {by.number, lanes};
  return true;
}

inline bool Shadow::write_at_once(Cell& cell, std::uint32_t lanes, const Accessing& by) {
  const auto is_past = [&](std::uint32_t number) {
    return number == 0 || (number < by.past && number >= by.first_of_block);
  };
  const bool is_own = cell.write.context == by.number && cell.write.lanes == lanes;
  if (cell.more != 0 || !(is_own || is_past(cell.write.context)) || !is_past(cell.read.context)) {
    return false;
  }
  cell = {{by.number, lanes}, {}, 0};
  return true;
}

template <bool writes>
bool Shadow::touch_at_once(const Part& part, std::uint64_t first_sector, const Accessing& by) {
  Sector* const found =
      known_sector(first_sector + static_cast<std::uint64_t>(std::int64_t{part.sector}));
  if (found == nullptr) return false;
  if (forgets_) {
    renew(*found, part.is_whole, by);
    found->latest = by.number;
  }
  const auto touch = [&](Cell& cell) {
    if constexpr (writes) return write_at_once(cell, part.lanes, by);
    return read_at_once(cell, part.lanes, part.is_whole, by);
  };
  if (part.is_whole) return found->parts == 1 && touch(found->whole);
  if (found->parts != word_parts) {
    const Cell& whole = found->whole;
    if (found->parts != 1 || whole.write.context != 0 || whole.read.context != 0 || whole.more != 0)
      return false;
    found->cells = take_cells(word_parts);
    found->parts = word_parts;
  }
  Cell* cell = found->cells + part.first;
  for (const Cell* const end = cell + part.words; cell != end; ++cell) {
    if (!touch(*cell)) return false;
  }
  return true;
}

/// True if a read-only load may find what the launch has written.
inline bool Shadow::may_be_written(const Part& part, std::uint64_t first_sector) const {
  const Sector* const found =
      known_sector(first_sector + static_cast<std::uint64_t>(std::int64_t{part.sector}));
  if (found == nullptr) return false;
  if (found->parts == 1) return found->whole.write.context != 0;
  if (found->parts != word_parts) return true;
  for (std::size_t i = part.first; i < std::size_t{part.first} + part.words; ++i) {
    if (found->cells[i].write.context != 0) return true;
  }
  return false;
}

}  // namespace warpmeter::model::check
