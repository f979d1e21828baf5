// Arguments as people write them: what each form becomes, and what is said about one that is wrong.
#include "collector/model/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "schema/error.h"

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
      {"f16=65520", 2, 0x7c00},              // rounds to infinity
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
  EXPECT_FALSE(parse_argument("out:f32[8]").is_set());
  EXPECT_TRUE(parse_argument("out:f32[8]=zeros").is_set());
  EXPECT_EQ(parse_argument("a:u8[]=dir/x.npy").file, "dir/x.npy");
  EXPECT_EQ(parse_argument("@in").name, "in");
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
      {"f32[", "no ']'"},
      {"f32[]", "no count and no file"},
      {"f32[0]", "no whole number above 0"},
      {"f32[-1]", "no whole number above 0"},
      {"f32[99999999999999999999]", "no whole number above 0"},
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
    contents_of(parse_argument("huge:f64[18446744073709551615]"), 1 << 20);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not fit into this machine's memory"));
  }
}

std::string misfit(const std::vector<std::string>& texts) {
  Program program;
  program.parameters = {{0, 8, "u64"}, {8, 4, "u32"}, {12, 4, "f32"}, {16, 24, "b8[24]"}};
  std::vector<Argument> arguments;
  for (const std::string& text : texts) arguments.push_back(parse_argument(text));
  try {
    check_signature(program, "saxpy", arguments);
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
