// SPDX-License-Identifier: MIT
// Who touched memory last: which accesses conflict, whatever their sizes and whoever came between.
#include "collector/model/check/shadow.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpmeter::model::check {
namespace {

class Recorder final : public ConflictSink {
 public:
  bool take(const Conflict& conflict) override {
    all.push_back(conflict);
    return keeps;
  }
  std::vector<Conflict> all;
  bool keeps = false;
};

struct Access {
  std::uint32_t warp = 0, site = 0;
  bool writes = false, is_strong = false;
  bool sees = false, changes = false, hands_on = false;
};

class ShadowOfMemory : public testing::Test {
 protected:
  ShadowOfMemory() {
    budget_.most = 1 << 20;
    order_.start(0);
  }

  Accessing by(const Access& access) {
    Context context;
    context.block = order_.block();
    context.stamp = order_.now();
    context.site = access.site;
    context.warp = static_cast<std::uint8_t>(access.warp);
    context.writes = access.writes;
    context.is_strong = access.is_strong;
    context.sees = access.sees;
    context.changes = access.changes;
    context.hands_on = access.hands_on;
    const std::uint32_t number = contexts_.add(context);
    return {order_, contexts_, number, contexts_[number], 0, false, is_one_scope_};
  }
  /// How many conflicts one lane's access has.
  std::size_t touch(const Access& access, std::uint64_t offset, std::uint32_t width,
                    std::uint32_t lane) {
    sink_.all.clear();
    shadow_.touch(offset, width, 1u << lane, by(access), sink_);
    return sink_.all.size();
  }
  std::size_t touch_run(const Access& access, std::uint64_t offset, std::uint32_t width,
                        std::uint32_t first, std::uint32_t lanes) {
    sink_.all.clear();
    shadow_.touch_run(offset, width, first, lanes, by(access), sink_);
    return sink_.all.size();
  }
  void barrier() { order_.release(0, 0xf, true); }

  const Program program_;
  BlockOrder order_{8, 4, program_};
  Contexts contexts_;
  Budget budget_;
  Shadow shadow_{4096, true, budget_};
  Recorder sink_;
  bool is_one_scope_ = true;
};

constexpr Access reading{0, 1, false, false}, writing{0, 2, true, false};
constexpr Access other_reading{1, 3, false, false}, other_writing{1, 4, true, false};

TEST_F(ShadowOfMemory, ReadsNeverConflict) {
  touch(reading, 0, 4, 0);
  EXPECT_EQ(touch(other_reading, 0, 4, 0), 0u);
}

TEST_F(ShadowOfMemory, AWriteConflictsWithAReadAndTheOtherWayRound) {
  touch(reading, 0, 4, 3);
  EXPECT_EQ(touch(other_writing, 0, 4, 0), 1u);
  EXPECT_EQ(sink_.all[0].their_lanes, 1u << 3);
  EXPECT_FALSE(sink_.all[0].theirs.writes);
  touch(writing, 64, 4, 3);
  EXPECT_EQ(touch(other_reading, 64, 4, 0), 1u);
  EXPECT_TRUE(sink_.all[0].theirs.writes);
}

TEST_F(ShadowOfMemory, ABarrierBetweenThemEndsIt) {
  touch(writing, 0, 4, 3);
  barrier();
  EXPECT_EQ(touch(other_writing, 0, 4, 0), 0u);
}

TEST_F(ShadowOfMemory, OverlappingWidthsConflict) {
  touch(writing, 8, 1, 0);
  EXPECT_EQ(touch(other_reading, 8, 4, 0), 1u);
  EXPECT_EQ(touch(other_reading, 9, 1, 0), 0u);
  touch(writing, 48, 16, 0);
  EXPECT_EQ(touch(other_writing, 62, 2, 0), 2u) << "a conflict a byte";
  touch(writing, 100, 4, 0);
  EXPECT_EQ(touch(other_reading, 102, 2, 0), 2u);
}

TEST_F(ShadowOfMemory, BytesOfOneWordAreApart) {
  touch(writing, 16, 1, 0);
  EXPECT_EQ(touch(other_writing, 17, 1, 0), 0u);
}

TEST_F(ShadowOfMemory, EveryReaderIsRemembered) {
  // Two of three readers have met the writer, at a barrier for a number of warps.
  for (std::uint32_t warp = 0; warp < 3; ++warp) touch({warp, warp, false, false}, 0, 4, 0);
  order_.release(1, 0b1011, false);
  EXPECT_EQ(touch({3, 9, true, false}, 0, 4, 0), 1u);
  EXPECT_EQ(sink_.all[0].theirs.warp, 2);
}

TEST_F(ShadowOfMemory, WhatAnEqualWriteReplacesIsNotForgotten) {
  sink_.keeps = true;
  touch({0, 1, true, false}, 0, 4, 0);
  EXPECT_EQ(touch({1, 2, true, false}, 0, 4, 0), 1u);
  // The third follows the second, and not the first.
  EXPECT_EQ(touch({1, 3, true, false}, 0, 4, 0), 1u);
  EXPECT_EQ(sink_.all[0].theirs.warp, 0);
}

TEST_F(ShadowOfMemory, AtomicsConflictWithPlainAccessesAlone) {
  const Access atomic{0, 1, true, true}, other_atomic{1, 2, true, true};
  touch(atomic, 0, 4, 0);
  EXPECT_EQ(touch(other_atomic, 0, 4, 0), 0u);
  EXPECT_EQ(touch({2, 3, false, false}, 0, 4, 0), 2u);
}

/// atomicAdd behind a fence, and one of which nobody asks what it returns.
constexpr Access change(std::uint32_t warp) { return {warp, warp, true, true, true, true, true}; }
constexpr Access blind_change(std::uint32_t warp) {
  return {warp, 10 + warp, true, true, false, true, true};
}
constexpr Access plain(std::uint32_t warp) { return {warp, 20 + warp, true, false}; }

TEST_F(ShadowOfMemory, WhoFollowsAnAtomicFollowsThoseThatItHasSeen) {
  touch(change(0), 0, 4, 5);
  touch(blind_change(1), 0, 4, 6);
  touch(change(2), 0, 4, 7);
  EXPECT_EQ(touch(plain(2), 0, 4, 7), 0u);
  touch(change(0), 64, 4, 5);
  touch(change(2), 64, 4, 7);
  EXPECT_EQ(touch(plain(2), 64, 4, 8), 1u) << "another lane, which does not follow the atomic";
  touch(change(0), 128, 4, 5);
  touch(blind_change(2), 128, 4, 7);
  EXPECT_EQ(touch(plain(2), 128, 4, 7), 1u) << "it was told nothing";
}

TEST_F(ShadowOfMemory, WithoutAFenceAnAtomicHandsNothingOn) {
  Access unfenced = change(0);
  unfenced.hands_on = false;
  touch(unfenced, 0, 4, 5);
  touch(change(2), 0, 4, 7);
  EXPECT_EQ(touch(plain(2), 0, 4, 7), 1u);
}

TEST_F(ShadowOfMemory, OfTheLanesOfOneAtomicTheLastHasSeenTheOthers) {
  shadow_.touch(0, 4, ~0u, by(change(1)), sink_);
  EXPECT_EQ(touch(plain(1), 0, 4, 31), 0u);
  shadow_.touch(64, 4, ~0u, by(change(1)), sink_);
  EXPECT_EQ(touch(plain(1), 64, 4, 30), 1u);
}

TEST_F(ShadowOfMemory, AStrongStoreHidesWhatWasBeforeItFromWhoeverLooks) {
  touch(change(0), 0, 4, 5);
  touch({1, 7, true, true, false, false, true}, 0, 4, 6);
  touch(change(2), 0, 4, 7);
  EXPECT_GT(touch(plain(2), 0, 4, 7), 0u);
  touch({1, 7, true, true, false, false, true}, 64, 4, 6);  // and is itself seen
  touch(change(2), 64, 4, 7);
  EXPECT_EQ(touch(plain(2), 64, 4, 7), 0u);
}

TEST_F(ShadowOfMemory, WhereScopesDifferNoAtomicStandsForAnother) {
  is_one_scope_ = false;
  touch(change(0), 0, 4, 5);
  touch(change(2), 0, 4, 7);
  EXPECT_EQ(touch(plain(2), 0, 4, 7), 1u);
}

TEST_F(ShadowOfMemory, WhoHasReadAStrongWriteFollowsIt) {
  const Access polls{1, 5, false, true, true};
  touch({0, 1, true, true, false, false, true}, 0, 4, 5);
  touch(polls, 0, 4, 3);
  EXPECT_EQ(touch({1, 6, false, false}, 0, 4, 3), 0u);
  touch({0, 1, true, true, false, false, true}, 64, 4, 5);
  touch(polls, 64, 4, 3);
  EXPECT_EQ(touch(plain(1), 64, 4, 3), 0u);
  touch(polls, 128, 4, 3);
  touch({0, 1, true, true, false, false, true}, 128, 4, 5);
  EXPECT_EQ(touch(plain(1), 128, 4, 3), 1u) << "it looked before";
}

TEST_F(ShadowOfMemory, APlainWriteIsNotHiddenByTheSameThreadsAtomic) {
  touch({0, 1, true, false}, 0, 4, 5);
  EXPECT_EQ(touch({0, 2, true, true}, 0, 4, 5), 0u);
  EXPECT_EQ(touch({1, 3, true, true}, 0, 4, 0), 1u);
}

TEST_F(ShadowOfMemory, NeighbouringLanesAreToldApartInWhatTheyTouchedTogether) {
  touch_run({0, 1, true, false}, 0, 4, 0, 32);
  EXPECT_EQ(touch_run({0, 2, false, false}, 0, 4, 0, 32), 0u) << "each reads its own";
  EXPECT_EQ(touch({0, 3, false, false}, 8, 4, 2), 0u);
  EXPECT_EQ(touch({0, 4, false, false}, 8, 4, 3), 1u);
  EXPECT_EQ(sink_.all[0].their_lanes, 1u << 2);
}

TEST_F(ShadowOfMemory, ShiftedRunsConflict) {
  touch_run({0, 1, false, false}, 4, 4, 0, 28);
  EXPECT_GT(touch_run({0, 2, true, false}, 0, 4, 0, 28), 20u);
}

TEST_F(ShadowOfMemory, NarrowRunsAreToldApartByTheByte) {
  touch_run({0, 1, true, false}, 0, 1, 0, 32);
  EXPECT_EQ(touch({0, 2, false, false}, 5, 1, 5), 0u);
  EXPECT_EQ(touch({0, 3, false, false}, 4, 4, 5), 3u) << "the bytes of three others";
}

TEST_F(ShadowOfMemory, BeyondTheBudgetNothingIsFollowedAndThatIsSaid) {
  budget_.most = 0;
  touch(writing, 0, 4, 0);
  EXPECT_EQ(touch(other_writing, 0, 4, 0), 0u);
  EXPECT_TRUE(budget_.is_exceeded);
}

}  // namespace
}  // namespace warpmeter::model::check
