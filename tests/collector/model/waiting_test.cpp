// SPDX-License-Identifier: MIT
// Blocks that wait for each other come to an end, or to an error; counts of loops that wait are not
// called exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "collector/model/counts/grades.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

using Ints = std::vector<int>;
using testing::AllOf;
using testing::HasSubstr;

class Waiting : public testing::TestWithParam<int> {
 protected:
  static TestRun run(const std::string& entry, const Geometry& shape,
                     const std::vector<TestArgument>& arguments) {
    std::ifstream file(fmt::format("{}/tests/collector/model/programs/waiting.sm_{}.ptx",
                                   binary_dir(), GetParam()));
    std::stringstream text;
    text << file.rdbuf();
    return run_ptx(text.str(), entry, shape, arguments);
  }
  static TestArgument zeros(std::size_t count) { return TestArgument::buffer(Ints(count)); }
};

TEST_P(Waiting, GridsMeet) {
  constexpr int blocks = 40, threads = 64, rounds = 5;
  const TestRun done =
      run("grid_rounds", geometry(blocks, threads),
          {zeros(blocks * threads), zeros(rounds), TestArgument::scalar(int{rounds})});
  ASSERT_EQ(done.refusal + done.trap(), "");
  Ints expected(blocks * threads);
  std::iota(expected.begin(), expected.end(), 0);
  for (int round = 0; round < rounds; ++round) {
    const int sum = std::accumulate(expected.begin(), expected.end(), 0);
    for (int i = 0; i < blocks * threads; ++i) {
      expected[static_cast<std::size_t>(i)] = sum % 1000 + i / threads;
    }
  }
  EXPECT_EQ(done.buffer<int>(0), expected);
}

// Each block has done nothing new when its turn ends, but did before.
TEST_P(Waiting, OftenIsNotForEver) {
  for (const std::uint32_t blocks : {2u, 4u, 32u, 132u}) {
    const TestRun done =
        run("grid_meets", geometry(blocks, 32), {zeros(1), TestArgument::scalar(int{300})});
    ASSERT_EQ(done.refusal + done.trap(), "") << blocks;
    EXPECT_EQ(done.buffer<int>(0), (Ints{300}));
  }
  const TestRun done = run("token", geometry(2, 1), {zeros(1), TestArgument::scalar(int{1000})});
  ASSERT_EQ(done.refusal + done.trap(), "");
  EXPECT_EQ(done.buffer<int>(0), (Ints{2000}));
}

TEST_P(Waiting, BlocksWaitForLaterOnes) {
  const TestRun done = run("from_last_to_first", geometry(50, 32), {zeros(50), zeros(50)});
  ASSERT_EQ(done.refusal + done.trap(), "");
  Ints expected(50, 1);
  for (std::size_t i = 49; i-- > 0;) expected[i] = expected[i + 1] + static_cast<int>(i);
  EXPECT_EQ(done.buffer<int>(0), expected);
}

TEST_P(Waiting, BlocksLookBack) {
  constexpr std::size_t count = 128 * 30;
  Ints in(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<int>(i * 7 % 31);
  const TestRun done = run("look_back", geometry(30, 128),
                           {zeros(count), TestArgument::buffer(in), zeros(60), zeros(1)});
  ASSERT_EQ(done.refusal + done.trap(), "");
  std::partial_sum(in.begin(), in.end(), in.begin());
  EXPECT_EQ(done.buffer<int>(0), in);

  // How often it polls differs from run to run; what is outside of that loop does not.
  for (const SiteInfo& site : done.program.sites) {
    const bool is_global = site.space != AddressSpace::shared;
    if (is_global && site.is_strong && site.kind == AccessKind::load) {
      EXPECT_TRUE(site.waits);
    }
    if (is_global && site.kind == AccessKind::store) {
      EXPECT_FALSE(site.waits);
    }
    EXPECT_FALSE(site.is_ordered) << "blocks take each other's parts";
  }
  EXPECT_EQ(*counter("global_store_requests", done.program, done.outcome).value, 30 * 4 + 60);
}

TEST_P(Waiting, LanesAndBlocksShareALock) {
  const TestRun done = run("lock_each", geometry(6, 64), {zeros(2), zeros(1)});
  ASSERT_EQ(done.refusal + done.trap(), "");
  int value = 0;
  for (int i = 0; i < 6 * 64; ++i) value = value * 3 % 1009 + 1;
  EXPECT_EQ(done.buffer<int>(0), (Ints{value, 6 * 64}));
}

// The loop ends by what a plain load sees, under a lock that others take too.
TEST_P(Waiting, WhatALockGuardsDependsOnOthers) {
  const TestRun done = run("fill_box", geometry(6, 1), {zeros(1), zeros(1), zeros(6)});
  ASSERT_EQ(done.refusal + done.trap(), "");
  EXPECT_EQ(done.buffer<int>(0), (Ints{6}));
  EXPECT_THAT(done.program.sites, testing::Contains(testing::Field(&SiteInfo::waits, false)))
      << "the store behind the loop";
  for (const SiteInfo& site : done.program.sites) {
    if (site.space == AddressSpace::global && site.kind == AccessKind::load) {
      EXPECT_TRUE(site.waits);
    }
  }
}

// On an H100 such stores touched 86 sectors where the model's order gives 85.
TEST_P(Waiting, PlacesThatAnAtomicGivesAreNotExact) {
  Ints in(128);
  std::iota(in.begin(), in.end(), 0);
  const TestRun done =
      run("keep_odd", geometry(2, 64), {zeros(128), TestArgument::buffer(in), zeros(1)});
  ASSERT_EQ(done.refusal + done.trap(), "");
  EXPECT_EQ(done.buffer<int>(2), (Ints{64}));
  for (const SiteInfo& site : done.program.sites) {
    EXPECT_EQ(site.is_ordered, site.kind == AccessKind::store);
  }
}

TEST_P(Waiting, TheLastBlockAddsUp) {
  const TestRun done = run("last_block", geometry(33, 64), {zeros(1), zeros(33), zeros(1)});
  ASSERT_EQ(done.refusal + done.trap(), "");
  EXPECT_EQ(done.buffer<int>(0), (Ints{33 * 64 * 63 / 2}));
}

TEST_P(Waiting, OneThreadAsksForItsBlock) {
  for (const std::uint32_t blocks : {1u, 5u}) {
    const TestRun done = run("ask_for_all", geometry(blocks, 96), {zeros(1), zeros(1)});
    ASSERT_EQ(done.refusal + done.trap(), "");
    EXPECT_EQ(done.buffer<int>(1), (Ints{static_cast<int>(96 * blocks)}));
    const TestRun alone = run("ask_in_vain", geometry(blocks, 96), {zeros(1), zeros(1)});
    EXPECT_THAT(alone.trap(), HasSubstr("no progress"));
  }
}

TEST_P(Waiting, ALoopThatBeginsAnotherWaitsToo) {
  const TestRun done = run("asks_first", geometry(1, 1),
                           {TestArgument::buffer(Ints{1}), zeros(3), TestArgument::scalar(int{3})});
  ASSERT_EQ(done.refusal + done.trap(), "");
  EXPECT_EQ(done.buffer<int>(1), (Ints{1, 2, 3}));
  for (const SiteInfo& site : done.program.sites) {
    if (site.kind == AccessKind::load && site.space == AddressSpace::global) {
      EXPECT_TRUE(site.waits);
    }
  }
}

TEST_P(Waiting, EndsWhereNothingComes) {
  for (const std::uint32_t blocks : {1u, 3u, 40u}) {
    const TestRun alone = run("no_answer", geometry(blocks, 96), {zeros(1)});
    EXPECT_THAT(alone.trap(), AllOf(HasSubstr("no progress: kernel 'no_answer' waits in a loop"),
                                    HasSubstr("block (0,0,0)")));
    const TestRun held =
        run("no_answer_in_turn", geometry(blocks, 32), {zeros(1), TestArgument::buffer(Ints{1})});
    EXPECT_THAT(held.trap(), HasSubstr("no progress"));
  }
}

/// An H100 has 132 multiprocessors and a B200 148, of 2,048 threads each: two blocks of
/// 1,024 threads fit on one, the others begin when one of them ends.
TEST_P(Waiting, BlocksBeginAsFarAsTheDeviceHoldsThem) {
  const std::uint32_t fit = GetParam() == 90 ? 2 * 132 : 2 * 148;
  for (const std::uint32_t threads : {1024u, 1000u}) {
    const TestRun all =
        run("from_last_to_first", geometry(fit, threads), {zeros(fit + 1), zeros(fit + 1)});
    EXPECT_EQ(all.refusal + all.trap(), "") << threads;
    const TestRun more =
        run("from_last_to_first", geometry(fit + 1, threads), {zeros(fit + 1), zeros(fit + 1)});
    EXPECT_THAT(more.trap(),
                AllOf(HasSubstr("no progress"),
                      HasSubstr(fmt::format("{} blocks of {} threads fit at a time", fit, threads)),
                      HasSubstr(fmt::format("1 of {} blocks begin only", fit + 1))));
  }
  // Blocks that wait for lower ones only may be as many as they like.
  const TestRun down =
      run("from_first_to_last", geometry(3 * fit, 1024), {zeros(3 * fit), zeros(3 * fit)});
  EXPECT_EQ(down.refusal + down.trap(), "");
}

int reversed_digits(int n, int base) {
  int value = 0;
  for (; n > 0; n /= base) value = value * base + n % base;
  return value;
}

TEST_P(Waiting, StacksAreGivenBack) {
  constexpr int rounds =
      2000;  // the rounds of 64 bytes and more: without giving back, far too many
  const TestRun done =
      run("takes_from_stack", geometry(1, 64), {zeros(64), TestArgument::scalar(int{rounds})});
  ASSERT_EQ(done.refusal + done.trap(), "");
  Ints expected(64);
  for (int t = 0; t < 64; ++t) {
    const int n = t % 5 + 3;
    int sum = 0;
    for (int i = 0; i < rounds; ++i) sum += reversed_digits(i + n, 3);
    for (int i = 0; i < n; ++i) sum += i * i;
    expected[static_cast<std::size_t>(t)] = sum;
  }
  EXPECT_EQ(done.buffer<int>(0), expected);
}

INSTANTIATE_TEST_SUITE_P(OfBothCompilers, Waiting, testing::Values(90, 100),
                         [](const auto& program) { return fmt::format("sm_{}", program.param); });

}  // namespace
}  // namespace warpmeter::model
