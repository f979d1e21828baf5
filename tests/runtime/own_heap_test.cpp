// SPDX-License-Identifier: MIT
#include "collector/runtime/entry/own_heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace warpmeter::runtime {
namespace {

TEST(OwnHeap, BlocksAreApartAlignedAndKeepWhatIsWritten) {
  const auto heap = std::make_unique<OwnHeap>();
  struct Block {
    unsigned char* data;
    std::size_t bytes;
    unsigned char value;
  };
  std::vector<Block> blocks;
  const auto whole = [](const Block& block) {
    for (std::size_t i = 0; i < block.bytes; ++i) {
      if (block.data[i] != block.value) return false;
    }
    return true;
  };
  std::mt19937 random(1);
  for (int step = 0; step < 20'000; ++step) {
    if (blocks.size() > 200 || (!blocks.empty() && random() % 3 == 0)) {
      const std::size_t i = random() % blocks.size();
      ASSERT_TRUE(whole(blocks[i])) << blocks[i].bytes << " bytes at step " << step;
      heap->free(blocks[i].data);
      blocks[i] = blocks.back();
      blocks.pop_back();
      continue;
    }
    const std::size_t bytes = std::size_t{1} << random() % 19,
                      alignment = std::size_t{8} << random() % 10;
    const std::size_t asked = bytes + random() % bytes;
    auto* const data = static_cast<unsigned char*>(heap->allocate(asked, alignment));
    ASSERT_NE(data, nullptr);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(data) % std::max<std::size_t>(alignment, 16), 0U)
        << asked;
    const auto value = static_cast<unsigned char>(step);
    std::memset(data, value, asked);
    blocks.push_back({data, asked, value});
  }
  for (const Block& block : blocks) EXPECT_TRUE(whole(block));
}

TEST(OwnHeap, GivesABlockOfTheSizeAgain) {
  const auto heap = std::make_unique<OwnHeap>();
  for (const std::size_t bytes : {1, 16, 17, 40, 100, 131'072, 131'073, 5'000'000}) {
    void* const block = heap->allocate(bytes, 16);
    heap->free(block);
    EXPECT_EQ(heap->allocate(bytes, 16), block) << bytes;
  }
  heap->free(nullptr);
  EXPECT_EQ(heap->allocate(SIZE_MAX - 4096, 16), nullptr);
}

TEST(OwnHeap, TakesBackWhatAnotherThreadFrees) {
  const auto heap = std::make_unique<OwnHeap>();
  void* const block = heap->allocate(64, 16);
  std::thread([&] { heap->free(block); }).join();
  EXPECT_EQ(heap->allocate(64, 16), block) << "or what one thread makes and another frees grows";
}

}  // namespace
}  // namespace warpmeter::runtime
