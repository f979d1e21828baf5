// SPDX-License-Identifier: MIT
#include "base/distribution.h"

#include <gtest/gtest.h>

#include <vector>

namespace warpmeter {
namespace {

TEST(Distribution, KeepsEqualValuesOnce) {
  Distribution values;
  for (const double value : {3.0, 1.0, 3.0, 2.0, 1.0, 3.0}) values.add(value);
  values.sort();
  EXPECT_EQ(values.distinct(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(values.size(), 6U);
  EXPECT_EQ(values.sum(), 13);
  EXPECT_EQ(values.front(), 1);
  EXPECT_EQ(values.back(), 3);
  EXPECT_EQ(values.median(), 2.5) << "between 2 and 3, the third and the fourth of six";
  values.add(3);
  values.sort();
  EXPECT_EQ(values.median(), 3);
}

TEST(Distribution, AddsAnother) {
  Distribution one, other;
  one.add(1, 2);
  other.add(5);
  other.add(1);
  one.add(other);
  one.sort();
  EXPECT_EQ(one.distinct(), (std::vector<double>{1, 5}));
  EXPECT_EQ(one.size(), 4U);
  Distribution same;
  same.add(1, 3);
  same.add(5);
  same.sort();
  EXPECT_EQ(one, same);
  same.add(5);
  EXPECT_FALSE(one == same);
}

/// Values that come by turns fill the memory of few.
TEST(Distribution, StaysSmallWhereFewValuesTakeTurns) {
  Distribution values;
  for (int i = 0; i < 100'000; ++i) {
    values.add(i % 3);
    ASSERT_LE(values.distinct().size(), 4096U);
  }
  values.sort();
  EXPECT_EQ(values.distinct(), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(values.size(), 100'000U);
  EXPECT_EQ(values.median(), 1);
}

}  // namespace
}  // namespace warpmeter
