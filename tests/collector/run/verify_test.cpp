// SPDX-License-Identifier: MIT
#include "collector/run/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace warpmeter::run {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Buffers = std::vector<std::vector<std::byte>>;

template <class T>
std::vector<std::byte> bytes(std::vector<T> values) {
  std::vector<std::byte> result(values.size() * sizeof(T));
  std::memcpy(result.data(), values.data(), result.size());
  return result;
}

kernels::Problem one_buffer(Element type) {
  kernels::Problem problem;
  problem.buffers.push_back({"out", type, {}});
  return problem;
}

std::string difference(Element type, const std::vector<kernels::Expected>& expected,
                       const Buffers& buffers) {
  return verify(one_buffer(type), expected, buffers).difference;
}

TEST(Verify, AllowsFloatsTheirToleranceAndNamesTheLargestError) {
  const kernels::Tolerance tolerance{1e-3, 0.5};
  const std::vector<kernels::Expected> expected = {
      {0, bytes<float>({0.0F, 1000.0F, -2.0F}), tolerance}};
  const Verdict near =
      verify(one_buffer(Element::f32), expected, Buffers{bytes<float>({0.5F, 1001.25F, -2.0F})});
  EXPECT_TRUE(near.is_right()) << near.difference;
  EXPECT_EQ(near.largest_error, "1.25 at out[1]");
  EXPECT_THAT(difference(Element::f32, expected, Buffers{bytes<float>({0.75F, 1000.0F, -2.0F})}),
              HasSubstr("out[0] is 0.75, expected 0 (1 of 3 elements differs)"));
}

TEST(Verify, AllowsWholeNumbersNoTolerance) {
  const std::vector<kernels::Expected> expected = {{0, bytes<std::int64_t>({INT64_MAX}), {1, 1e9}}};
  EXPECT_THAT(difference(Element::i64, expected, Buffers{bytes<std::int64_t>({INT64_MAX - 1})}),
              HasSubstr("out[0] is 9223372036854775806, expected 9223372036854775807"));
}

TEST(Verify, TakesTwoNaNsForDifferentUnlessTheToleranceSaysOtherwise) {
  const auto nan = bytes<float>({std::nanf("")});
  EXPECT_THAT(difference(Element::f32, {{0, nan}}, Buffers{nan}),
              HasSubstr("out[0] is nan, expected nan"));
  EXPECT_EQ(difference(Element::f32, {{0, nan, {0, 0, true}}}, Buffers{nan}), "");
}

/// All ones bits, as what nobody sets begins.
std::vector<std::byte> unset_floats(std::size_t count) {
  return std::vector<std::byte>(count * sizeof(float), std::byte{0xff});
}

/// Floats with the first elements set.
std::vector<std::byte> floats_then_unset(const std::vector<float>& values, std::size_t count) {
  std::vector<std::byte> result = unset_floats(count);
  std::memcpy(result.data(), values.data(), values.size() * sizeof(float));
  return result;
}

std::string difference_from(const std::vector<std::byte>& initial,
                            const std::vector<std::byte>& expected,
                            const std::vector<std::byte>& found,
                            const kernels::Tolerance& tolerance = {}) {
  kernels::Problem problem = one_buffer(Element::f32);
  problem.buffers[0].initial = initial;
  const std::vector<kernels::Expected> all = {{0, expected, tolerance}};
  return verify(problem, all, Buffers{found}).difference;
}

TEST(Verify, SaysWhereNeitherKernelStoresAnElement) {
  const auto start = unset_floats(4), half = floats_then_unset({1, 2}, 4);
  EXPECT_THAT(difference_from(start, half, half),
              AllOf(HasSubstr("out[2] is nan, expected nan (2 of 4 elements differ)"),
                    HasSubstr("neither kernel stores these elements"), HasSubstr("'= zeros'"),
                    HasSubstr("'tolerance: { nan: equal }'")));
}

TEST(Verify, BlamesNoKernelForElementsThatItStoredAsNaN) {
  const auto nans = bytes<float>({1, std::nanf("")});
  EXPECT_THAT(difference_from(unset_floats(2), nans, nans),
              AllOf(HasSubstr("both are NaN"), HasSubstr("'tolerance: { nan: equal }'"),
                    Not(HasSubstr("neither"))));
}

TEST(Verify, NamesAWrongNumberBeforeElementsThatNeitherStores) {
  const std::string text =
      difference_from(unset_floats(4), floats_then_unset({1, 2, std::nanf("")}, 4),
                      floats_then_unset({1, 9, std::nanf("")}, 4));
  EXPECT_THAT(text, HasSubstr("out[1] is 9, expected 2 (1 of 4 elements differs, 2 more are NaN in "
                              "both)"));
}

TEST(Verify, NamesAToleranceThatWouldPassWhereTheErrorIsAsSmallAsRounding) {
  const auto expected = bytes<float>({1000, 3, 0}), found = bytes<float>({1000, 3.000001F, 0});
  EXPECT_THAT(difference_from({}, expected, found),
              HasSubstr("compared bit for bit: if this is rounding, write "
                        "'tolerance: { relative: 1e-6 }'"));
  EXPECT_EQ(difference_from({}, expected, found, {1e-6}), "");
  // An element that should be 0 has no relative error.
  const auto beside = bytes<float>({1000, 3, 1e-6F});
  EXPECT_THAT(difference_from({}, expected, beside), HasSubstr("'tolerance: { absolute: 1e-5 }'"));
  EXPECT_EQ(difference_from({}, expected, beside, {0, 1e-5}), "");
  // An earlier message stays.
  EXPECT_THAT(difference_from({}, expected, found, {0, 1e-9, true}),
              AllOf(HasSubstr("'tolerance: { relative: 1e-6, absolute: 1e-09, nan: equal }'"),
                    Not(HasSubstr("bit for bit"))));
}

TEST(Verify, NamesNoToleranceForAWrongAnswer) {
  const auto expected = bytes<float>({1, 2, 3});
  for (const float wrong : {2.5F, std::nanf(""), std::numeric_limits<float>::infinity(), -2.0F}) {
    EXPECT_THAT(difference_from({}, expected, bytes<float>({1, wrong, 3})),
                Not(HasSubstr("tolerance")));
  }
  const auto infinite = bytes<float>({1, std::numeric_limits<float>::infinity(), 3});
  EXPECT_THAT(difference_from({}, infinite, expected), Not(HasSubstr("tolerance")));
  EXPECT_THAT(difference(Element::i32, {{0, bytes<std::int32_t>({100000})}},
                         Buffers{bytes<std::int32_t>({100001})}),
              Not(HasSubstr("tolerance")));
}

TEST(Verify, AcceptsEqualBuffers) {
  const auto values = bytes<float>({1, 2, 3});
  const std::vector<kernels::Expected> expected = {{0, values}};
  EXPECT_EQ(difference(Element::f32, expected, Buffers{values}), "");
}

TEST(Verify, NamesTheFirstWrongElementAndCountsThem) {
  const std::vector<kernels::Expected> expected = {{0, bytes<std::int32_t>({1, 2, 3, 4})}};
  const std::string text =
      difference(Element::i32, expected, Buffers{bytes<std::int32_t>({1, 9, 3, 8})});
  EXPECT_THAT(text, HasSubstr("out[1] is 9, expected 2"));
  EXPECT_THAT(text, HasSubstr("2 of 4"));
  EXPECT_THAT(text, HasSubstr("the largest error is 7 at out[1]"));
}

TEST(Verify, TakesNotANumberForAWrongAnswer) {
  const std::vector<kernels::Expected> expected = {{0, bytes<double>({1, 2})}};
  EXPECT_THAT(difference(Element::f64, expected, Buffers{bytes<double>({1, std::nan("")})}),
              HasSubstr("out[1] is nan, expected 2"));
}

TEST(Verify, TakesTheTwoZerosForEqual) {
  const std::vector<kernels::Expected> expected = {{0, bytes<float>({0.0F})}};
  EXPECT_EQ(difference(Element::f32, expected, Buffers{bytes<float>({-0.0F})}), "");
}

TEST(Verify, AnInfinityEqualsItselfAloneWhateverTheTolerance) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const kernels::Tolerance wide{.relative = 1e-6, .absolute = 1};
  for (const float sign : {1.0F, -1.0F}) {
    const std::vector<kernels::Expected> expected = {{0, bytes<float>({1, sign * infinity}), wide}};
    EXPECT_EQ(difference(Element::f32, expected, Buffers{bytes<float>({1, sign * infinity})}), "");
    for (const float found : {3.0F, 3e38F, -sign * infinity, std::nanf("")}) {
      EXPECT_THAT(difference(Element::f32, expected, Buffers{bytes<float>({1, found})}),
                  HasSubstr("wrong answer: out[1] is"))
          << found;
    }
    const std::vector<kernels::Expected> finite = {{0, bytes<float>({1, 3}), wide}};
    EXPECT_THAT(difference(Element::f32, finite, Buffers{bytes<float>({1, sign * infinity})}),
                HasSubstr("wrong answer: out[1] is"));
  }
}

TEST(Verify, NoticesAMissingPart) {
  const std::vector<kernels::Expected> expected = {{0, bytes<std::int32_t>({1, 2})}};
  EXPECT_THAT(difference(Element::i32, expected, Buffers{bytes<std::int32_t>({1})}),
              HasSubstr("4 bytes, expected 8"));
}

TEST(FirstValues, PrintsAsManyAsThereAre) {
  const auto values = bytes<std::int32_t>({4, -5, 6});
  const kernels::Buffer buffer{"out", Element::i32, {}};
  EXPECT_THAT(first_values(buffer, values, 2), ElementsAre("4", "-5"));
  EXPECT_THAT(first_values(buffer, values, 10), ElementsAre("4", "-5", "6"));
}

}  // namespace
}  // namespace warpmeter::run
