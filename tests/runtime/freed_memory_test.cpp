// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/freed_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t page = 2 << 20, begin = 1 << 30;

std::byte* pages(std::uint64_t bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  std::memset(mapped, 7, bytes);
  return static_cast<std::byte*>(mapped);
}

TEST(FreedMemory, GivesTheSamePieceAgainZeroed) {
  FreedMemory freed;
  std::byte* const given = pages(page);
  freed.add(begin, page, page, given);
  const auto piece = freed.take(page, page);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->begin, begin);
  ASSERT_EQ(piece->pages, given);
  EXPECT_TRUE(std::all_of(given, given + page, [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_FALSE(freed.take(page, page)) << "it has one owner";
  munmap(given, page);
}

TEST(FreedMemory, GivesTheLowestThatIsLargeEnough) {
  FreedMemory freed;
  freed.add(begin, page, page, pages(page));
  freed.add(begin + 10 * page, 3 * page, page, pages(3 * page));
  freed.add(begin + 20 * page, 2 * page, page, nullptr);
  const auto larger = freed.take(2 * page, page);
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->begin, begin + 10 * page);
  EXPECT_EQ(larger->pages, nullptr) << "of another size";
  EXPECT_EQ(freed.take(page, page)->begin, begin);
  EXPECT_EQ(freed.take(2 * page, page)->begin, begin + 20 * page);
  EXPECT_FALSE(freed.take(page, page));
}

TEST(FreedMemory, CutsAPieceAndPutsItTogetherAgain) {
  FreedMemory freed;
  freed.add(begin, 7 * page, page, nullptr);
  EXPECT_EQ(freed.take(page, page)->begin, begin);
  EXPECT_EQ(freed.take(page, page)->begin, begin + 2 * page);
  freed.add(begin, page, page, nullptr);
  freed.add(begin + 2 * page, page, page, nullptr);
  EXPECT_EQ(freed.take(7 * page, page)->begin, begin);
}

TEST(FreedMemory, KeepsNoMorePagesThanItMay) {
  FreedMemory freed;
  std::byte* const one = pages(page);
  std::byte* const two = pages(page);
  freed.add(begin, page, page, one);
  freed.add(begin + 2 * page, page, page, two);
  freed.keep(page);
  EXPECT_EQ(freed.take(page, page)->pages, nullptr);
  EXPECT_EQ(freed.take(page, page)->pages, two);
  munmap(two, page);
}

}  // namespace
}  // namespace warpmeter::runtime
