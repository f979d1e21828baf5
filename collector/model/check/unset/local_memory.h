// SPDX-License-Identifier: MIT
// Which bits of the threads' local memory nothing has set, in the block that runs: those of arrays,
// and of whatever else a compiler keeps there.
//
// A read of them is no mistake by itself: a structure that is copied has gaps, compilers load a
// number before they know whether it is needed, and fields share words. So a read gives unset bits
// to its registers, a write takes over those of what it writes, and UnsetRegisters says where they
// matter. A frame is forgotten when its function is entered, for it lies where others have lain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpmeter::model::check {

class LocalMemory {
 public:
  LocalMemory() = default;
  explicit LocalMemory(std::size_t bytes_of_thread) : bytes_of_thread_(bytes_of_thread) {}

  /// Nothing is set.
  void start_block(std::size_t threads);

  /// A write of up to 8 bytes, and which bits of the number were unset; of more, all are set.
  /// Writes beyond a thread's memory, which do not happen, are left out.
  void write(std::uint32_t thread, std::uint64_t offset, std::uint32_t width,
             std::uint64_t unset = 0);
  /// The unset bits of a number of up to 8 bytes.
  std::uint64_t unset_bits(std::uint32_t thread, std::uint64_t offset, std::uint32_t width) const;
  void forget(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes);

 private:
  bool holds(std::uint64_t offset, std::uint64_t width) const {
    return offset <= bytes_of_thread_ && width <= bytes_of_thread_ - offset;
  }
  std::size_t index_of(std::uint32_t thread, std::uint64_t offset) const {
    return thread * bytes_of_thread_ + offset;
  }

  std::size_t bytes_of_thread_ = 0;
  std::vector<std::uint8_t> unset_;  ///< the unset bits of each byte of each thread
};

}  // namespace warpmeter::model::check
