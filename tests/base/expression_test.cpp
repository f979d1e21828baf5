// SPDX-License-Identifier: MIT
#include "base/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpmeter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Symbols symbols = {{"n", 1000}, {"TILE", 16}, {"m", 7}};

long double value(std::string_view text) { return evaluate(text, symbols); }

TEST(Expression, HasThePrecedenceOfC) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("2 - 3 - 4"), -5);
  EXPECT_EQ(value("1 << 2 + 3"), 32);
  EXPECT_EQ(value("1 | 2 ^ 3 & 6"), 1);
  EXPECT_EQ(value("7 & 3 == 3"), 1);
  EXPECT_EQ(value("-2 * -3"), 6);
  EXPECT_EQ(value("!0 + ~0"), 0);
  EXPECT_EQ(value("n > 5 && m < 8 || 0"), 1);
  EXPECT_EQ(value("n % 32 == 8 ? n / 8 : 0"), 125);
  EXPECT_EQ(value("1 ? 2 ? 3 : 4 : 5"), 3);
}

TEST(Expression, DividesExactlyAndRoundsByName) {
  EXPECT_EQ(value("7 / 2"), 3.5L);
  EXPECT_EQ(value("ceil(n / TILE)"), 63);
  EXPECT_EQ(value("floor(n/TILE)"), 62);
  EXPECT_EQ(value("round(2.5)"), 3);
  EXPECT_EQ(value("ceil(9007199254740993 / 2)"), 4503599627370497LL);
  EXPECT_EQ(value("min(n, 3, m) + max(1, 2)"), 5);
  EXPECT_EQ(value("log2(1 << 20)"), 20);
  EXPECT_EQ(value("sqrt(49) + abs(-1)"), 8);
  EXPECT_EQ(value("0x10 + 1e3 + .5"), 1016.5L);
}

TEST(Expression, KnowsWholeNumbersBelowTwoToTheSixtyThree) {
  EXPECT_EQ(evaluate_whole("(1 << 62) - 1 + (1 << 62)", {}, 0, INT64_MAX), INT64_MAX);
  EXPECT_EQ(evaluate_whole("5 >> 1", {}, 0, 10), 2);
}

TEST(Expression, LeavesOutWhatItDoesNotChoose) {
  EXPECT_EQ(value("0 ? 1 / 0 : 4"), 4);
  EXPECT_EQ(value("0 && 1 / 0"), 0);
  EXPECT_EQ(value("1 || unknown"), 1);
}

struct Mistake {
  const char* text;
  std::size_t column;
  const char* what;
};

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreSaidWithTheirPlace) {
  try {
    evaluate_whole(GetParam().text, symbols, 1, 1000);
    ADD_FAILURE() << GetParam().text;
  } catch (const ExpressionFault& fault) {
    EXPECT_EQ(fault.column, GetParam().column) << GetParam().text;
    EXPECT_THAT(fault.what(), HasSubstr(GetParam().what));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Expression, Mistakes,
    testing::Values(Mistake{"", 0, "is empty"}, Mistake{"n +", 3, "ends where a number"},
                    Mistake{"n / (m - 7)", 2, "divides by zero"}, Mistake{"n % 0", 2, "by zero"},
                    Mistake{"2 * TIEL", 4, "did you mean TILE"},
                    Mistake{"cell(2)", 0, "none of ceil"}, Mistake{"(1 + 2", 6, "lacks a ')'"},
                    Mistake{"1 2", 2, "belongs to no expression"},
                    Mistake{"n / 3", 0, "no whole number"},
                    Mistake{"n * 2", 0, "not from 1 to 1000"},
                    Mistake{"1 << 70", 2, "shifts by 70"}, Mistake{"1.5 & 1", 4, "no whole number"},
                    Mistake{"12abc", 0, "is no number"}, Mistake{"log2(0)", 0, "takes log2 of 0"},
                    Mistake{"ceil(1, 2)", 0, "2 arguments, not one"}));

TEST(Expression, IsNotNestedWithoutEnd) {
  EXPECT_THROW(value(std::string(100'000, '(')), ExpressionFault);
  EXPECT_THROW(value(std::string(100'000, '-') + "1"), ExpressionFault);
}

TEST(Expression, SaysItsNames) {
  EXPECT_THAT(names_in("ceil(n / TILE) + (0 ? a : b)"), ElementsAre("TILE", "a", "b", "n"));
}

}  // namespace
}  // namespace warpmeter
