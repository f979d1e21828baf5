// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/block_trace.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>

namespace warpmeter::model {
namespace {

constexpr std::uint64_t base = 0x7f0000000000;

/// Full warps load neighbouring floats; `follow` is called for each request of one block.
class BlockTraceTest : public testing::Test {
 protected:
  BlockTraceTest() : recording_(1, 0), trace_(recording_) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) delta_[lane] = 4 * lane;
  }

  void load(std::uint32_t warp, std::uint64_t row, std::uint32_t mask = ~0u) {
    TracedAccess access;
    access.warp = warp;
    access.is_load = true;
    access.mask = mask;
    access.first = base + 128 * row;
    trace_.follow(access, delta_.data());
  }

  void store(std::uint32_t warp, std::uint64_t row) {
    TracedAccess access;
    access.warp = warp;
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
  EXPECT_EQ(seen_.known, 12'000u);
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

// Data of another warp has to be loaded; what the lanes stored themselves they know.
TEST_F(BlockTraceTest, ALoadIsRepeatedOnlyWhileNobodyElseStoresThere) {
  trace_.start();
  load(0, 0);
  store(1, 0);
  load(0, 0);
  trace_.finish();
  EXPECT_EQ(seen_.repeated, 0u);
  trace_.start();
  load(0, 0);
  store(0, 0);
  load(0, 0);
  load(0, 0);
  trace_.finish();
  EXPECT_EQ(seen_.repeated, 8u);
}

// Behind a condition fewer of the lanes load what all had; other places of the sector are new.
TEST_F(BlockTraceTest, FewerLanesRepeatWhatAllLoaded) {
  trace_.start();
  load(0, 0);
  load(0, 0, 0x00ff00ff);
  load(0, 0, 0x000000f1);
  trace_.finish();
  EXPECT_EQ(seen_.sectors, 7u);
  EXPECT_EQ(seen_.repeated, 3u);
}

TEST_F(BlockTraceTest, OtherLanesOrPlacesOfASectorAreNoRepetition) {
  trace_.start();
  load(0, 0, 0x000000ff);
  load(0, 0, 0x0000ffff);  // eight lanes more, of another sector
  for (unsigned lane = 0; lane < 8; ++lane) delta_[lane] = 28 - 4 * lane;
  load(0, 0, 0x000000ff);
  load(1, 0, 0x0000000f);
  trace_.finish();
  EXPECT_EQ(seen_.sectors, 5u);
  EXPECT_EQ(seen_.repeated, 1u);
}

// Whichever warp comes last: one that walks through a sector fetches again what others fetched.
TEST_F(BlockTraceTest, AWarpFetchesAgainWhatAnotherHasFetchedHoweverOftenItDoes) {
  delta_.fill(0);
  trace_.start();
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    for (unsigned word = 0; word < 8; ++word) {
      TracedAccess access;
      access.warp = warp;
      access.is_load = true;
      access.mask = ~0u;
      access.first = base + 4 * word;
      trace_.follow(access, delta_.data());
    }
  }
  trace_.finish();
  EXPECT_EQ(seen_.sectors, 32u);
  EXPECT_EQ(seen_.by_other_warps, 24u);
  EXPECT_EQ(seen_.by_own_warp, 0u);  // all lanes at one place
  EXPECT_EQ(seen_.known, 31u);
}

// Neighbours share a sector at their edges: what a warp had itself does not depend on them.
TEST_F(BlockTraceTest, AWarpFetchesAgainWhatItHadItselfWhoeverElseHadIt) {
  trace_.start();
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    for (unsigned word = 0; word < 5; ++word) {
      TracedAccess access;
      access.warp = warp;
      access.is_load = true;
      access.mask = ~0u;
      access.first = base + 128 * warp + 4 * word;
      trace_.follow(access, delta_.data());
    }
  }
  trace_.finish();
  EXPECT_EQ(seen_.sectors, 4u * (4 + 4 * 5));
  EXPECT_EQ(seen_.by_own_warp, 4u * (4 + 4 * 5 - 5));
  EXPECT_EQ(seen_.by_other_warps, 3u * 5);  // the first one of each warp but one, five times
}

TEST_F(BlockTraceTest, SeesStoresThatLaterOnesCover) {
  trace_.start();
  for (int round = 0; round < 10; ++round) store(0, 0);  // nine for nothing
  store(1, 0);                                           // and the tenth
  trace_.finish();
  EXPECT_EQ(seen_.stored, 44u);
  EXPECT_EQ(seen_.over_by_own_warp, 36u);
  EXPECT_EQ(seen_.over_by_others, 4u);
}

TEST_F(BlockTraceTest, AStoreThatIsReadOrCoveredInPartIsNotForNothing) {
  trace_.start();
  store(0, 0);
  load(3, 0);
  store(0, 0);
  trace_.finish();
  EXPECT_EQ(seen_.over_by_own_warp, 0u);
  trace_.start();
  store(0, 0);
  TracedAccess first_lanes;
  first_lanes.mask = 0xf;
  first_lanes.first = base;
  trace_.follow(first_lanes, delta_.data());
  trace_.finish();
  EXPECT_EQ(seen_.over_by_own_warp, 0u);
}

// Each warp clears the same words one by one.
TEST_F(BlockTraceTest, SeesWordsThatAreStoredOverOneByOne) {
  trace_.start();
  for (std::uint32_t warp = 0; warp < 3; ++warp) {
    for (const std::uint64_t word : {0, 1, 2}) {
      TracedAccess access;
      access.warp = warp;
      access.mask = ~0u;
      access.first = base + 4 * word;
      trace_.follow(access, std::array<std::uint64_t, warp_lanes>{}.data());
    }
  }
  trace_.finish();
  EXPECT_EQ(seen_.stored, 9u);
  EXPECT_EQ(seen_.over_by_others, 6u);
  EXPECT_EQ(seen_.over_by_own_warp, 0u);
}

// Parts of a sector one by one, then all of them anew.
TEST_F(BlockTraceTest, CountsEachOfTheStoresThatOneCovers) {
  trace_.start();
  for (const std::uint32_t mask : {0x1u, 0x2u, 0xfcu, 0xffu}) {
    TracedAccess access;
    access.mask = mask;
    access.first = base + delta_[static_cast<unsigned>(std::countr_zero(mask))];
    std::array<std::uint64_t, warp_lanes> delta{};
    for_each_lane(mask, [&](unsigned lane) { delta[lane] = base + delta_[lane] - access.first; });
    trace_.follow(access, delta.data());
  }
  trace_.finish();
  EXPECT_EQ(seen_.stored, 4u);
  EXPECT_EQ(seen_.over_by_own_warp, 3u);
}

TEST_F(BlockTraceTest, AHalfOfManyStoresStandsForAll) {
  trace_.start();
  for (int time = 0; time < 4; ++time) {
    for (std::uint64_t row = 0; row < 50'000; ++row) store(0, row);
  }
  trace_.finish();
  EXPECT_NEAR(part(seen_.stored, 4 * 50'000 * 4), 1, 0.05);
  EXPECT_NEAR(part(seen_.over_by_own_warp, seen_.stored), 3.0 / 4, 0.001);
}

/// Requests of three ways to lie, long enough that sectors are forgotten meanwhile.
SiteTrace traced(bool says_as_before) {
  Recording recording(1, 0);
  BlockTrace trace(recording);
  trace.start();
  std::mt19937 random(1);
  unsigned way = 3;
  for (int i = 0; i < 40'000; ++i) {
    const unsigned next = random() % 8 == 0 ? random() % 3 : way % 3;
    std::array<std::uint64_t, warp_lanes> delta{};
    for (unsigned lane = 0; lane < warp_lanes; ++lane) delta[lane] = lane * (next == 0 ? 4 : 36);
    TracedAccess access;
    access.lies_as_before = says_as_before && next == way;
    way = next;
    access.warp = random() % 4;
    access.is_load = random() % 16 != 0;
    access.mask = next == 2 ? 0x0f0fu : ~0u;
    access.first = base + random() % 4096 * 4;
    trace.follow(access, delta.data());
  }
  trace.finish();
  return recording.traces[0];
}

TEST(BlockTraces, KnowLanesThatLieAsBefore) {
  const SiteTrace told = traced(true), found = traced(false);
  EXPECT_GT(found.repeated, 0u);
  EXPECT_GT(found.by_own_warp, 0u);
  for (auto count : {&SiteTrace::sectors, &SiteTrace::repeated, &SiteTrace::by_own_warp,
                     &SiteTrace::by_other_warps, &SiteTrace::known, &SiteTrace::stored}) {
    EXPECT_EQ(told.*count, found.*count);
  }
}

}  // namespace
}  // namespace warpmeter::model
