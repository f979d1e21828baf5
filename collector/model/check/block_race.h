// Races of blocks on global memory: what one block writes and another reads, or writes otherwise.
//
// Only barriers of a whole grid, atomics and fences order blocks. Where a kernel has none of them,
// nothing does, and any two such accesses race, whatever came first here. Kernels that have them
// are not looked at: that they order what has to be ordered is not known.
//
// Kept of each word of 4 bytes are the last block that changed it, one that wrote what was there,
// and two that read it. Narrower accesses are left out, and memory beyond the first quarter of a
// gigabyte that is touched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace warpmeter::model::check {

struct GlobalAccess {
  std::uint64_t address = 0;
  std::uint32_t block = 0, width = 0, instruction = 0;
  bool writes = false;
  bool changes = false;  ///< a write of something else than what is there
};

struct BlockRace {
  std::uint32_t other_block = 0, other_instruction = 0;
  bool other_writes = false;
};

class BlockRaces {
 public:
  /// Remembers the access; a race with an earlier one of another block, if there is one.
  std::optional<BlockRace> access(const GlobalAccess& access);

 private:
  struct Event {
    std::uint32_t block = none, instruction = 0;
  };
  struct Word {
    Event write, same_write, first_read, last_read;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint64_t word_bytes = 4, words_of_page = 1024;
  static constexpr std::size_t most_pages = (std::size_t{256} << 20) / (word_bytes * words_of_page);
  using Page = std::array<Word, words_of_page>;

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace warpmeter::model::check
