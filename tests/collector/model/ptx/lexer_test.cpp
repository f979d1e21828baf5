// SPDX-License-Identifier: MIT
#include "collector/model/ptx/parse/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

namespace warpmeter::model::ptx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> result;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next()) {
    result.emplace_back(token.text);
  }
  return result;
}

std::string error(std::string_view text) {
  try {
    texts(text);
  } catch (const SyntaxError& problem) {
    return std::to_string(problem.diagnostic.line) + ":" +
           std::to_string(problem.diagnostic.column) + ": " + problem.diagnostic.message;
  }
  return "fine";
}

Number number(std::string_view text) { return parse_number(Lexer(text).next()); }

std::string number_error(std::string_view text) {
  try {
    number(text);
  } catch (const SyntaxError& problem) {
    return problem.diagnostic.message;
  }
  return "fine";
}

TEST(PtxLexer, KeepsDottedNamesTogetherAndDirectivesApart) {
  EXPECT_THAT(
      texts("ld.shared::cta.v4.f32 %r1,%tid.x;.reg.b32 x;"),
      ElementsAre("ld.shared::cta.v4.f32", "%r1", ",", "%tid.x", ";", ".reg", ".b32", "x", ";"));
}

TEST(PtxLexer, TakesALabelsColonForItself) {
  EXPECT_THAT(texts("L1:L2: a::b"), ElementsAre("L1", ":", "L2", ":", "a::b"));
}

TEST(PtxLexer, SeesNeitherCommentsNorCarriageReturns) {
  EXPECT_THAT(texts("a // b\r\n/* c\n**/ d/**/e"), ElementsAre("a", "d", "e"));
}

TEST(PtxLexer, CountsLinesAndColumnsFromOne) {
  Lexer lexer("a\n/*\n*/  b");
  EXPECT_EQ(lexer.next().column, 1);
  const Token token = lexer.next();
  EXPECT_EQ(token.line, 3);
  EXPECT_EQ(token.column, 5);
}

TEST(PtxLexer, SaysWhatHasNoEndAndWhereItBegan) {
  EXPECT_EQ(error("a\n  /* b\nc"), "2:3: this comment has no end; expected '*/'");
  EXPECT_EQ(error("x \"abc\n\""), "1:3: this string has no end on its line; expected '\"'");
}

TEST(PtxLexer, NamesTheByteThatNothingStartsWith) {
  EXPECT_EQ(error("a #"), "1:3: unexpected character '#'");
  EXPECT_EQ(error(std::string_view("a \0b", 4)), "1:3: unexpected byte 0x00");
  EXPECT_EQ(error("\xff"), "1:1: unexpected byte 0xff");
}

TEST(PtxLexer, SkipsASectionWithBracesInStringsAndComments) {
  Lexer lexer("{ } \"}\" // }\n /* } */ } after");
  ASSERT_TRUE(lexer.skip_braces());
  EXPECT_EQ(lexer.next().text, "after");
  EXPECT_FALSE(Lexer("{ }").skip_braces());
}

TEST(PtxLexer, ReadsNumbersInEveryBase) {
  EXPECT_EQ(number("42").bits, 42u);
  EXPECT_EQ(number("0x2A").bits, 42u);
  EXPECT_EQ(number("0b101010").bits, 42u);
  EXPECT_EQ(number("052").bits, 42u);
  EXPECT_EQ(number("0").bits, 0u);
  EXPECT_FALSE(number("7").is_unsigned);
  EXPECT_TRUE(number("0xFFFFFFFFU").is_unsigned);
  EXPECT_EQ(number("0xFFFFFFFFFFFFFFFF").bits, ~0ull);
  EXPECT_EQ(number("18446744073709551615U").bits, ~0ull);
}

TEST(PtxLexer, ReadsFloatsByBitsAndByDigits) {
  EXPECT_EQ(number("0f3F800000").bits, 0x3F800000u);
  EXPECT_TRUE(number("0F3f800000").is_f32);
  EXPECT_EQ(std::bit_cast<double>(number("0d3FF0000000000000").bits), 1.0);
  EXPECT_FALSE(number("0d3FF0000000000000").is_f32);
  EXPECT_EQ(std::bit_cast<double>(number("1.5e-3").bits), 1.5e-3);
  EXPECT_EQ(std::bit_cast<double>(number("2E2").bits), 200.0);
}

TEST(PtxLexer, NegatesIntegersAndFloats) {
  Number integer = number("1"), single = number("0f3F800000"), wide = number("2.0");
  integer.negate();
  single.negate();
  wide.negate();
  EXPECT_EQ(integer.bits, ~0ull);
  EXPECT_EQ(single.bits, 0xBF800000u);
  EXPECT_EQ(std::bit_cast<double>(wide.bits), -2.0);
}

TEST(PtxLexer, RefusesNumbersThatAreNone) {
  EXPECT_THAT(number_error("18446744073709551616"), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(number_error("09"), HasSubstr("is malformed"));
  EXPECT_THAT(number_error("12abc"), HasSubstr("is malformed"));
  EXPECT_THAT(number_error("0x"), HasSubstr("is malformed"));
  EXPECT_THAT(number_error("0f3F8"), HasSubstr("must have 8 hexadecimal digits"));
  EXPECT_THAT(number_error("0f3F80000G"), HasSubstr("is malformed"));
  EXPECT_THAT(number_error("0d3F800000"), HasSubstr("must have 16 hexadecimal digits"));
  EXPECT_THAT(number_error("1e999"), HasSubstr("too large or too small"));
  EXPECT_THAT(number_error("1.2.3"), HasSubstr("is malformed"));
}

}  // namespace
}  // namespace warpmeter::model::ptx
