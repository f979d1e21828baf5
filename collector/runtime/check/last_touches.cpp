// SPDX-License-Identifier: MIT
#include "collector/runtime/check/last_touches.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace warpmeter::runtime {
namespace {

using model::check::Strength;
using model::check::Touched;

std::uint32_t entry_of(std::uint32_t operation, Strength strength) {
  return operation << 2 | static_cast<std::uint32_t>(strength);
}
std::uint32_t operation_of(std::uint32_t entry) { return entry >> 2; }
Strength strength_of(std::uint32_t entry) { return static_cast<Strength>(entry & 3); }

/// Strong accesses of kernels do not race with each other.
bool are_strong(std::uint32_t one, std::uint32_t other) {
  return strength_of(one) > Strength::plain && strength_of(other) > Strength::plain;
}

/// Cells are as large as the borders of what is touched allow.
unsigned shift_for(std::uint64_t address, std::uint64_t bytes, unsigned most) {
  const auto zeros = static_cast<unsigned>(std::countr_zero(address | bytes));
  for (const unsigned shift : {most, 8u, 5u, 2u}) {
    if (shift <= zeros) return shift;
  }
  return 0;
}

}  // namespace

void LastTouches::push(std::uint32_t& chain, Touch touch) {
  for (std::uint32_t i = chain; i != 0; i = chains_[i].next) {
    const Touch& known = chains_[i].value;
    if (known.entry == touch.entry && known.writes == touch.writes) return;
  }
  chains_.push(chain, touch);
}

template <class See>
void LastTouches::for_each_of(const Cell& cell, const See& see) const {
  if (cell.write != 0) see(cell.write, true);
  if (cell.read != 0) see(cell.read, false);
  for (std::uint32_t i = cell.more; i != 0; i = chains_[i].next) {
    see(chains_[i].value.entry, chains_[i].value.writes);
  }
}

void LastTouches::split(Page& page, unsigned shift) {
  const std::size_t before = page.cells != nullptr ? page.count() : 0;
  const unsigned step = page.shift - shift;
  const std::size_t count = std::size_t{1} << (page_shift - shift);
  auto cells = std::make_unique<Cell[]>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Cell& from = page.first()[i >> step];
    cells[i] = {from.write, from.read, 0};
    for (std::uint32_t node = from.more; node != 0; node = chains_[node].next) {
      push(cells[i].more, chains_[node].value);
    }
  }
  for (std::size_t i = 0; i < page.count(); ++i) chains_.drop(page.first()[i].more);
  page.whole = {};
  page.cells = std::move(cells);
  page.shift = shift;
  cells_ += count - before;
}

void LastTouches::write(Cell& cell, Entry own, std::uint64_t address, std::uint64_t bytes,
                        TouchSink& sink) {
  std::uint32_t kept = 0;
  const auto look = [&](Entry entry, bool writes) {
    if (sink.is_before(operation_of(entry))) return;
    if (are_strong(entry, own)) return push(kept, {entry, writes});
    sink.take(operation_of(entry), writes, address, bytes, true);
  };
  // Nodes that are kept are pushed while those of the chain are read.
  if (cell.write != 0) look(cell.write, true);
  if (cell.read != 0) look(cell.read, false);
  for (std::uint32_t i = cell.more; i != 0;) {
    const auto [touch, next] = chains_[i];
    look(touch.entry, touch.writes);
    i = next;
  }
  chains_.drop(cell.more);
  cell = {own, 0, kept};
}

void LastTouches::read(Cell& cell, Entry own, std::uint64_t address, std::uint64_t bytes,
                       TouchSink& sink) {
  const auto look = [&](Entry entry) {
    if (sink.is_before(operation_of(entry)) || are_strong(entry, own)) return;
    sink.take(operation_of(entry), true, address, bytes, false);
  };
  if (cell.write != 0) look(cell.write);
  std::uint32_t kept = 0;
  if (cell.read != 0 && !sink.is_before(operation_of(cell.read))) push(kept, {cell.read, false});
  for (std::uint32_t i = cell.more; i != 0;) {
    const auto [touch, next] = chains_[i];
    if (touch.writes) look(touch.entry);
    if (touch.writes || !sink.is_before(operation_of(touch.entry))) push(kept, touch);
    i = next;
  }
  chains_.drop(cell.more);
  cell.read = own;
  cell.more = kept;
}

void LastTouches::touch_page(std::uint64_t address, std::uint64_t bytes, const Touched& touched,
                             std::uint32_t operation, TouchSink& sink) {
  Page& page = pages_[address >> page_shift];
  const std::uint64_t offset = address & (page_bytes - 1);
  const unsigned needed = shift_for(offset, bytes, page_shift);
  if (needed < page.shift) split(page, needed);
  const std::uint64_t each = std::uint64_t{1} << page.shift;
  bool is_plain = true;  // nothing is left of what was there
  for (std::uint64_t at = offset; at < offset + bytes; at += each) {
    Cell& cell = page.first()[at >> page.shift];
    const std::uint64_t begin = address - offset + at;
    if (touched.reads != Strength::none) {
      read(cell, entry_of(operation, touched.reads), begin, each, sink);
    }
    if (touched.writes != Strength::none) {
      write(cell, entry_of(operation, touched.writes), begin, each, sink);
    }
    is_plain &= cell.more == 0;
  }
  if (page.cells != nullptr && bytes == page_bytes && touched.writes != Strength::none &&
      is_plain) {
    page.whole = {entry_of(operation, touched.writes), 0, 0};
    cells_ -= page.count();
    page.cells.reset();
    page.shift = page_shift;
  }
}

void LastTouches::touch(const Touched& touched, std::uint32_t operation, TouchSink& sink) {
  std::uint64_t at = touched.address;
  const std::uint64_t end = at + touched.bytes;
  while (at < end) {
    const std::uint64_t part = std::min(end - at, page_bytes - (at & (page_bytes - 1)));
    touch_page(at, part, touched, operation, sink);
    at += part;
  }
}

void LastTouches::for_each_at(std::uint64_t address, const Sees& see) const {
  const auto found = pages_.find(address >> page_shift);
  if (found == pages_.end()) return;
  const Page& page = found->second;
  for_each_of(
      page.first()[(address & (page_bytes - 1)) >> page.shift],
      [&](Entry entry, bool writes) { see(operation_of(entry), writes, strength_of(entry)); });
}

void LastTouches::for_each_in(std::uint64_t address, std::uint64_t bytes,
                              const SeesCell& see) const {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    const std::uint64_t next_page = ((at >> page_shift) + 1) << page_shift;
    const auto found = pages_.find(at >> page_shift);
    if (found == pages_.end()) {
      at = next_page;
      continue;
    }
    const Page& page = found->second;
    const std::uint64_t each = std::uint64_t{1} << page.shift;
    const std::uint64_t part = std::min(end, (at | (each - 1)) + 1) - at;
    for_each_of(page.first()[(at & (page_bytes - 1)) >> page.shift], [&](Entry entry, bool writes) {
      see(at, part, operation_of(entry), writes, strength_of(entry));
    });
    at += part;
  }
}

/// Allocations have pages of their own, or none that another's bytes are told apart in.
void LastTouches::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    const std::uint64_t part = std::min(end - at, page_bytes - (at & (page_bytes - 1)));
    const auto found = pages_.find(at >> page_shift);
    if (found != pages_.end()) {
      Page& page = found->second;
      const std::uint64_t offset = at & (page_bytes - 1);
      const unsigned needed = shift_for(offset, part, page_shift);
      if (needed < page.shift) split(page, needed);
      for (std::uint64_t i = offset >> page.shift; i < (offset + part) >> page.shift; ++i) {
        chains_.drop(page.first()[i].more);
        page.first()[i] = {};
      }
      if (part == page_bytes) {
        if (page.cells != nullptr) cells_ -= page.count();
        pages_.erase(found);
      }
    }
    at += part;
  }
}

void LastTouches::forget_all() {
  pages_.clear();
  chains_.clear();
  cells_ = 0;
}

void LastTouches::forget_if(const std::function<bool(std::uint32_t)>& is_past) {
  for (auto known = pages_.begin(); known != pages_.end();) {
    Page& page = known->second;
    bool is_empty = true;
    for (std::size_t i = 0; i < page.count(); ++i) {
      Cell& cell = page.first()[i];
      if (cell.write != 0 && is_past(operation_of(cell.write))) cell.write = 0;
      if (cell.read != 0 && is_past(operation_of(cell.read))) cell.read = 0;
      std::uint32_t kept = 0;
      for (std::uint32_t node = cell.more; node != 0;) {
        const auto [touch, next] = chains_[node];
        if (!is_past(operation_of(touch.entry))) push(kept, touch);
        node = next;
      }
      chains_.drop(cell.more);
      cell.more = kept;
      is_empty &= cell.write == 0 && cell.read == 0 && kept == 0;
    }
    if (is_empty && page.cells != nullptr) cells_ -= page.count();
    known = is_empty ? pages_.erase(known) : std::next(known);
  }
}

std::size_t LastTouches::bytes() const {
  return pages_.size() * (sizeof(Page) + 32) + cells_ * sizeof(Cell) + chains_.bytes();
}

}  // namespace warpmeter::runtime
