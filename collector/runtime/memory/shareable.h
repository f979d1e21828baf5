// SPDX-License-Identifier: MIT
// The descriptor for another process: memory of cuMemCreate, or a pool. The descriptor is of a file
// without a name that holds the memory, and in a page behind it what it is; so whoever gets the
// descriptor, through a socket or otherwise, finds all there.
#pragma once

#include <cstdint>
#include <memory>

namespace warpmeter::runtime {

class Shareable {
 public:
  enum class Kind : std::uint64_t { memory = 1, pool = 2 };

  /// Zeroed memory of so many bytes, whole pages of this machine; of a pool none. Null where there
  /// is no room.
  static std::unique_ptr<Shareable> make(Kind kind, int device, std::uint64_t bytes);
  /// The object that another process, or this one, has made. Null: the descriptor is of nothing
  /// such.
  static std::unique_ptr<Shareable> of(int descriptor, Kind kind);

  Shareable(const Shareable&) = delete;
  Shareable& operator=(const Shareable&) = delete;
  ~Shareable();

  /// One more descriptor, for the program to hand on and to close; -1: there are too many.
  int handed_out() const;
  /// The memory, to be unmapped by the caller; null where there is no room.
  void* map() const;

  int device() const { return facts_.device; }
  std::uint64_t bytes() const { return facts_.bytes; }
  /// No two have the same one.
  std::uint64_t token() const { return facts_.token; }

 private:
  struct Facts {
    std::uint64_t mark = 0;
    Kind kind = Kind::memory;
    std::uint64_t bytes = 0, token = 0;
    std::int32_t device = 0;
  };
  Shareable(int descriptor, const Facts& facts) : descriptor_(descriptor), facts_(facts) {}

  int descriptor_;
  Facts facts_;
};

}  // namespace warpmeter::runtime
