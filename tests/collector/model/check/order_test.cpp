// SPDX-License-Identifier: MIT
// The order of events: the clocks of a block's threads.
#include "collector/model/check/order.h"

#include <gtest/gtest.h>

namespace warpmeter::model::check {
namespace {

constexpr std::uint32_t all = ~0u;

Program communicating() {
  Program program;
  program.has_releases = true;
  return program;
}

/// An access of a warp of the block, now.
Context now(const BlockOrder& order, std::uint32_t warp) {
  Context context;
  context.block = order.block();
  context.warp = static_cast<std::uint8_t>(warp);
  context.stamp = order.now();
  return context;
}

class Order : public testing::Test {
 protected:
  Order() { order_.start(0); }
  /// True if a lane comes after what another lane did.
  bool follows(const Context& earlier, std::uint32_t other, std::uint32_t warp,
               std::uint32_t lane) const {
    return order_.unordered(earlier, 1u << other, warp, 1u << lane) == 0;
  }
  static constexpr Synchronisation release_store{false, true, false, true, Scope::device};
  static constexpr Synchronisation acquire_load{true, false, true, false, Scope::device};
  static constexpr Synchronisation relaxed_store{false, true, false, false, Scope::device};
  static constexpr Synchronisation relaxed_load{true, false, false, false, Scope::device};
  static constexpr Synchronisation relaxed_change{true, true, false, false, Scope::device};

  const Program program_ = communicating();
  BlockOrder order_{64, 4, program_};
  BlockOrder other_{64, 4, program_};
  Location location_;
};

TEST_F(Order, AThreadFollowsItself) {
  const Context earlier = now(order_, 1);
  EXPECT_TRUE(follows(earlier, 7, 1, 7));
  EXPECT_FALSE(follows(earlier, 7, 1, 8));
  EXPECT_FALSE(follows(earlier, 7, 2, 7));
}

TEST_F(Order, ABarrierOfTheBlockOrdersAll) {
  const Context earlier = now(order_, 0);
  order_.release(0, 0xf, true);
  EXPECT_TRUE(order_.is_past(earlier));
  EXPECT_TRUE(follows(earlier, 3, 2, 9));
  EXPECT_FALSE(follows(now(order_, 0), 3, 2, 9));
}

TEST_F(Order, ANamedBarrierOrdersTheWarpsThatMeet) {
  const Context earlier = now(order_, 0);
  order_.release(1, 0b0011, false);
  EXPECT_TRUE(follows(earlier, 3, 1, 9));
  EXPECT_FALSE(follows(earlier, 3, 2, 9));
}

TEST_F(Order, ThoseWhoArriveTellAndAreNotTold) {
  const Context produced = now(order_, 0), consumed = now(order_, 1);
  order_.arrive(1, 0);
  order_.release(1, 0b0010, false);
  EXPECT_TRUE(follows(produced, 3, 1, 9));
  EXPECT_FALSE(follows(consumed, 3, 0, 9));
}

TEST_F(Order, LanesOfAMaskMeetWithoutTheOthers) {
  const Context earlier = now(order_, 0);
  order_.meet(0, 0x00ff, all);
  EXPECT_TRUE(follows(earlier, 3, 0, 4));
  EXPECT_FALSE(follows(earlier, 3, 0, 9));
  EXPECT_FALSE(follows(earlier, 9, 0, 3));
  order_.meet(0, 0xff80, all);  // lane 7 brings what it knows
  EXPECT_TRUE(follows(earlier, 3, 0, 9));
}

TEST_F(Order, AFenceAndAStrongWriteTellWhoAcquires) {
  const Context earlier = now(order_, 0);
  order_.fence(0, 1, Scope::device);
  order_.synchronise(location_, 0, 0, relaxed_store);
  order_.synchronise(location_, 3, 5, acquire_load);
  EXPECT_TRUE(follows(earlier, 0, 3, 5));
  EXPECT_FALSE(follows(earlier, 1, 3, 5)) << "another lane has fenced nothing";
  EXPECT_FALSE(follows(earlier, 0, 3, 6)) << "another lane has acquired nothing";
}

TEST_F(Order, WithoutAFenceNothingIsTold) {
  const Context earlier = now(order_, 0);
  order_.synchronise(location_, 0, 0, relaxed_store);
  order_.synchronise(location_, 3, 5, acquire_load);
  EXPECT_FALSE(follows(earlier, 0, 3, 5));
}

TEST_F(Order, WhatIsDoneAfterTheFenceIsNotTold) {
  order_.fence(0, 1, Scope::device);
  const Context later = now(order_, 0);
  order_.synchronise(location_, 0, 0, relaxed_store);
  order_.synchronise(location_, 3, 5, acquire_load);
  EXPECT_FALSE(follows(later, 0, 3, 5));
}

TEST_F(Order, ARelaxedReadNeedsAFenceBehindIt) {
  const Context earlier = now(order_, 0);
  order_.synchronise(location_, 0, 0, release_store);
  order_.synchronise(location_, 3, 5, relaxed_load);
  EXPECT_FALSE(follows(earlier, 0, 3, 5));
  order_.fence(3, 1u << 5, Scope::device);
  EXPECT_TRUE(follows(earlier, 0, 3, 5));
}

TEST_F(Order, ABarrierTakesThePlaceOfTheFenceBehindARead) {
  const Context earlier = now(order_, 0);
  order_.synchronise(location_, 0, 0, release_store);
  other_.start(7);
  other_.synchronise(location_, 3, 5, relaxed_load);
  other_.release(0, 0xf, true);
  EXPECT_EQ(other_.unordered(earlier, 1, 2, 1u << 9), 0u);
}

TEST_F(Order, ABarrierCarriesWhatWasFencedToTheThreadThatTells) {
  const Context earlier = now(order_, 2);
  for (std::uint32_t warp = 0; warp < 4; ++warp) order_.fence(warp, all, Scope::device);
  order_.release(0, 0xf, true);
  order_.synchronise(location_, 0, 0, relaxed_change);
  other_.start(7);
  other_.synchronise(location_, 0, 0, acquire_load);
  EXPECT_EQ(other_.unordered(earlier, 1u << 9, 0, 1), 0u);
}

TEST_F(Order, ABarrierIsNoFenceForOtherBlocks) {
  const Context earlier = now(order_, 2);
  order_.release(0, 0xf, true);
  order_.synchronise(location_, 0, 0, relaxed_change);
  other_.start(7);
  other_.synchronise(location_, 0, 0, acquire_load);
  EXPECT_EQ(other_.unordered(earlier, 1u << 9, 0, 1), 1u << 9);
}

TEST_F(Order, AFenceOfTheBlockTellsNoOtherBlock) {
  const Context earlier = now(order_, 0);
  order_.fence(0, 1, Scope::block);
  order_.synchronise(location_, 0, 0, relaxed_store);
  order_.synchronise(location_, 1, 4, acquire_load);
  EXPECT_TRUE(follows(earlier, 0, 1, 4));
  other_.start(7);
  other_.synchronise(location_, 1, 4, acquire_load);
  EXPECT_EQ(other_.unordered(earlier, 1, 1, 1u << 4), 1u);
}

TEST_F(Order, AChangePassesOnWhatWasReleasedBefore) {
  const Context earlier = now(order_, 0);
  order_.synchronise(location_, 0, 0, release_store);
  order_.synchronise(location_, 1, 0, relaxed_change);
  order_.synchronise(location_, 2, 0, acquire_load);
  EXPECT_TRUE(follows(earlier, 0, 2, 0));
  order_.synchronise(location_, 1, 0, relaxed_store);
  order_.synchronise(location_, 3, 0, acquire_load);
  EXPECT_FALSE(follows(earlier, 0, 3, 0)) << "a store is the head of nothing that came before";
}

TEST_F(Order, OrderGoesOnFromBlockToBlock) {
  const Context earlier = now(order_, 0);
  order_.synchronise(location_, 0, 0, release_store);
  Location second;
  other_.start(40);
  other_.synchronise(location_, 1, 1, acquire_load);
  other_.synchronise(second, 1, 1, release_store);
  BlockOrder third{64, 4, program_};
  third.start(63);
  third.synchronise(second, 2, 2, acquire_load);
  EXPECT_EQ(third.unordered(earlier, 1, 2, 1u << 2), 0u);
  EXPECT_EQ(third.unordered(earlier, 2, 2, 1u << 2), 2u);
}

TEST_F(Order, ABarrierObjectTellsWithThePhaseThatIsOver) {
  const Context first = now(order_, 0);
  order_.arrive_object(64, false, 0, 0);
  order_.arrive_object(64, false, 1, 0);
  const Context second = now(order_, 0);
  order_.arrive_object(64, true, 0, 0);  // the phase has changed
  order_.leave_object(64, true, 1, 0);
  EXPECT_TRUE(follows(first, 0, 1, 0));
  EXPECT_FALSE(follows(second, 0, 1, 0));
}

}  // namespace
}  // namespace warpmeter::model::check
