// SPDX-License-Identifier: MIT
// Which operations touched memory last: of each byte the last write, and the reads since. A touch
// that is ordered before all that can still come is not kept.
//
// Memory is kept by pages. A page that is touched as a whole takes one cell; another is split into
// cells as small as what is told apart in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "collector/model/check/chains.h"
#include "collector/model/check/touched.h"

namespace warpmeter::runtime {

/// The sink for questions and notes about the operation that touches.
class TouchSink {
 public:
  /// True if an earlier operation comes before it in any order.
  virtual bool is_before(std::uint32_t operation) const = 0;
  /// They touch the same bytes, one of them writes, and neither comes before the other.
  virtual void take(std::uint32_t operation, bool theirs_writes, std::uint64_t address,
                    std::uint64_t bytes, bool own_writes) = 0;

 protected:
  ~TouchSink() = default;
};

class LastTouches {
 public:
  using Strength = model::check::Strength;

  /// Operations have numbers from 1 on, below 2^30.
  void touch(const model::check::Touched& touched, std::uint32_t operation, TouchSink& sink);
  /// The receiver of a byte's facts: each operation, whether it writes, and how strong that was.
  using Sees = std::function<void(std::uint32_t operation, bool writes, Strength strength)>;
  void for_each_at(std::uint64_t address, const Sees& see) const;
  /// The receiver of every byte in a stretch, cell by cell.
  using SeesCell = std::function<void(std::uint64_t address, std::uint64_t bytes,
                                      std::uint32_t operation, bool writes, Strength strength)>;
  void for_each_in(std::uint64_t address, std::uint64_t bytes, const SeesCell& see) const;

  void forget(std::uint64_t address, std::uint64_t bytes);
  void forget_all();
  /// Drops operations of which the predicate holds.
  void forget_if(const std::function<bool(std::uint32_t)>& is_past);
  /// That are taken, about.
  std::size_t bytes() const;

 private:
  static constexpr unsigned page_shift = 12;
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;
  /// An operation and how strong its access was, in one number; 0: none.
  using Entry = std::uint32_t;
  struct Cell {
    Entry write = 0, read = 0;
    std::uint32_t more = 0;  ///< a chain
  };
  struct Touch {
    Entry entry = 0;
    bool writes = false;
  };
  struct Page {
    Cell whole;
    unsigned shift = page_shift;  ///< the shift of the bytes of a cell
    std::unique_ptr<Cell[]> cells;

    std::size_t count() const { return std::size_t{1} << (page_shift - shift); }
    Cell* first() { return cells != nullptr ? cells.get() : &whole; }
    const Cell* first() const { return cells != nullptr ? cells.get() : &whole; }
  };

  void touch_page(std::uint64_t address, std::uint64_t bytes, const model::check::Touched& touched,
                  std::uint32_t operation, TouchSink& sink);
  void split(Page& page, unsigned shift);
  void write(Cell& cell, Entry own, std::uint64_t address, std::uint64_t bytes, TouchSink& sink);
  void read(Cell& cell, Entry own, std::uint64_t address, std::uint64_t bytes, TouchSink& sink);
  /// Unless the chain has it.
  void push(std::uint32_t& chain, Touch touch);
  template <class See>
  void for_each_of(const Cell& cell, const See& see) const;

  std::unordered_map<std::uint64_t, Page> pages_;  ///< by address / page_bytes
  model::check::Chains<Touch> chains_;
  std::size_t cells_ = 0;  ///< the cells of split pages
};

}  // namespace warpmeter::runtime
