// SPDX-License-Identifier: MIT
// Lanes that shuffles read and that are not there. Eight lanes that add up by halves, under a mask
// of themselves, read such in every step and throw away what they get; that is no mistake. To keep,
// write or decide by any of it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/collector/model/check/findings.h"

namespace warpmeter::model {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The first eight lanes add up %r3 by halves; then `end`.
std::string eight_lanes(const std::string& end,
                        const std::string& value = "ld.global.u32 %r3, [%d2];") {
  return module_with(parameters, std::string(start) + value + R"(
  setp.gt.u32 %p2, %r1, 7;
  @%p2 bra DONE;
  shfl.sync.down.b32 %r4, %r3, 4, 31, 255;
  add.s32 %r3, %r3, %r4;
  shfl.sync.down.b32 %r4, %r3, 2, 31, 255;
  add.s32 %r3, %r3, %r4;
  shfl.sync.down.b32 %r4, %r3, 1, 31, 255;
  add.s32 %r3, %r3, %r4;
)" + end + "\nDONE: ret;",
                     "");
}

std::vector<std::string> absent_in(const std::string& text) {
  return findings_of(text, 32, check::Defect::absent_lanes);
}

TEST(AbsentLanes, WhatIsThrownAwayIsNoMistake) {
  const std::string text = eight_lanes("setp.eq.u32 %p3, %r1, 0;\n@%p3 st.global.u32 [%d1], %r3;");
  EXPECT_THAT(absent_in(text), IsEmpty());
  EXPECT_THAT(findings_of(text), IsEmpty());
}

/// nvcc asks for the predicate too, and keeps floats in other registers.
TEST(AbsentLanes, WhatNvccWritesIsNoMistakeEither) {
  const std::string text = module_with(parameters, std::string(start) + R"(
  setp.gt.u32 %p2, %r1, 7;
  @%p2 bra DONE;
  ld.global.f32 %f1, [%d2];
  mov.b32 %r3, %f1;
  shfl.sync.down.b32 %r4|%p3, %r3, 4, 31, 255;
  mov.b32 %f2, %r4; add.f32 %f3, %f1, %f2; mov.b32 %r5, %f3;
  shfl.sync.down.b32 %r6|%p4, %r5, 2, 31, 255;
  mov.b32 %f4, %r6; add.f32 %f5, %f3, %f4; mov.b32 %r7, %f5;
  shfl.sync.down.b32 %r8|%p5, %r7, 1, 31, 255;
  mov.b32 %f6, %r8; add.f32 %f7, %f5, %f6;
  setp.ne.s32 %p6, %r1, 0;
  @%p6 bra DONE;
  st.global.f32 [%d1], %f7;
  DONE: ret;)",
                                       "");
  EXPECT_THAT(absent_in(text), IsEmpty());
  EXPECT_THAT(findings_of(text), IsEmpty());
}

TEST(AbsentLanes, WhatIsWrittenIsOne) {
  EXPECT_THAT(absent_in(eight_lanes("st.global.u32 [%d1], %r3;")),
              Contains(HasSubstr("uses what was read from lane 8, which is not here "
                                 "(0x000000ff are)")));
}

TEST(AbsentLanes, SoIsACopyThatIsWritten) {
  const std::string text = module_with(parameters, std::string(start) + R"(
  setp.gt.u32 %p2, %r1, 7;
  @%p2 bra DONE;
  shfl.sync.down.b32 %r4, %r1, 4, 31, 255;
  st.global.u32 [%d1], %r4;
  DONE: ret;)",
                                       "");
  EXPECT_THAT(absent_in(text), ElementsAre(HasSubstr("thread (4,0,0) of block (0,0,0) uses what "
                                                     "was read from lane 8")));
  EXPECT_THAT(findings_of(text), IsEmpty());
}

TEST(AbsentLanes, AndADecision) {
  EXPECT_THAT(absent_in(eight_lanes("setp.gt.u32 %p3, %r3, 5;\n@%p3 bra DONE;")),
              Contains(HasSubstr("uses what was read from lane 8")));
}

TEST(AbsentLanes, AValueThatIsSetAnewIsAnother) {
  EXPECT_THAT(absent_in(eight_lanes("mov.u32 %r3, 1;\nst.global.u32 [%d1], %r3;")), IsEmpty());
}

}  // namespace
}  // namespace warpmeter::model
