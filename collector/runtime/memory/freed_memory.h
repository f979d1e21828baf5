// SPDX-License-Identifier: MIT
// Addresses that a program gave back and gets again, as from a GPU: of the pieces that are large
// enough the one that lies lowest. A piece that fits brings its pages along, zeroed as the device's
// are: to zero them takes a hundredth of the time in which a system finds new ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace warpmeter::runtime {

class FreedMemory {
 public:
  FreedMemory() = default;
  FreedMemory(const FreedMemory&) = delete;
  FreedMemory& operator=(const FreedMemory&) = delete;
  ~FreedMemory();

  struct Piece {
    std::uint64_t begin = 0;
    std::byte* pages = nullptr;  ///< the pages, zeroed, and the taker's; null: it has none
  };
  /// `pages`: of `bytes`, mapped, and from now on this one's; null: none. Behind the piece `free`
  /// bytes are nobody's.
  void add(std::uint64_t begin, std::uint64_t bytes, std::uint64_t free, std::byte* pages);
  /// A piece of that many bytes with as many free behind it; nothing where none is large enough.
  std::optional<Piece> take(std::uint64_t bytes, std::uint64_t free);
  /// Gives pages back until no more than that many bytes of them are kept.
  void keep(std::uint64_t most);

 private:
  struct Freed {
    std::uint64_t bytes = 0;  ///< with what is free behind it
    std::uint64_t page_bytes = 0;
    std::byte* pages = nullptr;
  };
  void drop_pages(Freed& freed);

  std::map<std::uint64_t, Freed> pieces_;  ///< by where they begin
  std::uint64_t kept_ = 0;                 ///< bytes of pages
};

}  // namespace warpmeter::runtime
