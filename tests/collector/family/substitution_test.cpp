// SPDX-License-Identifier: MIT
#include "collector/family/substitution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpmeter::family {
namespace {

TEST(Substitution, TellsOperationsFromNumbersAndTypes) {
  for (const char* value :
       {"3-2", "-1", "A+1", "1 << 4", "A ? 1 : 2", "!A", "a::b + 1", "sizeof(int) * 2", "2*(3)",
        "(1)+(2)", "A < B", "A >= 2", "a * b", "1e-3 - 1", "f(1) + 1", "'a' + 1"}) {
    EXPECT_TRUE(is_operation(value)) << value;
  }
  for (const char* value : {"16",
                            "0x1f",
                            "1e-3",
                            "1.5f",
                            ".5",
                            "(3-2)",
                            "f(3-2)",
                            "A",
                            "a::b",
                            "float",
                            "unsigned int",
                            "float*",
                            "const float * const",
                            "T&",
                            "T &&",
                            "pair<int, 4>",
                            "pair<int, (4-2)>*",
                            "std::pair<a<1>, b<2>>",
                            "float(*)(int)",
                            "int[3]",
                            "+",
                            "+=",
                            "==",
                            "x = y + 1",
                            "x++",
                            "return x",
                            "1, 3-2",
                            "\"a-b\"",
                            "",
                            "(",
                            "-"}) {
    EXPECT_FALSE(is_operation(value)) << value;
  }
}

TEST(Substitution, PutsOperationsInParenthesesInsideOfOthers) {
  const auto with = [](std::string_view kernel, const std::string& value) {
    return with_values(kernel, {{"K", value}});
  };
  EXPECT_EQ(with("neg<K*2>", "3-2"), "neg<(3-2)*2>");
  EXPECT_EQ(with("neg<2 - K>", "-1"), "neg<2 - (-1)>");
  EXPECT_EQ(with("neg<K*2>", "3"), "neg<3*2>");
  EXPECT_EQ(with("k<v<K>, 1>", "3-2"), "k<v<3-2>, 1>");
  EXPECT_EQ(with("k<1, K , 2>", "3-2"), "k<1, 3-2 , 2>");
  // A > would end the arguments.
  EXPECT_EQ(with("k<K>", "8>>1"), "k<(8>>1)>");
  // Types stay types.
  EXPECT_EQ(with("k<K>", "unsigned int"), "k<unsigned int>");
  EXPECT_EQ(with("k<K*, const K>", "unsigned int"), "k<unsigned int*, const unsigned int>");
  EXPECT_EQ(with("k<K>", "pair<int, 4>"), "k<pair<int, 4>>");
  // Only template arguments name parameters.
  EXPECT_EQ(with("K<1>", "3-2"), "K<1>");
  EXPECT_EQ(with("K", "3-2"), "K");
}

}  // namespace
}  // namespace warpmeter::family
