// SPDX-License-Identifier: MIT
#include "base/members.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace warpmeter::members_test {

// A function of Any that is not defined needs types with linkage.
struct Inner {
  std::optional<double> number;
  std::array<int, 3> triple{1, 2, 3};
};
struct Outer {
  std::string text = "a";
  Inner inner;
  std::optional<Inner> other;
  std::vector<std::string> texts;
  bool flag = true;
};

namespace {

TEST(Members, AreVisitedInTheOrderOfTheirDeclaration) {
  Outer outer;
  with_members(outer, [&](auto& text, auto& inner, auto& other, auto& texts, auto& flag) {
    EXPECT_EQ(static_cast<void*>(&text), &outer.text);
    EXPECT_EQ(static_cast<void*>(&inner), &outer.inner);
    EXPECT_EQ(static_cast<void*>(&other), &outer.other);
    EXPECT_EQ(static_cast<void*>(&texts), &outer.texts);
    EXPECT_EQ(static_cast<void*>(&flag), &outer.flag);
  });
}

TEST(Members, OfAConstantStructAreConstant) {
  const Inner inner{2.5};
  EXPECT_EQ(with_members(inner, [](const auto& number,
                                   const auto& triple) { return *number + triple.back(); }),
            5.5);
}

}  // namespace
}  // namespace warpmeter::members_test
