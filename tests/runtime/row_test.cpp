// SPDX-License-Identifier: MIT
// The row of a function of CUDA's API says when its body answers.
#include "collector/runtime/api/row.h"

#include <gtest/gtest.h>

namespace warpmeter::runtime {
namespace {

Answers answers_of(const char* name, Needs needs, Answers given) {
  return Row(name, needs, given).answers;
}

TEST(ApiRow, ADriversCallThatNeedsNoContextAnswersAfterAFailure) {
  EXPECT_EQ(answers_of("cuDriverGetVersion", Needs::nothing, Answers::until_failure),
            Answers::after_failure);
  EXPECT_EQ(answers_of("cuMemFree_v2", Needs::context, Answers::until_failure),
            Answers::until_failure);
  EXPECT_EQ(answers_of("cudaFree", Needs::nothing, Answers::until_failure), Answers::until_failure);
}

TEST(ApiRow, ACallThatAnswersAnywhereDoesSoInBothApis) {
  EXPECT_EQ(answers_of("cuDeviceGetCount", Needs::initialised, Answers::anywhere),
            Answers::anywhere);
  EXPECT_EQ(answers_of("cudaGetDeviceCount", Needs::initialised, Answers::anywhere),
            Answers::anywhere);
}

}  // namespace
}  // namespace warpmeter::runtime
