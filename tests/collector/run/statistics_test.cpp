// SPDX-License-Identifier: MIT
#include "collector/run/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace warpmeter::run {
namespace {

TEST(MedianInterval, OfOneSampleIsThatSample) {
  const MedianInterval interval = median_interval(std::vector<double>{7});
  EXPECT_EQ(interval.median, 7);
  EXPECT_EQ(interval.low, 7);
  EXPECT_EQ(interval.high, 7);
  EXPECT_EQ(interval.relative_half_width(), 0);
}

TEST(MedianInterval, OfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median_interval(std::vector<double>{4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(median_interval(std::vector<double>{5, 1, 3}).median, 3);
}

TEST(MedianInterval, OfAHundredSamplesUsesRanks40And61) {
  // The textbook's ranks for n = 100: 40 and 61.
  std::vector<double> samples;
  for (int i = 1; i <= 100; ++i) samples.push_back(i);
  std::shuffle(samples.begin(), samples.end(), std::mt19937(1));
  const MedianInterval interval = median_interval(samples);
  EXPECT_EQ(interval.median, 50.5);
  EXPECT_EQ(interval.low, 40);
  EXPECT_EQ(interval.high, 61);
  EXPECT_DOUBLE_EQ(interval.relative_half_width(), 10.5 / 50.5);
}

TEST(MedianInterval, CoversTheTrueMedianAtLeast95TimesInAHundred) {
  std::mt19937 random(20261121);
  std::exponential_distribution<double> skewed(1.0);
  const double true_median = 0.6931471805599453;
  int covered = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(50);
    for (double& sample : samples) sample = skewed(random);
    const MedianInterval interval = median_interval(samples);
    covered += interval.low <= true_median && true_median <= interval.high;
  }
  EXPECT_GE(covered, trials * 94 / 100);
  EXPECT_LE(covered, trials * 99 / 100);
}

}  // namespace
}  // namespace warpmeter::run
