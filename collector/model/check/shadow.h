// SPDX-License-Identifier: MIT
// Who touched memory last, for a stretch of it: what is needed to tell whether the next access is
// ordered after all that it conflicts with (as FastTrack does, Flanagan and Freund, 2009).
//
// The shadow keeps for each place the last write and the last reads, and beside them whatever came
// before and nothing since is ordered after: unordered reads, atomics, and writes of equal values,
// which hide nothing. So a race is found whichever of its accesses comes last.
//
// Memory is kept by sectors of 32 bytes. Most are touched as a whole, by neighbouring lanes of one
// warp, and take one record; others are split into words, and those with narrow accesses into
// bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collector/model/check/chains.h"
#include "collector/model/check/order.h"
#include "collector/model/check/touched.h"
#include "collector/model/machine/memory/zeroed_bytes.h"

namespace warpmeter::model::check {

/// Contexts by number. 0 is none; the numbers of those that were forgotten are not used again.
class Contexts {
 public:
  std::uint32_t add(const Context& context) {
    all_.push_back(context);
    return first_ + static_cast<std::uint32_t>(all_.size()) - 1;
  }
  const Context& operator[](std::uint32_t number) const { return all_[number - first_]; }
  bool holds(std::uint32_t number) const { return number - first_ < all_.size(); }
  void forget() {
    first_ += static_cast<std::uint32_t>(all_.size());
    all_.clear();
  }
  bool is_nearly_full() const { return first_ > 0x80000000u; }
  void start_again() {
    all_.clear();
    first_ = 1;
  }
  /// The number that the next one will have.
  std::uint32_t next() const { return first_ + static_cast<std::uint32_t>(all_.size()); }
  std::size_t bytes() const { return all_.capacity() * sizeof(Context); }

 private:
  std::vector<Context> all_;
  std::uint32_t first_ = 1;
};

/// Lanes of one warp that do the same to the same bytes, in one instruction.
struct Accessing {
  const BlockOrder& order;
  const Contexts& contexts;
  std::uint32_t number = 0;  ///< the number of the context
  const Context& context;
  /// Contexts below this number are of other blocks; those above may be.
  std::uint32_t first_of_block = 0;
  /// The kernel has no strong accesses, and nothing orders its blocks: see BlockOrder::is_simple().
  bool is_plain = false;
  /// All strong accesses to this memory are strong for each other.
  bool is_one_scope = false;
  /// The block's contexts below this number are past. 0: this is not known.
  std::uint32_t past = 0;
};

struct Part;

/// Two accesses of which nothing orders one before the other.
struct Conflict {
  Context theirs;
  std::uint32_t their_lanes = 0, own_lanes = 0;
  std::uint64_t offset = 0;
  std::uint32_t width = 0;      ///< the width of the bytes in question, from `offset`
  bool is_one_context = false;  ///< for the access itself, or an earlier one of its instruction
  std::uint32_t number = 0;     ///< the number of the earlier one's context
};

class ConflictSink {
 public:
  /// Says whether the earlier access is to be kept, since it may conflict with others still.
  virtual bool take(const Conflict& conflict) = 0;

 protected:
  ~ConflictSink() = default;
};

/// Memory that all shadows of a launch may take together.
struct Budget {
  std::size_t most = 0, used = 0;
  bool is_exceeded = false;  ///< once: from then on new memory is not looked after
};

class Shadow {
 public:
  /// `forgets`: whether what is past for a whole block is of no use to anybody else.
  Shadow(std::uint64_t bytes, bool forgets, Budget& budget);
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  ~Shadow();

  /// All lanes touch the same bytes.
  void touch(std::uint64_t offset, std::uint32_t width, std::uint32_t lanes, const Accessing& by,
             ConflictSink& sink);
  /// Lanes that follow each other touch elements that do. `width`: a power of two, of 32 at most.
  void touch_run(std::uint64_t offset, std::uint32_t width, std::uint32_t first_lane,
                 std::uint32_t lanes, const Accessing& by, ConflictSink& sink);

  /// 0 where nothing is kept.
  unsigned parts_of(std::uint64_t sector) const;
  /// Parts of a plan: a plain access, of lanes that write to different places. The number of those
  /// before the first that takes a closer look, which touch_closely() takes then. plain/touch.h
  /// defines this one.
  template <bool writes>
  std::size_t touch_at_once(std::span<const Part> parts, std::uint64_t first_sector,
                            const Accessing& by);
  void touch_closely(const Part& part, std::uint64_t first_sector, const Accessing& by,
                     ConflictSink& sink);
  /// False: the launch has not written to any of its bytes.
  bool may_be_written(const Part& part, std::uint64_t first_sector) const;

  /// The context of a write to one of these bytes, the last one there; 0: none. A shadow that
  /// forgets may miss one that is past.
  std::uint32_t last_write(std::uint64_t offset, std::uint64_t bytes) const;

  /// Nothing was touched.
  void clear();

  /// Calls `see` for the touched bytes, as stretches in ascending order, of memory of so many bytes
  /// at an address. `of_site`: how strong the strong accesses of each site are.
  void for_each_touched(std::uint64_t address, std::uint64_t bytes, const Contexts& contexts,
                        const std::vector<Strength>& of_site, const SeesTouched& see) const;

 private:
  struct Slot {
    std::uint32_t context = 0, lanes = 0;
  };
  struct Cell {
    Slot write, read;
    std::uint32_t more = 0;  ///< a chain
  };
  /// Where a sector is one cell, its slots' lanes are the first lane and the width of each lane's
  /// part, as whole_lanes() packs them. Two sectors share a line of the processor's cache: most
  /// accesses wait for that memory alone.
  struct alignas(32) Sector {
    union {
      Cell whole{};  ///< the only part
      Cell* cells;   ///< one for each of several parts
    };
    std::uint32_t latest = 0;  ///< context; 0 where the shadow never forgets
    std::uint8_t parts = 0;    ///< 0 (undivided), 8 or 32
  };
  static_assert(sizeof(Sector) == 32);
  static constexpr unsigned sectors_of_page = 1024;
  static constexpr std::uint8_t undivided = 0, word_parts = 8;
  /// Begins as zeros.
  struct alignas(64) Page : std::array<Sector, sectors_of_page> {};

  Touched touched(const Cell& cell, const Contexts& contexts,
                  const std::vector<Strength>& of_site) const;
  Page* add_page(std::size_t number);
  Sector* sector(std::uint64_t index, const Accessing& by);
  Sector* known_sector(std::uint64_t index) const;
  void renew(Sector& sector, bool is_whole, const Accessing& by);
  struct Numbers;
  template <bool writes>
  bool touch_at_once(Sector& sector, const Part& part, const Numbers& numbers, const Accessing& by);
  bool read_at_once(Cell& cell, std::uint32_t lanes, bool is_whole, const Numbers& numbers,
                    const Accessing& by);
  bool join(Cell& cell, bool is_whole, const Numbers& numbers, const Accessing& by);
  static bool write_at_once(Cell& cell, std::uint32_t lanes, bool is_whole, const Numbers& numbers,
                            const Accessing& by);
  void split(Sector& sector, std::uint8_t parts);
  void drop(Sector& sector);
  void make_whole(Sector& sector);
  void touch_whole(Sector& sector, std::uint64_t offset, std::uint32_t width,
                   std::uint32_t first_lane, const Accessing& by, ConflictSink& sink);
  bool replace_whole(Cell& cell, std::uint32_t lanes, const Accessing& by);
  void touch_cells(Sector& sector, std::uint64_t offset, std::uint32_t width, std::uint32_t lanes,
                   const Accessing& by, ConflictSink& sink);
  bool read_plainly(Cell& cell, std::uint32_t lanes, bool is_whole, const Accessing& by);
  Slot* slot_of(Cell& cell, Slot& last, const Conflict& at, const Accessing& by);
  bool retry_again(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink);
  bool poll_again(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink);
  void read(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink);
  void write(Cell& cell, const Conflict& at, const Accessing& by, ConflictSink& sink);
  static bool outlives(const Context& theirs, const Accessing& by);
  static bool has_seen(const Context& seer, const Context& write);
  bool sees_all(const Cell& cell, const Accessing& by) const;
  static bool was_seen(const Cell& cell, std::uint32_t lanes, const Accessing& by);
  bool conflicts(const Slot& slot, Conflict at, const Accessing& by, ConflictSink& sink);
  void push(std::uint32_t& chain, const Slot& slot, const Accessing& by, bool is_whole = false);
  static bool stands_for(const Context& one, const Context& other, const Accessing& by);
  void read_whole(Cell& cell, std::uint32_t lanes, const Accessing& by);
  std::uint32_t copy_chain(std::uint32_t chain, std::uint32_t first_byte, std::uint32_t bytes,
                           bool from_whole);
  Cell* take_cells(std::uint8_t parts);
  void give_back(Cell* cells, std::uint8_t parts);

  const bool forgets_;
  Budget& budget_;
  std::size_t used_ = 0;
  std::vector<Page*> pages_;  ///< null where nothing was touched
  ZeroedBytes of_pages_;      ///< the memory of all pages, once there is one
  std::vector<std::unique_ptr<Cell[]>> chunks_;
  std::vector<Cell*> free_words_, free_bytes_;
  Chains<Slot> chains_;
};

}  // namespace warpmeter::model::check
