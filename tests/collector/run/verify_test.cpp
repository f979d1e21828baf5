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

kernels::Problem one_buffer(kernels::ElementType type) {
  kernels::Problem problem;
  problem.buffers.push_back({"out", type, {}});
  return problem;
}

TEST(Verify, AcceptsEqualBuffers) {
  const auto values = bytes<float>({1, 2, 3});
  const std::vector<kernels::Expected> expected = {{0, values}};
  EXPECT_EQ(verify(one_buffer(kernels::ElementType::f32), expected, Buffers{values}), "");
}

TEST(Verify, NamesTheFirstWrongElementAndCountsThem) {
  const std::vector<kernels::Expected> expected = {{0, bytes<std::int32_t>({1, 2, 3, 4})}};
  const std::string difference = verify(one_buffer(kernels::ElementType::i32), expected,
                                        Buffers{bytes<std::int32_t>({1, 9, 3, 8})});
  EXPECT_THAT(difference, HasSubstr("out[1] is 9, expected 2"));
  EXPECT_THAT(difference, HasSubstr("2 of 4"));
}

TEST(Verify, TakesNotANumberForAWrongAnswer) {
  const std::vector<kernels::Expected> expected = {{0, bytes<double>({1, 2})}};
  EXPECT_THAT(verify(one_buffer(kernels::ElementType::f64), expected,
                     Buffers{bytes<double>({1, std::nan("")})}),
              HasSubstr("out[1] is nan, expected 2"));
}

TEST(Verify, TakesTheTwoZerosForEqual) {
  const std::vector<kernels::Expected> expected = {{0, bytes<float>({0.0F})}};
  EXPECT_EQ(verify(one_buffer(kernels::ElementType::f32), expected, Buffers{bytes<float>({-0.0F})}),
            "");
}

TEST(Verify, NoticesAMissingPart) {
  const std::vector<kernels::Expected> expected = {{0, bytes<std::int32_t>({1, 2})}};
  EXPECT_THAT(
      verify(one_buffer(kernels::ElementType::i32), expected, Buffers{bytes<std::int32_t>({1})}),
      HasSubstr("4 bytes, expected 8"));
}

TEST(FirstValues, PrintsAsManyAsThereAre) {
  const auto values = bytes<std::int32_t>({4, -5, 6});
  const kernels::Buffer buffer{"out", kernels::ElementType::i32, {}};
  EXPECT_THAT(first_values(buffer, values, 2), ElementsAre("4", "-5"));
  EXPECT_THAT(first_values(buffer, values, 10), ElementsAre("4", "-5", "6"));
}

}  // namespace
}  // namespace warpmeter::run
