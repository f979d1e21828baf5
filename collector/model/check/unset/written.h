// SPDX-License-Identifier: MIT
// Which memory may be read: bytes that somebody has set, and loads that may touch bytes which
// nobody has.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

/// Members of a structure and the gaps behind them fill multiples of it.
inline constexpr std::uint64_t structure_chunk = 8;

/// By site, whether it copies a part of a structure, gaps included: loads on one line, of what is
/// only stored again, whose addresses differ by less than the largest gap between two members.
std::vector<bool> sites_in_structures(const Program& program);

/// A bit for each byte of a stretch of memory: whether it was written, or read. Bytes beyond it
/// never are.
class MarkedBytes {
 public:
  explicit MarkedBytes(std::uint64_t bytes = 0)
      : bytes_(bytes), missing_((bytes + 63) / 64), bits_(missing_) {}

  void clear();
  void mark(std::uint64_t offset, std::uint64_t count);
  void unmark(std::uint64_t offset, std::uint64_t count);
  /// True if all, or any, of these bytes were.
  bool all(std::uint64_t offset, std::uint64_t count) const;
  bool any(std::uint64_t offset, std::uint64_t count) const;
  /// Every byte of the stretch was.
  bool are_all() const { return missing_ == 0; }
  /// The same for some bytes of a sector, a bit for each, which all must exist.
  bool all_of_sector(std::uint64_t sector, std::uint32_t bytes) const {
    return (~(bits_[sector / 2] >> sector % 2 * 32) & bytes) == 0;
  }
  void mark_in_sector(std::uint64_t sector, std::uint32_t bytes) {
    set(sector / 2, std::uint64_t{bytes} << sector % 2 * 32);
  }
  std::uint64_t size() const { return bytes_; }
  /// The first byte from there on, and before `end`, that was (`written`) or was not; else `end`.
  std::uint64_t next(bool written, std::uint64_t offset, std::uint64_t end) const;

 private:
  void set(std::uint64_t word, std::uint64_t bits) {
    const std::uint64_t before = bits_[word];
    if ((bits & ~before) == 0) return;
    bits_[word] = before | bits;
    missing_ -= (before | bits) == all_of(word) ? 1 : 0;
  }
  /// The bits of all bytes that a word stands for.
  std::uint64_t all_of(std::uint64_t word) const {
    const std::uint64_t left = bytes_ - word * 64;
    return left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
  }

  std::uint64_t bytes_;
  std::uint64_t missing_;  ///< words of bits of which not all are set
  std::vector<std::uint64_t> bits_;
};

/// The buffers of global memory that started unset. Outlives a launch: the next one may read what
/// this one wrote.
class WrittenMemory {
 public:
  /// A buffer of which nothing is set. One at the same address is forgotten.
  void add(std::uint64_t address, std::uint64_t bytes);
  void remove(std::uint64_t address);
  /// Null where the buffer at this address was set from the start.
  MarkedBytes* find(std::uint64_t address);

 private:
  std::map<std::uint64_t, MarkedBytes> unset_;  ///< by address
};

}  // namespace warpmeter::model::check
