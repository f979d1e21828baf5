// SPDX-License-Identifier: MIT
#include "base/element.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace warpmeter {
namespace {

std::string back(Element element, std::string_view text) {
  return text_at(element, encode(element, text).value().data());
}

TEST(ElementText, ComesBackAsItWasWritten) {
  EXPECT_EQ(back(Element::i8, "-128"), "-128");
  EXPECT_EQ(back(Element::u16, "65535"), "65535");
  EXPECT_EQ(back(Element::i64, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(back(Element::u64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(back(Element::f32, "0.1"), "0.1");
  EXPECT_EQ(back(Element::f64, "0.1"), "0.1");
  EXPECT_EQ(back(Element::boolean, "true"), "true");
}

TEST(ElementText, OfAWholeNumberHasAllItsDigits) {
  EXPECT_EQ(back(Element::f32, "4294967296"), "4294967296");
  EXPECT_EQ(back(Element::f32, "-16777216"), "-16777216");
  EXPECT_EQ(back(Element::f32, "1e12"), "999999995904") << "the float nearest to 10^12";
  EXPECT_EQ(back(Element::f64, "9007199254740992"), "9007199254740992");
  EXPECT_EQ(back(Element::u32, "4294967295"), "4294967295");
  EXPECT_EQ(back(Element::f64, "-0.0"), "-0");
  EXPECT_EQ(back(Element::f32, "1e20"), "1e+20");
}

TEST(ElementText, HasTheFewestDigitsOfItsOwnType) {
  EXPECT_EQ(back(Element::f32, "0.3"), "0.3");
  EXPECT_EQ(back(Element::f16, "0.1"), "0.1");
  EXPECT_EQ(back(Element::bf16, "0.3"), "0.3");
  EXPECT_EQ(back(Element::bf16, "3.14159"), "3.14");
  EXPECT_EQ(back(Element::f64, "0.3333333333333333"), "0.3333333333333333");
}

TEST(ElementText, BeyondTheTypeIsNoValueOfIt) {
  for (const auto& [element, text] : {std::pair{Element::f32, "1e400"},
                                      {Element::f32, "-1e400"},
                                      {Element::f32, "3.5e38"},
                                      {Element::f64, "1e309"},
                                      {Element::f16, "65520"},
                                      {Element::bf16, "1e39"}}) {
    EXPECT_EQ(encode(element, text), std::nullopt) << text;
    EXPECT_TRUE(exceeded_greatest(element, text).has_value()) << text;
  }
  EXPECT_EQ(back(Element::f32, "-inf"), "-inf");
  EXPECT_EQ(back(Element::f16, "65519"), "65504");
  EXPECT_EQ(exceeded_greatest(Element::f32, "inf"), std::nullopt);
  EXPECT_EQ(exceeded_greatest(Element::f32, "1e38"), std::nullopt);
  EXPECT_EQ(exceeded_greatest(Element::f32, "one"), std::nullopt);
  EXPECT_EQ(exceeded_greatest(Element::i32, "1e400"), std::nullopt);
}

TEST(ElementText, OfNarrowFloatsIsTheirValue) {
  EXPECT_EQ(back(Element::f16, "65504"), "65504");
  EXPECT_EQ(back(Element::bf16, "-2.5"), "-2.5");
  EXPECT_EQ(back(Element::f16, "inf"), "inf");
}

/// Every pattern of 16 bits: what is read and written again is the same.
TEST(ElementNumber, OfNarrowFloatsIsReadAsItIsWritten) {
  for (const Element element : {Element::f16, Element::bf16}) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const std::array<std::byte, 2> from = {static_cast<std::byte>(bits & 0xff),
                                             static_cast<std::byte>(bits >> 8)};
      const double value = number_at(element, from.data());
      if (std::isnan(value)) continue;
      std::array<std::byte, 2> again{};
      encode(element, value, again.data());
      ASSERT_EQ(again, from) << bits;
    }
  }
}

}  // namespace
}  // namespace warpmeter
