// SPDX-License-Identifier: MIT
#include "collector/model/check/shadow.h"

#include "collector/model/check/whole_lanes.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

namespace warpmeter::model::check {
namespace {

constexpr std::uint8_t words = 8, bytes = 32;
constexpr std::size_t cells_of_chunk = 4096;
/// Unordered accesses that are remembered beside the last of each kind; of more, the first are.
constexpr unsigned most_nodes = 64;

/// Two atomics are none for each other where they overlap in part.
bool never_race(const Context& a, const Context& b) {
  if (!a.is_strong || !b.is_strong) return false;
  if (a.width != b.width && a.width != 0 && b.width != 0) return false;
  return a.block == b.block || (a.scope == Scope::device && b.scope == Scope::device);
}

}  // namespace

Shadow::Shadow(std::uint64_t size, bool forgets, Budget& budget)
    : forgets_(forgets), budget_(budget) {
  const std::uint64_t sectors = (size + sector_bytes - 1) / sector_bytes;
  pages_.resize((sectors + sectors_of_page - 1) / sectors_of_page);
}

Shadow::~Shadow() { budget_.used -= used_; }

void Shadow::clear() {
  for (Page* const page : pages_) {
    if (page == nullptr) continue;
    for (Sector& sector : *page) make_whole(sector);
  }
}

Shadow::Page* Shadow::add_page(std::size_t number) {
  if (budget_.used + sizeof(Page) > budget_.most) {
    budget_.is_exceeded = true;
    return nullptr;
  }
  try {
    if (of_pages_.size() == 0) of_pages_.resize(pages_.size() * sizeof(Page) + alignof(Page), true);
  } catch (const std::bad_alloc&) {  // a limit of the process's own
    budget_.is_exceeded = true;
    return nullptr;
  }
  used_ += sizeof(Page);
  budget_.used += sizeof(Page);
  void* first = of_pages_.data();
  std::size_t space = of_pages_.size();
  std::align(alignof(Page), sizeof(Page), first, space);
  return pages_[number] = static_cast<Page*>(first) + number;
}

Shadow::Sector* Shadow::sector(std::uint64_t index, const Accessing& by) {
  if (index / sectors_of_page >= pages_.size()) return nullptr;
  Page* page = pages_[index / sectors_of_page];
  if (page == nullptr) page = add_page(index / sectors_of_page);
  if (page == nullptr) return nullptr;
  Sector& found = (*page)[index % sectors_of_page];
  if (forgets_ && found.latest != 0 && found.latest != by.number &&
      (!by.contexts.holds(found.latest) || by.order.is_past(by.contexts[found.latest]))) {
    make_whole(found);
  }
  if (forgets_) found.latest = by.number;
  return &found;
}

Shadow::Cell* Shadow::take_cells(std::uint8_t parts) {
  std::vector<Cell*>& free = parts == words ? free_words_ : free_bytes_;
  if (free.empty()) {
    chunks_.push_back(std::make_unique<Cell[]>(cells_of_chunk));
    used_ += cells_of_chunk * sizeof(Cell);
    budget_.used += cells_of_chunk * sizeof(Cell);
    for (std::size_t i = 0; i < cells_of_chunk; i += parts) {
      free.push_back(chunks_.back().get() + i);
    }
  }
  Cell* cells = free.back();
  free.pop_back();
  return cells;
}

void Shadow::give_back(Cell* cells, std::uint8_t parts) {
  for (std::uint8_t i = 0; i < parts; ++i) {
    if (cells[i].more != 0) chains_.drop(cells[i].more);
    cells[i] = {};
  }
  (parts == words ? free_words_ : free_bytes_).push_back(cells);
}

/// Gives back what it keeps elsewhere.
void Shadow::drop(Sector& sector) {
  if (sector.parts != undivided) {
    give_back(sector.cells, sector.parts);
  } else if (sector.whole.more != 0) {
    chains_.drop(sector.whole.more);
  }
}

/// Forgets all of it.
void Shadow::make_whole(Sector& sector) {
  drop(sector);
  sector = {};
}

std::uint32_t Shadow::copy_chain(std::uint32_t chain, std::uint32_t first_byte, std::uint32_t count,
                                 bool from_whole) {
  std::uint32_t copy = 0;
  for (; chain != 0; chain = chains_[chain].next) {
    Slot slot = chains_[chain].value;
    if (from_whole) slot.lanes = lanes_of(slot.lanes, first_byte, count);
    chains_.push(copy, slot);
  }
  return copy;
}

void Shadow::split(Sector& sector, std::uint8_t parts) {
  Cell* cells = take_cells(parts);
  const std::uint32_t each = sector_bytes / parts;
  for (std::uint32_t i = 0; i < parts; ++i) {
    const bool from_whole = sector.parts == undivided;
    const Cell& from = from_whole ? sector.whole : sector.cells[i * sector.parts / parts];
    cells[i] = from;
    if (from_whole) {
      cells[i].write.lanes = lanes_of(from.write.lanes, i * each, each);
      cells[i].read.lanes = lanes_of(from.read.lanes, i * each, each);
    }
    if (from.more != 0) cells[i].more = copy_chain(from.more, i * each, each, from_whole);
  }
  drop(sector);
  sector.cells = cells;
  sector.parts = parts;
}

/// True if the one, beside what `by` does now, conflicts with whatever the other does: where there
/// are two blocks, any access conflicts with one of them; and where there are two warps.
bool Shadow::stands_for(const Context& one, const Context& other, const Accessing& by) {
  if (!by.order.is_simple() || one.writes != other.writes || one.is_strong != other.is_strong ||
      one.scope != other.scope || one.width != other.width) {
    return false;
  }
  const std::uint32_t block = by.context.block;
  if (other.block != block) return one.block != block;
  return one.block == block && one.warp != by.context.warp && !by.order.is_past(one);
}

void Shadow::push(std::uint32_t& chain, const Slot& slot, const Accessing& by, bool is_whole) {
  const Context& context = by.contexts[slot.context];
  unsigned count = 0;
  for (std::uint32_t i = chain; i != 0; i = chains_[i].next) {
    if (chains_[i].value.context == slot.context) {
      if (!is_whole) chains_[i].value.lanes |= slot.lanes;
      if (!is_whole || chains_[i].value.lanes == slot.lanes) return;
    }
    const Context& other = by.contexts[chains_[i].value.context];
    if (stands_for(other, context, by)) return;
    if (++count >= most_nodes) return;
  }
  chains_.push(chain, slot);
}

/// True if an access that comes before this one has to be kept though this one is ordered after it:
/// it is plain, and this one conflicts with plain ones alone.
bool Shadow::outlives(const Context& theirs, const Accessing& by) {
  return by.context.is_strong && !theirs.is_strong && !by.order.is_past(theirs);
}

/// True if the one has seen the other, a strong write that hands on, and comes after it for that.
bool Shadow::has_seen(const Context& seer, const Context& write) {
  return seer.sees && write.writes && write.hands_on && never_race(write, seer);
}

/// True if an atomic sees all strong writes that are kept. A store ends what came before it: nobody
/// sees that any more. (A plain one that does is a race, and told.)
bool Shadow::sees_all(const Cell& cell, const Accessing& by) const {
  if (!by.context.sees || !by.is_one_scope) return false;
  std::size_t writes = 0, stores = 0;
  const auto count = [&](const Slot& slot) {
    if (slot.context == 0) return;
    const Context& context = by.contexts[slot.context];
    if (!context.writes || !context.is_strong) return;
    ++writes;
    stores += context.changes ? 0 : 1;
  };
  count(cell.write);
  for (std::uint32_t i = cell.more; i != 0; i = chains_[i].next) count(chains_[i].value);
  return stores == 0 || writes == 1;
}

/// True if the last write was seen by the last read, which comes before what `by` does now.
bool Shadow::was_seen(const Cell& cell, std::uint32_t lanes, const Accessing& by) {
  if (by.context.is_strong || cell.write.context == 0 || cell.read.context == 0) return false;
  const Context& reader = by.contexts[cell.read.context];
  if (!has_seen(reader, by.contexts[cell.write.context])) return false;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t own = lanes & ~(lanes - 1);
    const std::uint32_t unordered =
        by.order.unordered(reader, cell.read.lanes, by.context.warp, own);
    if (unordered == cell.read.lanes) return false;
  }
  return true;
}

/// Tells of a conflict with the slot, if there is one; whether the slot is to be kept.
bool Shadow::conflicts(const Slot& slot, Conflict at, const Accessing& by, ConflictSink& sink) {
  const Context& theirs = by.contexts[slot.context];
  if (!theirs.writes && !by.context.writes) return true;
  if (never_race(theirs, by.context)) return true;
  at.their_lanes = by.order.unordered(theirs, slot.lanes, by.context.warp, at.own_lanes);
  if (at.their_lanes == 0) return true;
  at.theirs = theirs;
  at.is_one_context = slot.context == by.number;
  at.number = slot.context;
  return sink.take(at);
}

/// The common read, of what nobody writes, after one of another block at most: false where it has
/// to be looked at more closely.
bool Shadow::read_plainly(Cell& cell, std::uint32_t lanes, bool is_whole, const Accessing& by) {
  if (!by.is_plain || cell.write.context != 0) return false;
  Slot& last = cell.read;
  if (last.context == by.number) {
    if (is_whole) return add_lanes(last.lanes, lanes);
    last.lanes |= lanes;
    return true;
  }
  if (last.context != 0 && last.context >= by.first_of_block) {
    // Two warps of the block stand for all.
    const auto is_here = [&](const Context& context) {
      return context.block == by.context.block && !by.order.is_past(context);
    };
    const Context& theirs = by.contexts[last.context];
    if (theirs.block != by.context.block) return false;
    if (is_here(theirs)) {
      if (cell.more == 0) return false;
      const Context& other = by.contexts[chains_[cell.more].value.context];
      if (!is_here(other) || other.warp == by.context.warp) return false;
    }
  } else if (last.context != 0) {
    // One of another block is kept beside the last.
    if (cell.more == 0) {
      push(cell.more, last, by, is_whole);
    } else if (chains_[cell.more].value.context >= by.first_of_block) {
      return false;
    }
  }
  last = {by.number, lanes};
  return true;
}

void Shadow::read(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink) {
  const std::uint32_t lanes = at.own_lanes, warp = by.context.warp;
  const auto is_past = [&](const Slot& slot) {
    return by.order.is_past_for(by.contexts[slot.context], warp);
  };
  if (cell.write.context != 0 && !is_past(cell.write) && !was_seen(cell, lanes, by)) {
    conflicts(cell.write, at, by, sink);
  }
  if (cell.read.context == by.number && cell.more == 0) {
    cell.read.lanes |= lanes;
    return;
  }
  if (poll_again(cell, at, by, sink)) return;
  std::uint32_t chain = 0;
  if (cell.more != 0) {
    std::uint32_t old = cell.more;
    for (std::uint32_t i = old; i != 0; i = chains_[i].next) {
      Slot slot = chains_[i].value;
      const Context& theirs = by.contexts[slot.context];
      const bool is_kept = outlives(theirs, by);
      if (!is_kept && is_past(slot)) continue;
      if (theirs.writes) conflicts(slot, at, by, sink);
      if (!is_kept) slot.lanes = by.order.survivors(theirs, slot.lanes, warp, lanes);
      if (slot.lanes != 0) push(chain, slot, by);
    }
    chains_.drop(old);
  }
  Slot& last = cell.read;
  if (last.context == by.number) {
    last.lanes |= lanes;
  } else {
    if (last.context != 0) {
      const Context& theirs = by.contexts[last.context];
      if (!outlives(theirs, by)) last.lanes = by.order.survivors(theirs, last.lanes, warp, lanes);
      if (last.lanes != 0) push(chain, last, by);
    }
    last = {by.number, lanes};
  }
  cell.more = chain;
}

void Shadow::write(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink) {
  if (retry_again(cell, at, by, sink)) return;
  const std::uint32_t lanes = at.own_lanes, warp = by.context.warp;
  std::uint32_t chain = 0, own = lanes;
  // Whoever comes after this one comes after what it has seen. Among its own lanes, the next one
  // sees the one before.
  const bool sees = sees_all(cell, by);
  if (sees && by.context.hands_on) own = std::bit_floor(lanes);
  const auto look = [&](Slot slot) {
    if (slot.context == 0) return;
    const Context& theirs = by.contexts[slot.context];
    if (sees && has_seen(by.context, theirs)) return;
    if (outlives(theirs, by)) {
      if (!conflicts(slot, at, by, sink)) return;
      return push(chain, slot, by);
    }
    if (by.order.is_past_for(theirs, warp)) return;
    if (!conflicts(slot, at, by, sink)) return;
    slot.lanes = by.order.survivors(theirs, slot.lanes, warp, lanes);
    if (slot.lanes == 0) return;
    if (slot.context == by.number) {
      own |= slot.lanes;
    } else {
      push(chain, slot, by);
    }
  };
  if (!was_seen(cell, lanes, by)) look(cell.write);
  look(cell.read);
  for (std::uint32_t i = cell.more; i != 0; i = chains_[i].next) look(chains_[i].value);
  chains_.drop(cell.more);
  cell = {{by.number, own}, {}, chain};
}

void Shadow::touch_cells(Sector& sector, std::uint64_t offset, std::uint32_t width,
                         std::uint32_t lanes, const Accessing& by, ConflictSink& sink) {
  const std::uint32_t each = sector_bytes / sector.parts;
  const auto first = static_cast<std::uint32_t>(offset % sector_bytes);
  Conflict at;
  at.own_lanes = lanes;
  at.width = each;
  for (std::uint32_t byte = first; byte < first + width; byte += each) {
    at.offset = offset - first + byte;
    Cell& cell = sector.cells[byte / each];
    if (by.context.writes) {
      write(cell, at, by, sink);
    } else if (!read_plainly(cell, lanes, false, by)) {
      read(cell, at, by, sink);
    }
  }
}

void Shadow::touch(std::uint64_t offset, std::uint32_t width, std::uint32_t lanes,
                   const Accessing& by, ConflictSink& sink) {
  if (by.context.writes && !by.context.is_strong && !std::has_single_bit(lanes)) {
    Conflict same;
    same.theirs = by.context;
    same.their_lanes = same.own_lanes = lanes;
    same.offset = offset;
    same.width = width;
    same.is_one_context = true;
    sink.take(same);
  }
  while (width > 0) {
    Sector* const found = sector(offset / sector_bytes, by);
    const auto inside = static_cast<std::uint32_t>(sector_bytes - offset % sector_bytes);
    const std::uint32_t part = std::min(width, inside);
    if (found != nullptr) {
      const bool is_narrow = ((offset | part) & 3) != 0;
      if (found->parts == undivided) {
        const auto narrow = [](const Slot& slot) {
          return slot.context != 0 && width_of(slot.lanes) < 4;
        };
        bool to_bytes = is_narrow || narrow(found->whole.write) || narrow(found->whole.read);
        for (std::uint32_t i = found->whole.more; i != 0; i = chains_[i].next) {
          to_bytes |= narrow(chains_[i].value);
        }
        split(*found, to_bytes ? bytes : words);
      } else if (is_narrow && found->parts == words) {
        split(*found, bytes);
      }
      touch_cells(*found, offset, part, lanes, by, sink);
    }
    offset += part;
    width -= part;
  }
}

}  // namespace warpmeter::model::check
