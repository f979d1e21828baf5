// Memory that host and device share, kept from host code while an operation might still be writing
// it: the program's view of whole pages that were written can be touched by nobody until the host
// has waited. Who touches them before is told (host_fault.h), and goes on.
//
// Only pages of which every byte of the allocation was written: then a system call that fails for
// them is a mistake of the program as well, and what else lies in a page stays as it was. The
// machine and copies use a view of their own (Memory::use_two_views).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "collector/runtime/memory.h"

namespace warpmeter::runtime {

class HostGuard {
 public:
  explicit HostGuard(const Memory& memory) : memory_(memory) {}

  /// Bytes that the current operation writes, in ascending order of addresses where they are many.
  void write(std::uint64_t address, std::uint64_t bytes);
  /// All that the operation wrote: from now on nobody's. `track`: of operations that follow each
  /// other. False where the program would be told of it by a signal itself: then it is open.
  bool close(std::uint32_t operation, std::uint32_t track);
  /// The operations of which `is_done` holds are over.
  void open_if(const std::function<bool(std::uint32_t operation)>& is_done);
  void open_all();
  /// The allocation goes.
  void forget(const Block& block);
  /// There was more than could be kept.
  bool is_partial() const { return is_partial_; }

  // Also by a signal handler, whose thread is in the program's code.
  /// Whether the address lies in an allocation of which something was kept once: a host access that
  /// failed there has to be tried again.
  bool has_kept(std::uint64_t address);
  /// Lets host code have the page at an address from now on, and all that the last operation that
  /// wrote it did there: that one's number; 0 where the page is open already.
  std::uint32_t open_at(std::uint64_t address);

 private:
  struct Stretch {
    std::uint64_t begin = 0, end = 0;  ///< bytes
    bool holds(std::uint64_t address) const { return begin <= address && address < end; }
  };
  struct Kept {
    std::uint32_t operation = 0, track = 0;
    Stretch pages;
  };

  void drop_if(const std::function<bool(const Kept&)>& drops);

  const Memory& memory_;
  std::mutex mutex_;
  std::vector<Stretch> written_;
  std::vector<Kept> kept_;
  bool is_partial_ = false;
  std::vector<Stretch> allocations_;  ///< of which something was kept
};

}  // namespace warpmeter::runtime
