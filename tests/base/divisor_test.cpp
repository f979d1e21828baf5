// SPDX-License-Identifier: MIT
// Division by multiplication is the division: at all sorts of divisors, around their multiples and
// at the ends of what there is.
#include "base/divisor.h"

#include <gtest/gtest.h>

#include <random>

namespace warpmeter {
namespace {

void expect_division(std::uint32_t of, std::uint32_t by) {
  const Divisor divisor(by);
  ASSERT_EQ(divisor.quotient(of), of / by) << of << " by " << by;
  ASSERT_EQ(divisor.remainder(of), of % by) << of << " by " << by;
  ASSERT_EQ(divisor.multiple(of), of / by * by) << of << " by " << by;
}

TEST(Divisor, DividesEveryNumber) {
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    const auto by = static_cast<std::uint32_t>(random() >> random() % 32) | 1u << random() % 32;
    const auto of = static_cast<std::uint32_t>(random() >> random() % 32);
    const std::uint32_t multiple = of / by * by;
    for (const std::uint32_t one : {of, multiple, multiple - 1, multiple + by - 1, 0u, ~0u, by}) {
      expect_division(one, by);
    }
  }
  for (const std::uint32_t by : {1u, 2u, 3u, ~0u, ~0u - 1, 1u << 31}) {
    for (const std::uint32_t of : {0u, 1u, 2u, ~0u, ~0u - 1, 1u << 31, (1u << 31) - 1}) {
      expect_division(of, by);
    }
  }
}

TEST(Divisor, DividesByOneBeforeItIsGivenANumber) { EXPECT_EQ(Divisor().quotient(~0u), ~0u); }

}  // namespace
}  // namespace warpmeter
