#include "collector/model/machine/block_trace.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace warpmeter::model {
namespace {

constexpr std::uint64_t base = 0x7f0000000000;

/// Full warps load neighbouring floats; `follow` is called for each request of one block.
class BlockTraceTest : public testing::Test {
 protected:
  BlockTraceTest() : recording_(1, 0), trace_(recording_) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) delta_[lane] = 4 * lane;
  }

  void load(std::uint32_t warp, std::uint64_t row) {
    TracedAccess access;
    access.warp = warp;
    access.is_load = true;
    access.mask = ~0u;
    access.first = base + 128 * row;
    trace_.follow(access, delta_.data());
  }

  static double part(std::uint64_t count, std::uint64_t all) {
    return static_cast<double>(count) / static_cast<double>(all);
  }

  Recording recording_;
  BlockTrace trace_;
  std::array<std::uint64_t, warp_lanes> delta_{};
  const SiteTrace& seen_ = recording_.traces[0];
};

TEST_F(BlockTraceTest, IsExactForAFewThousandRequests) {
  trace_.start();
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    for (std::uint64_t row = 0; row < 1000; ++row) load(warp, row);
  }
  trace_.finish();
  EXPECT_EQ(seen_.sectors, 16'000u);
  EXPECT_EQ(seen_.by_other_warps, 12'000u);
  EXPECT_EQ(seen_.by_own_warp, 0u);
  EXPECT_EQ(seen_.repeated, 0u);
}

// One warp after the other goes through far more than can be remembered: what the last ones fetch
// again has to be known as well as what the first ones fetch.
TEST_F(BlockTraceTest, KnowsWhatIsFetchedAgainByTheEndOfALongBlock) {
  trace_.start();
  for (std::uint32_t warp = 0; warp < 8; ++warp) {
    for (std::uint64_t row = 0; row < 50'000; ++row) load(warp, row);
  }
  trace_.finish();
  EXPECT_NEAR(part(seen_.sectors, 8 * 50'000 * 4), 1, 0.05);
  EXPECT_NEAR(part(seen_.by_other_warps, seen_.sectors), 7.0 / 8, 0.001);
}

TEST_F(BlockTraceTest, KnowsHowOftenAWarpRepeatsALongWalk) {
  trace_.start();
  for (int time = 0; time < 4; ++time) {
    for (std::uint64_t row = 0; row < 100'000; ++row) load(0, row);
  }
  trace_.finish();
  EXPECT_NEAR(part(seen_.repeated, seen_.sectors), 3.0 / 4, 0.001);
  EXPECT_EQ(seen_.by_other_warps, 0u);
}

// No half of so few sectors stands for all: they are followed whole, as long as it lasts.
TEST_F(BlockTraceTest, FollowsAHandfulOfSectorsWhole) {
  trace_.start();
  for (int time = 0; time < 100'000; ++time) load(0, 0);
  trace_.finish();
  EXPECT_GT(seen_.sectors, 10'000u);
  EXPECT_EQ(seen_.repeated, seen_.sectors - 4);
}

TEST_F(BlockTraceTest, KeepsBlocksApart) {
  for (int block = 0; block < 2; ++block) {
    trace_.start();
    load(0, 0);
  }
  trace_.finish();
  trace_.finish();
  EXPECT_EQ(seen_.sectors, 8u);
  EXPECT_EQ(seen_.repeated, 0u);
}

}  // namespace
}  // namespace warpmeter::model
