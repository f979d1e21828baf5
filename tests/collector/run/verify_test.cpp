#include "collector/run/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace warpmeter::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
              HasSubstr("out[0] is 0.75, expected 0 (1 of 3 elements differ)"));
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
