// SPDX-License-Identifier: MIT
// Memory of the library's own. Its memory in the program's heap would lie there as a trace: a
// program that reads memory which it never set finds zeros on its own, and what it finds must not
// depend on who watches. Nor does a program that writes past its blocks harm the library.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace warpmeter::runtime {

/// Blocks of one size lie together in chunks whose address tells the size; a freed block is the
/// next one of its size. Larger ones have a mapping each. All of it can be used before any
/// constructor has run, and never ends.
class OwnHeap {
 public:
  constexpr OwnHeap() = default;
  OwnHeap(const OwnHeap&) = delete;
  OwnHeap& operator=(const OwnHeap&) = delete;

  /// Null where the machine has no more. `alignment`: a power of two below a chunk's size.
  void* allocate(std::size_t bytes, std::size_t alignment);
  void free(void* block);  ///< null: nothing

  /// Around a fork, so that the child finds no lock that a thread held which it has not.
  void lock();
  void unlock();

 private:
  struct Part;
  struct Free {
    Free* next;
  };
  /// At the beginning of every chunk.
  struct Chunk {
    Part* part;                ///< the part with the blocks; null: one large block
    std::size_t index;         ///< the index of their size
    std::size_t mapped_bytes;  ///< the mapped bytes of a large block
    Chunk* next_free;          ///< the next free of a large block that was freed
  };
  /// Blocks of one size.
  struct Size {
    Free* free = nullptr;
    std::byte* next = nullptr;  ///< where the last chunk's blocks begin that nobody had
    std::byte* end = nullptr;
  };
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  /// Above it a block has its own mapping.
  static constexpr std::size_t largest_small = std::size_t{1} << 17;
  static constexpr std::size_t smallest = 16, steps = 4;
  /// Four sizes to a doubling, from 16 bytes on: of the first ones only multiples of 16 are used.
  static constexpr std::size_t size_count = 1 + 13 * steps;
  /// The most freed large blocks that are kept for others: a launch asks for what the one before it
  /// had.
  static constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;
  /// Threads allocate in a part that they share with few others; a block goes back to its own.
  static constexpr std::size_t part_count = 16;
  struct Part {
    std::mutex mutex;
    std::array<Size, size_count> sizes;
  };

  static std::size_t index_of(std::size_t bytes);  ///< a multiple of `smallest`
  static std::size_t bytes_of(std::size_t index);
  static Chunk* chunk_of(void* block);
  Part& own_part();
  void* allocate_small(std::size_t index);
  void* allocate_large(std::size_t bytes, std::size_t alignment);
  void free_large(Chunk* chunk);

  std::array<Part, part_count> parts_;
  std::mutex large_mutex_;
  Chunk* kept_ = nullptr;
  std::size_t kept_bytes_ = 0;
};

}  // namespace warpmeter::runtime
