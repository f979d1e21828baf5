// SPDX-License-Identifier: MIT
// Results that the CPU computes: the refusals of what fits nothing, and a call's arguments.
#include "collector/family/cpu_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/error.h"

namespace warpmeter::family {
namespace {

const std::vector<Extent> buffers = {{"out", Element::f32, 32},
                                     {"in", Element::f32, 32},
                                     {"short", Element::f32, 31},
                                     {"mask", Element::u8, 32}};

/// Why the contents of a buffer cannot be the call's; "" where they can.
std::string refusal(const std::string& call, std::size_t result = 0) {
  FamilySpec spec;
  spec.path = "f.yaml";
  try {
    check_cpu_call(spec, {call, 5, 10}, {{"n", 4}, {"half", 2.5L}}, buffers, buffers[result]);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(CpuCall, TakesBuffersAndThenNumbersThatMayBeExpressions) {
  EXPECT_EQ(refusal("cpu:transpose(in, n, 2*n)"), "");
  EXPECT_EQ(refusal("cpu:transpose( in ,max(1, n),8 )"), "");
  EXPECT_EQ(refusal("cpu:add(in, in)"), "");
  EXPECT_EQ(refusal("cpu:iota()", 3), "");
}

TEST(CpuCall, WithAMistakeIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal("cpu:transpos(in, n, 8)"),
            "f.yaml:5:10: the CPU computes no 'transpos'; known are add, block_sums, copy, "
            "copy_half, iota, iota_transposed, matmul, transpose; did you mean transpose or "
            "iota_transposed?");
  for (const char* call : {"cpu:transpose", "cpu:transpose(in, n)", "cpu:transpose(in, n, 8"}) {
    EXPECT_EQ(refusal(call),
              std::string("f.yaml:5:10: '") + call + "' is not cpu:transpose(in, width, height)");
  }
  EXPECT_EQ(refusal("cpu:transpose(inn, n, 8)"),
            "f.yaml:5:24: there is no buffer 'inn' to compute with; did you mean in?");
  EXPECT_EQ(refusal("cpu:transpose(in, m, 8)"),
            "f.yaml:5:28: 'm' names 'm'; did you mean n?; known are half, n");
  EXPECT_EQ(refusal("cpu:transpose(in, half, 8)"),
            "f.yaml:5:28: 'half' gives 2.5, which is no whole number (ceil and floor round)");
}

TEST(CpuCall, OfOtherTypesOrLengthsIsRefused) {
  EXPECT_EQ(refusal("cpu:transpose(in, n, n)"),
            "f.yaml:5:10: 'cpu:transpose(in, n, n)' needs 16 elements of f32 in 'out', which has "
            "32 of f32");
  EXPECT_EQ(refusal("cpu:add(in, short)"),
            "f.yaml:5:10: 'cpu:add(in, short)' needs 32 elements of f32 in 'short', which has 31 "
            "of f32");
  EXPECT_EQ(refusal("cpu:copy(mask)"),
            "f.yaml:5:10: 'cpu:copy(mask)' needs 32 elements of f32 in 'mask', which has 32 of u8");
  EXPECT_EQ(refusal("cpu:add(mask, mask)", 3),
            "f.yaml:5:10: cpu:add computes with i32, u32, f32 and f64, and 'mask' is u8");
}

TEST(CpuCall, ComputesWithTheInitialContents) {
  const float in[] = {1, 2, 3, 4, 5, 6};
  kernels::Problem problem;
  problem.buffers = {{"out", Element::f32, std::vector<std::byte>(sizeof in)},
                     {"in", Element::f32, std::vector<std::byte>(sizeof in)}};
  std::memcpy(problem.buffers[1].initial.data(), in, sizeof in);
  const std::vector<std::byte> out =
      call_cpu({}, {"cpu:transpose(in, n, 2)", 0, 0}, {{"n", 3}}, problem, 0);
  float values[6];
  ASSERT_EQ(out.size(), sizeof values);
  std::memcpy(values, out.data(), sizeof values);
  EXPECT_THAT(values, testing::ElementsAre(1, 4, 2, 5, 3, 6));
}

}  // namespace
}  // namespace warpmeter::family
