// Blocks that read what other blocks write, found while they run side by side.
//
// The result of such a kernel depends on the order of its blocks, so it has to run in order. Most
// kernels are not like that, and nothing in the PTX says which. So blocks run over threads, and of
// every word of memory that is stored to it is kept which block touched it; when a second block
// touches it and one of the two wrote, the launch starts again, from a copy of what it had changed,
// in order on one thread.
//
// Memory that is only read costs nothing. The first block runs alone, before the others: what it
// stores to is known to be stored to from then on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/model/memory.h"

namespace warpmeter::model {

class Sharing {
 public:
  /// Blocks that a word can remember.
  static constexpr std::uint64_t most_blocks = (std::uint64_t{1} << 31) - 4;

  explicit Sharing(DeviceMemory& memory);

  /// From now on blocks run side by side.
  void begin();

  /// Owners of the words of an allocation that a block is about to load from or store to; null
  /// where nobody has to be told of the access: see touch().
  std::uint32_t* enter(Allocation& allocation, bool stores);

  /// Remembers that a block touches bytes of an allocation, from `offset` on.
  void touch(std::uint32_t* owners, std::uint64_t offset, std::uint32_t width, std::uint64_t block,
             bool stores);

  bool has_conflict() const { return conflict_.load(std::memory_order_relaxed); }
  /// Memory as it was at begin().
  void restore();

 private:
  struct Free {
    void operator()(std::uint32_t* words) const;
  };
  struct Kept {
    Allocation* allocation = nullptr;
    std::vector<std::byte> contents;
    std::unique_ptr<std::uint32_t, Free> owners;
  };

  void keep(Allocation& allocation);

  DeviceMemory& memory_;
  bool side_by_side_ = false;
  std::atomic<bool> conflict_{false};
  std::mutex mutex_;
  std::vector<Kept> kept_;
};

}  // namespace warpmeter::model
