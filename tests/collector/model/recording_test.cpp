// SPDX-License-Identifier: MIT
#include "collector/model/machine/memory/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace warpmeter::model {
namespace {

/// Lanes at a distance of `step` bytes.
void add(SiteRecording& recording, std::uint64_t step, std::uint32_t place,
         std::uint32_t mask = ~0u) {
  std::array<std::uint64_t, warp_lanes> delta{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) delta[lane] = step * lane;
  recording.lie(AddressSpace::shared, mask, delta.data());
  recording.add(place, 1);
}

/// The steps 0 to 499 in an order that the seed chooses, each from two places.
SiteRecording in_some_order(unsigned seed) {
  std::vector<std::uint64_t> steps(500);
  std::iota(steps.begin(), steps.end(), 0);
  std::shuffle(steps.begin(), steps.end(), std::mt19937(seed));
  SiteRecording recording;
  for (const std::uint32_t place : {8u, 4u, 8u}) {
    for (const std::uint64_t step : steps) add(recording, step, place);
  }
  recording.sort();
  return recording;
}

bool are_equal(const SiteRecording& a, const SiteRecording& b) {
  return std::equal(a.patterns().begin(), a.patterns().end(), b.patterns().begin(),
                    b.patterns().end(), [](const auto& one, const auto& other) {
                      return !(one.first < other.first) && !(other.first < one.first) &&
                             one.second == other.second;
                    });
}

TEST(SiteRecordings, AreTheSameInWhateverOrderPatternsCame) {
  const SiteRecording one = in_some_order(1), other = in_some_order(2);
  ASSERT_EQ(one.patterns().size(), 500u);
  EXPECT_EQ(one.patterns()[3].first.delta[2], 6u);
  EXPECT_EQ(one.patterns()[3].second, (SiteRecording::Places{{4, 1}, {8, 2}}));
  EXPECT_TRUE(are_equal(one, other));
}

TEST(SiteRecordings, AddUpToTheSameWhicheverIsAdded) {
  SiteRecording first = in_some_order(1), second;
  add(second, 700, 0);
  add(second, 3, 8);
  add(second, 3, 12, 0xff);
  second.sort();
  SiteRecording other = second;
  other.add(first);
  first.add(second);
  EXPECT_TRUE(are_equal(first, other));
  ASSERT_EQ(first.patterns().size(), 502u);
  // After the sorting it finds its patterns again.
  add(first, 3, 8);
  first.sort();
  const auto& patterns = first.patterns();
  const auto of_three = std::find_if(patterns.begin(), patterns.end(), [](const auto& entry) {
    return entry.first.mask == ~0u && entry.first.delta[1] == 3;
  });
  EXPECT_EQ(of_three->second, (SiteRecording::Places{{4, 1}, {8, 4}}));
}

TEST(SiteRecordings, AreFullAndEmptyBeyondTheirLimit) {
  SiteRecording recording;
  for (std::uint64_t step = 0; step < 1024; ++step) add(recording, step, 0);
  EXPECT_FALSE(recording.is_full());
  add(recording, 1024, 0);
  EXPECT_TRUE(recording.is_full());
  EXPECT_TRUE(recording.patterns().empty());
  add(recording, 1, 0);
  SiteRecording other = in_some_order(1);
  other.add(recording);
  EXPECT_TRUE(other.is_full() && other.patterns().empty());
}

}  // namespace
}  // namespace warpmeter::model
