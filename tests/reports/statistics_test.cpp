// SPDX-License-Identifier: MIT
// The statistics of `compare`: against values computed by hand or by other programs, and against
// what they promise.
#include "reports/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace warpmeter::reports {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> normal(unsigned seed, std::size_t count, double mean, double deviation) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution(mean, deviation);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return sorted(values);
}

Samples samples_of(std::vector<double> values, std::size_t sessions = 1) {
  return {sorted(std::move(values)), sessions};
}

struct KnownTest {
  std::vector<double> base, contender;
  double p_value;
};

// Small ones by counting the ways to choose the ranks: 2/C(10,5), 2·(1+1+2)/C(6,3), …
TEST(MannWhitney, IsExactForFewSamples) {
  const KnownTest known[] = {
      {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, 2.0 / 252},
      {{6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}, 2.0 / 252},
      {{1, 2, 4}, {3, 5, 6}, 0.2},
      {{1, 2, 3}, {4, 5, 6}, 0.1},
      {{1}, {2}, 1},
      {{1, 1, 1}, {1, 1, 1}, 1},
      {{1, 1, 2}, {2, 3, 3}, 0.2},  // ties: 2 of the 20 choices are as extreme
  };
  for (const KnownTest& test : known) {
    EXPECT_NEAR(mann_whitney(test.base, test.contender), test.p_value, 1e-12);
  }
}

TEST(MannWhitney, OfManySamplesIsNormalWithCorrections) {
  // U = 0, n = m = 20: z = (200 − 0.5) / √(20·20·41/12) = 5.3965.
  std::vector<double> low, high;
  for (int i = 0; i < 20; ++i) low.push_back(i), high.push_back(100 + i);
  EXPECT_NEAR(mann_whitney(low, high), std::erfc(199.5 / std::sqrt(400.0 * 41 / 12) / std::sqrt(2)),
              1e-15);
  // All tied but one: variance is nm/12·((N+1) − (39³−39)/(N(N−1))).
  std::vector<double> tied(20, 5.0), other(20, 5.0);
  other.back() = 6;
  const double variance = 400.0 / 12 * (41 - (39.0 * 39 * 39 - 39) / (40.0 * 39));
  EXPECT_NEAR(mann_whitney(tied, other), std::erfc(9.5 / std::sqrt(variance) / std::sqrt(2)),
              1e-12);
}

TEST(MannWhitney, OfIdenticalSidesIsOne) {
  const std::vector<double> flat(50, 7.0);
  EXPECT_EQ(mann_whitney(flat, flat), 1);
}

TEST(RatioInterval, HoldsTheRatioAndNarrowsWithSamples) {
  const Samples base = samples_of(normal(1, 30, 20000, 100));
  const Samples contender = samples_of(normal(2, 30, 20600, 100));
  const Interval few = ratio_interval(base, contender);
  EXPECT_LT(few.low, 1.03);
  EXPECT_GT(few.high, 1.03);
  EXPECT_LT(few.high - few.low, 0.012);
  const Interval many = ratio_interval(samples_of(normal(3, 3000, 20000, 100), 100),
                                       samples_of(normal(4, 3000, 20600, 100), 100));
  EXPECT_LT(many.high - many.low, (few.high - few.low) / 3);
}

TEST(RatioInterval, IsTheSameEveryTime) {
  const Samples base = samples_of(normal(1, 31, 1000, 10)),
                other = samples_of(normal(2, 24, 990, 9));
  const Interval first = ratio_interval(base, other), second = ratio_interval(base, other);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

TEST(RatioInterval, CoversTheTruthNineteenTimesOfTwenty) {
  // Independent samples: the interval allows for sessions too, so it covers no less often than 95
  // %.
  int covered = 0;
  constexpr int trials = 400;
  for (unsigned i = 0; i < trials; ++i) {
    const Interval interval = ratio_interval(samples_of(normal(2 * i, 40, 1000, 20)),
                                             samples_of(normal(2 * i + 1, 40, 1000, 20)));
    covered += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, trials * 95 / 100);
  EXPECT_LT(covered, trials);
}

TEST(SessionShift, GrowsWithScatterUpToWhatWasSeen) {
  EXPECT_EQ(session_shift(samples_of(std::vector<double>(20, 5000.0))), 0);
  EXPECT_LT(session_shift(samples_of(normal(1, 100, 20000, 20))), 10);
  // 50 ns and 0.2 % of 20 µs together, whatever the scatter.
  EXPECT_NEAR(session_shift(samples_of(normal(1, 1000, 20000, 2000))), std::hypot(50, 40), 0.5);
}

TEST(SessionTest, DoubtsWhatTheSamplesAloneWouldBelieve) {
  // 1,000 samples of a 3 µs kernel, 3 % apart: no doubt for the samples, yet sessions differ by so
  // much.
  const Samples base = samples_of(normal(1, 1000, 2800, 230));
  const Samples contender = samples_of(normal(2, 1000, 2884, 230));
  EXPECT_LT(mann_whitney(base.sorted_ns, contender.sorted_ns), 1e-6);
  EXPECT_GT(session_test(base, contender), 0.01);
  // The same from 30 sessions each is believed.
  const Samples more = samples_of(normal(1, 1000, 2800, 230), 30);
  EXPECT_LT(session_test(more, samples_of(normal(2, 1000, 2884, 230), 30)), 0.001);
}

TEST(Holm, CorrectsEachRowForThoseNotYetDecided) {
  EXPECT_THAT(
      holm(std::vector<double>{0.01, 0.04, 0.03}),
      ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12)));
  EXPECT_THAT(holm(std::vector<double>{0.9, 0.8}), ElementsAre(1, 1));
  EXPECT_TRUE(holm({}).empty());
}

TEST(ClockTick, IsSeenWhereReadingsRepeat) {
  std::vector<double> ticks;
  for (int i = 0; i < 200; ++i) ticks.push_back(2720 + 32 * (i % 7) + i % 2);  // as an H200 reads
  EXPECT_NEAR(clock_tick(samples_of(ticks)), 31.5, 1);
  EXPECT_EQ(clock_tick(samples_of(normal(1, 200, 2800, 200))), 0);
  EXPECT_EQ(clock_tick(samples_of({1000, 1010, 1020})), 0);
}

TEST(SmallestP, CountsTheWaysToChoose) {
  EXPECT_NEAR(smallest_p(5, 5), 2.0 / 252, 1e-12);
  EXPECT_EQ(smallest_p(1, 1), 1);
  EXPECT_LT(smallest_p(1000, 1000), 1e-100);
}

}  // namespace
}  // namespace warpmeter::reports
