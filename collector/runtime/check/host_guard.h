// SPDX-License-Identifier: MIT
// Memory that host and device share, kept from host code while an operation might still use it: of
// pages that were written the program's view can be touched by nobody until the host has waited, of
// those that were only read it cannot be written. Who tries is looked at (races.h), and goes on.
//
// Whole pages are kept, also where an operation touched a few of their bytes: which bytes a host
// access may have is known to who asks. So it does no harm to keep more than was touched. The
// machine and copies use a view of their own (Memory::use_two_views).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {

class HostGuard {
 public:
  explicit HostGuard(const Memory& memory) : memory_(memory) {}

  /// Bytes that the current operation touches, in ascending order of addresses where they are many.
  void touch(std::uint64_t address, std::uint64_t bytes, bool writes);
  /// All that the operation touched is kept from now on. `track`: of operations that follow each
  /// other. False where the program would be told of it by a signal itself: then it is open.
  bool close(std::uint32_t operation, std::uint32_t track);
  /// The operations of which `is_done` holds are over.
  void open_if(const std::function<bool(std::uint32_t operation)>& is_done);
  void open_all();
  /// These pages go.
  void forget(const Stretch& pages);
  /// There was more than could be kept.
  bool is_partial() const { return is_partial_; }
  /// True if anything is kept, asked without a lock.
  bool keeps_any() const { return keeps_any_; }

  // Also by a signal handler, whose thread is in the program's code. True if the address lies in
  /// memory of which something was kept once: a host access that failed there has to be tried
  /// again.
  bool has_kept(std::uint64_t address);
  bool keeps(std::uint64_t address) { return keeps_some({address, address + 1}); }
  bool keeps_some(const Stretch& bytes);
  /// Lets host code have pages for a moment, until close_again().
  void open(const Stretch& bytes);
  void close_again(const Stretch& bytes);
  /// Lets it have all that a track's operations touched in the memory that holds the address.
  void give_up(std::uint32_t track, std::uint64_t address);
  /// The same of a single page, whoever touched it.
  void give_up_page(std::uint64_t address);

 private:
  struct Touched {
    Stretch pages;
    bool writes = false;
  };
  struct Kept {
    std::uint32_t operation = 0, track = 0;
    Stretch pages;
    bool writes = false;
  };

  bool keep(const Kept& wanted, const Stretch& memory);
  void drop_if(const std::function<bool(const Kept&)>& drops);
  void protect(const Stretch& pages);

  const Memory& memory_;
  std::mutex mutex_;
  std::vector<Touched> touched_;
  std::vector<Kept> kept_;
  std::atomic<bool> keeps_any_ = false;
  bool is_partial_ = false;
  std::vector<Stretch> memories_;  ///< the memories of which something was kept
};

}  // namespace warpmeter::runtime
