// SPDX-License-Identifier: MIT
// The common steps of a shadow, each equal to what Shadow::touch() and touch_run() do there: plain
// accesses to places where nothing is kept, or only what no longer matters, or what this access
// replaces. They compare the numbers of contexts and look none up: within a block, contexts are
// numbered in the order in which they begin.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collector/model/check/plain/plan.h"
#include "collector/model/check/shadow.h"
#include "collector/model/check/whole_lanes.h"

namespace warpmeter::model::check {

inline Shadow::Sector* Shadow::known_sector(std::uint64_t index) const {
  const std::uint64_t page = index / sectors_of_page;
  if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
  return &(*pages_[page])[index % sectors_of_page];
}

inline unsigned Shadow::parts_of(std::uint64_t sector) const {
  const Sector* const found = known_sector(sector);
  return found == nullptr ? 0 : found->parts;
}

/// Forgets what a shadow kept from before the block's last barrier.
inline void Shadow::renew(Sector& sector, bool is_whole, const Accessing& by) {
  if (sector.latest == 0 || sector.latest >= by.past) return;
  if (sector.parts == undivided && sector.whole.more == 0) {
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

/// The numbers that the steps compare with: copies, which stay in registers while cells are
/// written.
struct Shadow::Numbers {
  const std::uint32_t own, past, first_of_block;
  const bool is_plain;

  explicit Numbers(const Accessing& by)
      : own(by.number), past(by.past), first_of_block(by.first_of_block), is_plain(by.is_plain) {}
  bool are_past(std::uint32_t number) const { return number < past && number >= first_of_block; }
};

/// False where more is kept than one place can say: then nothing has changed.
inline bool Shadow::read_at_once(Cell& cell, std::uint32_t lanes, bool is_whole,
                                 const Numbers& numbers, const Accessing& by) {
  Slot& last = cell.read;
  const std::uint32_t written = cell.write.context;
  if (written != 0 && !numbers.are_past(written)) return false;
  if (last.context == numbers.own) {
    const bool is_read_alone = numbers.is_plain && written == 0;
    if (is_whole) {
      return is_read_alone ? add_lanes(last.lanes, lanes) : last.lanes == lanes && cell.more == 0;
    }
    if (cell.more != 0 && !is_read_alone) return false;
    last.lanes |= lanes;
    return true;
  }
  if (cell.more == 0) {
    if (last.context != 0 && !numbers.are_past(last.context)) return false;
  } else {
    if (!numbers.is_plain || written != 0 || last.context == 0) return false;
    // Where the last one is another block's, so are all before it: blocks run one after the other.
    if (last.context >= numbers.past && !join(cell, is_whole, numbers, by)) return false;
  }
  last = {numbers.own, lanes};
  return true;
}

/// One more warp of the block reads what others of it have read since its last barrier. Two stand
/// for all: the second of them, and the first beside it.
inline bool Shadow::join(Cell& cell, bool is_whole, const Numbers& numbers, const Accessing& by) {
  auto& node = chains_[cell.more];
  const std::uint32_t other = node.value.context, warp = by.context.warp;
  if (other >= numbers.past) return by.contexts[other].warp != warp;
  if (!is_whole || other >= numbers.first_of_block) return false;
  if (by.contexts[cell.read.context].warp == warp) return false;
  // One of another block stands for all of those.
  for (std::uint32_t i = node.next; i != 0; i = chains_[i].next) {
    if (chains_[i].value.context >= numbers.first_of_block) return false;
  }
  chains_.drop(node.next);
  chains_.push(cell.more, cell.read);
  return true;
}

/// Each lane comes after what it did itself: `is_whole` says that lanes are told apart by place.
inline bool Shadow::write_at_once(Cell& cell, std::uint32_t lanes, bool is_whole,
                                  const Numbers& numbers, const Accessing& by) {
  const bool is_of_one = is_whole || std::has_single_bit(lanes);
  const auto is_past = [&](const Slot& slot) {
    return slot.context == 0 || numbers.are_past(slot.context) ||
           (is_of_one && numbers.is_plain && slot.lanes == lanes &&
            slot.context >= numbers.first_of_block &&
            by.contexts[slot.context].warp == by.context.warp);
  };
  const bool is_own = cell.write.context == numbers.own && cell.write.lanes == lanes;
  if (cell.more != 0 || !(is_own || is_past(cell.write)) || !is_past(cell.read)) return false;
  cell = {{numbers.own, lanes}, {}, 0};
  return true;
}

template <bool writes>
bool Shadow::touch_at_once(Sector& sector, const Part& part, const Numbers& numbers,
                           const Accessing& by) {
  const std::uint32_t lanes = part.lanes;
  const auto touch = [&](Cell& cell, bool is_whole) {
    if constexpr (writes) return write_at_once(cell, lanes, is_whole, numbers, by);
    return read_at_once(cell, lanes, is_whole, numbers, by);
  };
  if (part.is_whole) return sector.parts == undivided && touch(sector.whole, true);
  if (sector.parts != word_parts) {
    const Cell& whole = sector.whole;
    if (sector.parts != undivided || whole.write.context != 0 || whole.read.context != 0 ||
        whole.more != 0)
      return false;
    sector.cells = take_cells(word_parts);
    sector.parts = word_parts;
  }
  Cell* cell = sector.cells + part.first;
  for (const Cell* const end = cell + part.words; cell != end; ++cell) {
    if (!touch(*cell, false)) return false;
  }
  return true;
}

template <bool writes>
std::size_t Shadow::touch_at_once(std::span<const Part> parts, std::uint64_t first_sector,
                                  const Accessing& by) {
  const Numbers numbers(by);
  const bool forgets = forgets_;
  std::uint64_t known_page = ~std::uint64_t{0};
  Sector* sectors = nullptr;
  std::size_t done = 0;
  for (const Part& part : parts) {
    const std::uint64_t index =
        first_sector + static_cast<std::uint64_t>(std::int64_t{part.sector});
    const std::uint64_t page = index / sectors_of_page;
    if (page != known_page) {
      if (page >= pages_.size() || pages_[page] == nullptr) return done;
      known_page = page;
      sectors = pages_[page]->data();
    }
    Sector& sector = sectors[index % sectors_of_page];
    if (forgets) {
      renew(sector, part.is_whole, by);
      sector.latest = numbers.own;
    }
    if (!touch_at_once<writes>(sector, part, numbers, by)) return done;
    ++done;
  }
  return done;
}

/// True if a read-only load may find what the launch has written.
inline bool Shadow::may_be_written(const Part& part, std::uint64_t first_sector) const {
  const Sector* const found =
      known_sector(first_sector + static_cast<std::uint64_t>(std::int64_t{part.sector}));
  if (found == nullptr) return false;
  if (found->parts == undivided) return found->whole.write.context != 0;
  if (found->parts != word_parts) return true;
  for (std::size_t i = part.first; i < std::size_t{part.first} + part.words; ++i) {
    if (found->cells[i].write.context != 0) return true;
  }
  return false;
}

}  // namespace warpmeter::model::check
