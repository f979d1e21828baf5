// SPDX-License-Identifier: MIT
// Equal numbers of lanes, by whichever instructions this processor has, compared with one lane
// after the other.
#include "collector/model/counts/rules/equal_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace warpmeter::model::equal_lanes {
namespace {

struct Plain {
  std::uint32_t firsts = 0;
  unsigned most = 0;
};

/// `period`: 0 for all of the number.
Plain plain(const std::array<std::uint64_t, warp_lanes>& addresses, int shift, unsigned period,
            std::uint32_t mask) {
  Plain result;
  std::map<std::uint64_t, unsigned> times;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t number = addresses[lane] >> shift;
    const unsigned count = ++times[period == 0 ? number : number % period];
    if (count == 1) result.firsts |= 1u << lane;
    result.most = std::max(result.most, count);
  });
  return result;
}

TEST(EqualLanes, AreThoseThatAComparisonOneByOneFinds) {
  std::mt19937_64 random(20261130);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t base = (random() >> 20) & ~std::uint64_t{127};
    const std::uint64_t range = std::uint64_t{1} << (random() % 30);
    std::array<std::uint64_t, warp_lanes> addresses{};
    for (std::uint64_t& address : addresses) address = base + random() % range;
    if (i % 3 == 0) std::sort(addresses.begin(), addresses.end());
    std::uint32_t mask = i % 2 == 0 ? ~0u : static_cast<std::uint32_t>(random());
    if (i % 5 == 0) mask &= 0xffff;
    if (mask == 0) continue;
    const LaneOffsets offsets = offsets_of(addresses, mask);
    ASSERT_TRUE(offsets.is_near);
    const int shift = static_cast<int>(random() % 8);
    const Plain whole = plain(addresses, shift, 0, mask);
    ASSERT_EQ(first_of_each(offsets, shift, mask), whole.firsts) << "round " << i;
    ASSERT_EQ(most_equal(offsets, shift, mask), whole.most) << "round " << i;
    // Places count from a multiple of 128 bytes.
    const unsigned period = shift >= 7 ? 1 : std::min(32u, 128u >> shift);
    ASSERT_EQ(most_equal_modulo(offsets, shift, period, mask),
              plain(addresses, shift, period, mask).most)
        << "round " << i;
  }
}

}  // namespace
}  // namespace warpmeter::model::equal_lanes
