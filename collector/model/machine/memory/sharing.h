// SPDX-License-Identifier: MIT
// Blocks that read what other blocks write, found while they run side by side.
//
// The result of such a kernel depends on the order of its blocks, so it has to run in order. Most
// kernels are not like that, and nothing in the PTX says which. So blocks run over threads, and of
// memory that is stored to it is kept which words were touched; when a block has touched a word
// that another one touched and one of the two wrote, the launch starts again, from a copy of what
// it had changed, in order on one thread.
//
// A block notes what it touches where only its thread looks, a bit a word, and adds that to what
// all blocks touched when it ends: of two that meet, the later finds the earlier one's bits. Memory
// that is only read costs nothing. The first block runs alone, before the others: what it stores to
// is known to be stored to from then on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/model/machine/memory/memory.h"

namespace warpmeter::model {

/// The words of an allocation that a block touches, and those that any block did that has ended. A
/// number is of 32 words: those read in its lower half, those written in its upper.
struct TouchedWords {
  std::uint64_t* by_this_block = nullptr;
  std::uint64_t* by_any = nullptr;
};

class Sharing {
 public:
  /// `most_bytes`: what copies and notes of what is stored to may take; `threads`: that will run.
  Sharing(DeviceMemory& memory, std::uint64_t most_bytes, unsigned threads);

  /// From now on blocks run side by side; false: that would take too much memory.
  bool begin();

  /// As if blocks had met.
  void give_up() { conflict_ = true; }
  bool has_conflict() const { return conflict_.load(std::memory_order_relaxed); }
  /// Memory as it was at begin().
  void restore();

 private:
  friend class Footprint;
  struct Free {
    void operator()(std::uint64_t* words) const;
  };
  using Words = std::unique_ptr<std::uint64_t, Free>;
  struct Kept {
    Allocation* allocation = nullptr;
    std::vector<std::byte> contents;
    Words touched;
  };

  static Words no_words(const Allocation& allocation);
  /// Throws bad_alloc where there is no room for it, be it only that it would be too much.
  void keep(Allocation& allocation);
  /// The words that blocks touched of an allocation that a block is about to load from or store to;
  /// null where nobody has to know of the access.
  std::uint64_t* enter(Allocation& allocation, bool stores);

  std::uint64_t bytes_of(const Allocation& allocation) const;

  DeviceMemory& memory_;
  const std::uint64_t most_bytes_;
  std::uint64_t kept_bytes_ = 0;  ///< the kept bytes of most_bytes_
  const unsigned threads_;
  bool side_by_side_ = false;
  std::atomic<bool> conflict_{false};
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

/// The footprint of the block that a thread runs.
class Footprint {
 public:
  explicit Footprint(Sharing& sharing) : sharing_(sharing) {}

  /// The words of an allocation that the block is about to load from or store to; null where
  /// touch() need not be told of the access.
  TouchedWords* enter(Allocation& allocation, bool stores);

  void touch(const TouchedWords& words, std::uint64_t offset, std::uint64_t bytes, bool stores);

  /// The block touches what nobody follows: taken for a conflict.
  void give_up() { sharing_.give_up(); }

  /// Compares what the block touched with what others did.
  void end_block();

 private:
  struct Entered {
    const Allocation* allocation = nullptr;
    Sharing::Words own;
    TouchedWords words;
  };

  Sharing& sharing_;
  std::deque<Entered> entered_;
  std::vector<TouchedWords> touched_;  ///< numbers that are not 0 any more
};

}  // namespace warpmeter::model
