// SPDX-License-Identifier: MIT
#include "collector/model/check/unset/local_memory.h"

#include <algorithm>

namespace warpmeter::model::check {
namespace {

constexpr std::uint8_t all_unset = 0xff;

}  // namespace

void LocalMemory::start_block(std::size_t threads) {
  unset_.assign(bytes_of_thread_ * threads, all_unset);
}

void LocalMemory::write(std::uint32_t thread, std::uint64_t offset, std::uint32_t width,
                        std::uint64_t unset) {
  if (!holds(offset, width)) return;
  const std::size_t first = index_of(thread, offset);
  for (std::uint32_t i = 0; i < width; ++i) {
    unset_[first + i] = static_cast<std::uint8_t>(i < 8 ? unset >> 8 * i & all_unset : 0);
  }
}

std::uint64_t LocalMemory::unset_bits(std::uint32_t thread, std::uint64_t offset,
                                      std::uint32_t width) const {
  if (!holds(offset, width)) return 0;
  const std::size_t first = index_of(thread, offset);
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < std::min(width, 8u); ++i) {
    bits |= std::uint64_t{unset_[first + i]} << 8 * i;
  }
  return bits;
}

void LocalMemory::forget(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes) {
  if (!holds(offset, bytes)) return;
  std::fill_n(unset_.begin() + static_cast<std::ptrdiff_t>(index_of(thread, offset)), bytes,
              all_unset);
}

}  // namespace warpmeter::model::check
