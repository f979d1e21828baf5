// SPDX-License-Identifier: MIT
// Arguments as people write them: what each form becomes, and what is said about one that is wrong.
#include "collector/model/input/arguments.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace warpmeter::model {
namespace {

using testing::HasSubstr;

std::uint64_t number(const std::vector<std::byte>& bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value;
}

struct Scalar {
  const char* text;
  std::size_t bytes;
  std::uint64_t bits;
};

TEST(Arguments, AreNumbersOfEveryType) {
  const Scalar table[] = {
      {"i8=-1", 1, 0xff},
      {"u8=255", 1, 0xff},
      {"i16=-32768", 2, 0x8000},
      {"u16=0xffff", 2, 0xffff},
      {"n:i32=1024", 4, 1024},
      {"int=-5", 4, 0xfffffffb},
      {"i32=0xffffffff", 4, 0xffffffff},
      {"u32=4294967295", 4, 0xffffffff},
      {"i64=-9223372036854775808", 8, 0x8000000000000000},
      {"u64=18446744073709551615", 8, 0xffffffffffffffff},
      {"f16=1", 2, 0x3c00},
      {"f16=65504", 2, 0x7bff},
      {"f16=65519", 2, 0x7bff},              // rounds to the greatest
      {"f16=5.9604644775390625e-08", 2, 1},  // the least subnormal number
      {"f16=2049", 2, 0x6800},               // a tie goes to the even one
      {"f16=-inf", 2, 0xfc00},
      {"bf16=1", 2, 0x3f80},
      {"bf16=3.140625", 2, 0x4049},
      {"f32=1.5", 4, std::bit_cast<std::uint32_t>(1.5f)},
      {"alpha:f32=2.5f", 4, std::bit_cast<std::uint32_t>(2.5f)},
      {"f64=-1e300", 8, std::bit_cast<std::uint64_t>(-1e300)},
      {"bool=true", 1, 1},
      {"null", 8, 0},
      {"p:null", 8, 0},
      {"p:bytes=0x0102ff", 3, 0xff0201},
  };
  for (const Scalar& row : table) {
    const Argument argument = parse_argument(row.text);
    EXPECT_EQ(argument.kind, Argument::Kind::scalar) << row.text;
    ASSERT_EQ(argument.bytes.size(), row.bytes) << row.text;
    EXPECT_EQ(number(argument.bytes), row.bits) << row.text;
  }
}

TEST(Arguments, AreBuffersThatStartInManyWays) {
  const auto words = [](const char* text) {
    const std::vector<std::byte> bytes = contents_of(parse_argument(text), 1 << 20);
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  };
  EXPECT_EQ(words("in:f32[4]=iota"), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(words("f32[2]=zeros"), (std::vector<float>{0, 0}));
  EXPECT_EQ(words("f32[2]=-2.5"), (std::vector<float>{-2.5, -2.5}));
  EXPECT_EQ(words("f32[100]=random:7"), words("f32[100]=random:7"));
  EXPECT_NE(words("f32[100]=random:7"), words("f32[100]=random:8"));
  for (const float value : words("f32[1000]=random")) EXPECT_TRUE(value >= 0 && value < 1);
  EXPECT_EQ(words("f32[3]=1,-2,0.5"), (std::vector<float>{1, -2, 0.5}));
  EXPECT_EQ(words("f32[]=1,2"), (std::vector<float>{1, 2}));
  EXPECT_FALSE(parse_argument("out:f32[8]").is_set());
  EXPECT_TRUE(parse_argument("out:f32[8]=zeros").is_set());
  EXPECT_EQ(parse_argument("a:u8[]=dir/x.npy").fill.file, "dir/x.npy");
  EXPECT_EQ(parse_argument("@in").name, "in");
}

template <class T>
std::vector<T> elements(const std::string& text) {
  const std::vector<std::byte> bytes = contents_of(parse_argument(text), 1 << 24);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
void expect_range(const std::string& text, T low, T high) {
  const std::vector<T> values = elements<T>(text);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), low) << text;
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), high) << text;
}

TEST(Arguments, ThatAreRandomTakeTheWholeRangeOfTheirType) {
  expect_range<std::uint8_t>("u8[10000]=random", 0, 255);
  expect_range<std::int8_t>("i8[10000]=random:3", -128, 127);
  expect_range<std::uint8_t>("bool[1000]=random", 0, 1);
  for (const char* type : {"i16", "u16", "i32", "u32"}) {
    std::uint32_t ones = 0, zeros = 0;
    for (const std::uint32_t value :
         elements<std::uint32_t>(fmt::format("{}[1000]=random", type))) {
      ones |= value;
      zeros |= ~value;
    }
    EXPECT_EQ(ones & zeros, ~0U) << type;
  }
  std::uint64_t ones = 0, zeros = 0;
  for (const std::uint64_t value : elements<std::uint64_t>("u64[1000]=random")) {
    ones |= value;
    zeros |= ~value;
  }
  EXPECT_EQ(ones & zeros, ~std::uint64_t{0});
}

TEST(Arguments, CountAndSayNumbersInExpressions) {
  EXPECT_EQ(parse_argument("f32[1<<4]").count, 16U);
  EXPECT_EQ(parse_argument("m:f32[n*ceil(n/3)]", {{"n", 7}}).count, 21U);
  EXPECT_EQ(elements<std::int32_t>("i32[3]=4"), (std::vector<std::int32_t>{4, 4, 4}));
  EXPECT_EQ(parse_argument("i32=n-8", {{"n", 7}}).bytes, encode(Element::i32, "-1"));
  EXPECT_EQ(parse_argument("f32=n/2", {{"n", 7}}).bytes, encode(Element::f32, "3.5"));
}

TEST(Arguments, OfVectorTypesAreSoManyElements) {
  EXPECT_EQ(parse_argument("in:float4[3]=iota").count, 12U);
  EXPECT_EQ(parse_argument("half2[5]").element, Element::f16);
  EXPECT_EQ(parse_argument("int2=1,-1").bytes.size(), 8U);
  EXPECT_THROW(parse_argument("int2=1"), Error);
  EXPECT_THROW(parse_argument("bool2[4]"), Error);
}

TEST(Arguments, ThatAreIntegersAreWholeWhateverTheirType) {
  expect_range<float>("f32[10000]=integers:-8..8:1", -8, 8);
  expect_range<double>("f64[10000]=integers:0..3", 0, 3);
  for (const float value : elements<float>("f32[1000]=integers:-8..8:1")) {
    EXPECT_EQ(value, std::floor(value));
  }
  EXPECT_THROW(parse_argument("f32[4]=integers:0.5..2"), Error);
  EXPECT_THROW(parse_argument("f32[4]=integers:7"), Error);
}

TEST(Arguments, ThatAreSmallAreTheSameInEverySignedType) {
  expect_range<float>("f32[1000]=small:1", -8, 8);
  const std::vector<double> doubles = elements<double>("f64[50]=small:1");
  const std::vector<std::int8_t> bytes = elements<std::int8_t>("i8[50]=small:1");
  EXPECT_TRUE(std::equal(doubles.begin(), doubles.end(), bytes.begin(), bytes.end()));
  EXPECT_EQ(elements<float>("f32[50]=small"), elements<float>("f32[50]=small:0"));
  EXPECT_NE(elements<float>("f32[50]=small:1"), elements<float>("f32[50]=small:2"));
  EXPECT_THROW(parse_argument("u32[4]=small"), Error);
  EXPECT_THROW(parse_argument("f32[4]=small:4294967296"), Error);
  EXPECT_THROW(parse_argument("f32[4]=small:one"), Error);
}

TEST(Arguments, ThatAreRandomStayInTheirRange) {
  expect_range<std::uint8_t>("u8[10000]=random:0..99", 0, 99);
  expect_range<std::int32_t>("i32[10000]=random:-3..3:7", -3, 3);
  expect_range<std::int32_t>("i32[100]=random:5..5", 5, 5);
  expect_range<std::int8_t>("i8[10000]=random:-128..127", -128, 127);
  expect_range<std::uint64_t>("u64[10]=random:18446744073709551615..18446744073709551615",
                              UINT64_MAX, UINT64_MAX);
  for (const float value : elements<float>("f32[10000]=random:-2.5..-0.5")) {
    EXPECT_TRUE(value >= -2.5F && value <= -0.5F) << value;
  }
  for (const double value : elements<double>("f64[1000]=random:-1e308..1e308:9")) {
    EXPECT_TRUE(value >= -1e308 && value <= 1e308) << value;
  }
  for (const std::uint16_t half : elements<std::uint16_t>("f16[1000]=random:1..2")) {
    EXPECT_TRUE(half >= 0x3c00 && half <= 0x4000) << half;
  }
  EXPECT_EQ(elements<float>("f32[100]=random:0..1:5"), elements<float>("f32[100]=random:5"));
  EXPECT_EQ(elements<std::uint64_t>("u64[9]=random:0..18446744073709551615"),
            elements<std::uint64_t>("u64[9]=random"));
}

// The values are recorded: they are the same on every machine and in every version.
TEST(Arguments, ThatAreRandomAreTheSameEverywhere) {
  EXPECT_EQ(elements<std::uint32_t>("u32[4]=random:42"),
            (std::vector<std::uint32_t>{1695576580, 2583233866, 2257628742, 2319239696}));
  EXPECT_EQ(elements<std::uint64_t>("u64[2]=random"),
            (std::vector<std::uint64_t>{12035550249420947055U, 3069472533636442495U}));
  EXPECT_EQ(elements<std::int32_t>("i32[6]=random:0..99"),
            (std::vector<std::int32_t>{55, 95, 40, 10, 98, 39}));
  EXPECT_EQ(elements<float>("f32[3]=random:42"),
            (std::vector<float>{0x1.5f87e8p-2F, 0x1.f49f28p-1F, 0x1.c94e54p-2F}));
  EXPECT_EQ(elements<float>("f32[3]=random:-1..1:42"),
            (std::vector<float>{-0x1.40f03p-2F, 0x1.e93e5p-1F, -0x1.b58d6p-4F}));
}

TEST(Arguments, ThatAreWrongAreRefusedWithWhatIsRight) {
  const std::pair<const char*, const char*> table[] = {
      {"", "has the type ''"},
      {"f31=1", "'f31', which is none of i8"},
      {"i32", "has no value"},
      {"i32=", "which is no i32"},
      {"i32=1.5", "which is no i32"},
      {"u8=256", "which is no u8"},
      {"u8=-1", "which is no u8"},
      {"i32=99999999999999999999999", "which is no i32"},
      {"f32=abc", "which is no f32"},
      {"f32=1e400", "'1e400', which is no f32: the greatest is 3.4028235e+38; 'inf' is infinity"},
      {"f32=-1e39", "'-1e39', which is no f32: the greatest is 3.4028235e+38"},
      {"f64=1e309", "'1e309', which is no f64: the greatest is 1.7976931348623157e+308"},
      {"f16=65520", "'65520', which is no f16: the greatest is 65504"},
      {"f32=1e30*1e30", "'1e30*1e30', which is no f32: it gives more than that can hold"},
      {"f32[4]=1,2,1e400,4", "'1e400', which is no f32: the greatest is 3.4028235e+38"},
      {"f32[", "no ']'"},
      {"f32[]", "no count and no file"},
      {"f32[0]", "no whole number above 0"},
      {"f32[-1]", "no whole number above 0"},
      {"f32[1e20]", "no whole number above 0"},
      {"f32[99999999999999999999]", "larger than any memory"},
      {"f32[4]=1,2", "lists 2 values for 4 elements"},
      {"f32[4]=1,,2,3", "starts with '', which is no f32"},
      {"u8[4]=random:5..2", "whose end is below its beginning"},
      {"u8[4]=random:0..256", "which is not LO..HI of u8"},
      {"f32[4]=random:0..inf", "a range without an end"},
      {"f32[4]=random:0..", "which is not LO..HI of f32"},
      {"f32[4]=random:0..1:", "the seed ''"},
      {"f32[4]=random:1.5", "random:LO..HI:SEED"},
      {"f32[4]=fibonacci", "'fibonacci', which is no f32"},
      {"f32[4]=random:x", "seed"},
      {"2x:f32=1", "'2x', which no variable"},
      {"@", "names no buffer"},
      {"null=3", "gives null a value"},
      {"bytes=0x123", "hexadecimal"},
  };
  for (const auto& [text, words] : table) {
    try {
      parse_argument(text);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(words)) << text;
    }
  }
}

TEST(Arguments, ThatAreTooLargeAreRefusedBeforeTheyAreMade) {
  try {
    contents_of(parse_argument("huge:f64[1152921504606846976]"), 1 << 20);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("does not fit into this machine's memory"));
  }
}

std::string misfit(const std::vector<std::string>& texts) {
  Program program;
  program.parameters = {{0, 8, "u64"}, {8, 4, "u32"}, {12, 4, "f32"}, {16, 24, "b8[24]"}};
  std::vector<Argument> arguments;
  for (const std::string& text : texts) arguments.push_back(parse_argument(text));
  try {
    check_signature(program.parameters, "saxpy", arguments);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Arguments, AreHeldToTheSignature) {
  const std::string bytes = "bytes=" + std::string(48, '0');
  EXPECT_EQ(misfit({"f32[4]", "u32=1", "f32=1", bytes}), "");
  EXPECT_EQ(misfit({"null", "i32=1", "f32=1", bytes}), "");
  EXPECT_THAT(misfit({"f32[4]", "i64=1", "f32=1", bytes}),
              HasSubstr("parameter 2 of saxpy(u64, u32, f32, b8[24]) is u32, and 'i64=1' does not "
                        "fit: the parameter has 4 bytes, not 8"));
  EXPECT_THAT(misfit({"f32[4]", "f32=1", "f32=1", bytes}), HasSubstr("is a whole number"));
  EXPECT_THAT(misfit({"f32[4]", "u32=1", "u32=1", bytes}), HasSubstr("is a floating-point number"));
  EXPECT_THAT(misfit({"f32[4]", "f32[4]", "f32=1", bytes}), HasSubstr("is no pointer"));
  EXPECT_THAT(misfit({"f32[4]", "u32=1"}), HasSubstr("parameter 3 (f32) has none"));
  EXPECT_THAT(misfit({"f32[4]", "u32=1", "f32=1", bytes, "i32=9"}),
              HasSubstr("'i32=9' is one too many"));
}

}  // namespace
}  // namespace warpmeter::model
