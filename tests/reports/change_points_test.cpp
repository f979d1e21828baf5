// SPDX-License-Identifier: MIT
// Changes that are there are found; where there is none, hardly ever one is.
#include "reports/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace warpmeter::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double one_percent = 0.01;

struct Noise {
  const char* name;
  std::function<double(std::mt19937_64&)> draw;  ///< around 100
};

double normal_noise(std::mt19937_64& random) {
  return std::normal_distribution<double>(100, 1)(random);
}
/// One value in ten is far off, as where another program shares the GPU.
double with_outliers(std::mt19937_64& random) {
  const bool outlier = std::uniform_real_distribution<double>()(random) < 0.1;
  return normal_noise(random) * (outlier ? 1.5 : 1);
}
double cauchy(std::mt19937_64& random) { return std::cauchy_distribution<double>(100, 1)(random); }
/// Clocks count in steps: most values are equal.
double quantised(std::mt19937_64& random) { return std::round(normal_noise(random) / 2) * 2; }

std::vector<double> series(const Noise& noise, std::size_t size, std::mt19937_64& random) {
  std::vector<double> values(size);
  for (double& value : values) value = noise.draw(random);
  return values;
}

class FalseAlarms : public ::testing::TestWithParam<std::tuple<Noise, int>> {};

/// At 1 % significance, 500 series have 5 alarms on average; 14 or more come once in a thousand
/// times.
TEST_P(FalseAlarms, AreAboutOneInAHundredSeries) {
  const auto& [noise, size] = GetParam();
  std::mt19937_64 random(42);
  int alarms = 0;
  for (int i = 0; i < 500; ++i) {
    const std::vector<double> values = series(noise, static_cast<std::size_t>(size), random);
    if (!change_points(values, 0).empty()) ++alarms;
  }
  RecordProperty("alarms_in_500", alarms);
  EXPECT_LE(alarms, 13);
}

INSTANTIATE_TEST_SUITE_P(Normal, FalseAlarms,
                         ::testing::Combine(::testing::Values(Noise{"normal", normal_noise}),
                                            ::testing::Values(4, 6, 11, 12, 30, 100)));
INSTANTIATE_TEST_SUITE_P(Any, FalseAlarms,
                         ::testing::Combine(::testing::Values(Noise{"outliers", with_outliers},
                                                              Noise{"cauchy", cauchy},
                                                              Noise{"quantised", quantised}),
                                            ::testing::Values(12, 30, 100)));

TEST(ChangePoints, FindAStepOfThreePercentInNoiseOfOne) {
  std::mt19937_64 random(7);
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<double> values = series({"", normal_noise}, 40, random);
    for (std::size_t k = 20; k < values.size(); ++k) values[k] *= 1.03;
    const auto places = change_points(values, one_percent);
    if (places.size() == 1 && places[0] >= 18 && places[0] <= 22) ++found;
  }
  EXPECT_GE(found, 95);
}

TEST(ChangePoints, FindAClearStepInAShortSeries) {
  EXPECT_THAT(change_points(std::vector<double>{10.0, 10.1, 9.9, 20.0, 20.1}, one_percent),
              ElementsAre(3));
  EXPECT_THAT(change_points(std::vector<double>{5, 5, 5, 6, 6, 6}, one_percent), ElementsAre(3));
}

TEST(ChangePoints, FindALevelBetweenTwoOthers) {
  std::mt19937_64 random(3);
  std::vector<double> values = series({"", normal_noise}, 60, random);
  for (std::size_t i = 20; i < 40; ++i) values[i] += 30;
  EXPECT_THAT(change_points(values, one_percent), ElementsAre(20, 40));
}

TEST(ChangePoints, LeaveOutWhatIsTooSmallToMatter) {
  const std::vector<double> values = {100,   100,   100,   100,   100,   100,
                                      100.5, 100.5, 100.5, 100.5, 100.5, 100.5};
  EXPECT_THAT(change_points(values, one_percent), IsEmpty());
  EXPECT_THAT(change_points(values, 0.001), ElementsAre(6));
}

TEST(ChangePoints, OfVeryShortOrEvenSeriesAreNone) {
  EXPECT_THAT(change_points(std::vector<double>{}, 0), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>{1, 2, 3}, 0), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>(50, 7.0), 0), IsEmpty());
}

TEST(ChangePoints, AreTheSameEveryTime) {
  std::mt19937_64 random(5);
  const std::vector<double> values = series({"", cauchy}, 80, random);
  EXPECT_EQ(change_points(values, 0), change_points(values, 0));
}

TEST(ValueChanges, AreEveryOtherValue) {
  EXPECT_THAT(value_changes(std::vector<double>{4, 4, 2, 2, 4}), ElementsAre(2, 4));
  EXPECT_THAT(value_changes(std::vector<double>{}), IsEmpty());
}

}  // namespace
}  // namespace warpmeter::reports
