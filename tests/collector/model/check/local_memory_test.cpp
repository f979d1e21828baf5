// SPDX-License-Identifier: MIT
// Local memory: which bits of it are unset, and that a read of them is found where it matters.
#include "collector/model/check/unset/local_memory.h"

#include <gmock/gmock.h>

#include "tests/collector/model/check/findings.h"

namespace warpmeter::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LocalMemory, ABlockBeginsWithNothingSet) {
  check::LocalMemory memory(16);
  memory.start_block(2);
  memory.write(1, 4, 4);
  memory.start_block(2);
  EXPECT_EQ(memory.unset_bits(1, 4, 4), 0xffffffffu);
}

TEST(LocalMemory, AWriteSetsItsBytesOfItsThread) {
  check::LocalMemory memory(16);
  memory.start_block(2);
  memory.write(1, 4, 2);
  EXPECT_EQ(memory.unset_bits(1, 4, 4), 0xffff0000u);
  EXPECT_EQ(memory.unset_bits(0, 4, 4), 0xffffffffu);
  EXPECT_EQ(memory.unset_bits(1, 2, 8), 0xffffffff0000ffffu);
}

TEST(LocalMemory, UnsetBitsAreWrittenAndRead) {
  check::LocalMemory memory(16);
  memory.start_block(1);
  memory.write(0, 8, 4, 0xfff0);
  EXPECT_EQ(memory.unset_bits(0, 8, 4), 0xfff0u);
  memory.write(0, 8, 4);
  EXPECT_EQ(memory.unset_bits(0, 8, 4), 0u);
}

TEST(LocalMemory, AFrameIsForgotten) {
  check::LocalMemory memory(16);
  memory.start_block(1);
  memory.write(0, 0, 16);
  memory.forget(0, 4, 4);
  EXPECT_EQ(memory.unset_bits(0, 0, 8), 0xffffffff00000000u);
  EXPECT_EQ(memory.unset_bits(0, 8, 8), 0u);
}

TEST(LocalMemory, WhatLiesBeyondAThreadIsLeftOut) {
  check::LocalMemory memory(16);
  memory.start_block(2);
  memory.write(0, 14, 4);
  EXPECT_EQ(memory.unset_bits(0, 12, 4), 0xffffffffu);
  EXPECT_EQ(memory.unset_bits(1, 0, 2), 0xffffu);
  EXPECT_EQ(memory.unset_bits(0, ~std::uint64_t{0}, 4), 0u);
  memory.forget(0, 8, 64);
  EXPECT_EQ(memory.unset_bits(0, 12, 4), 0xffffffffu);
}

// --- kernels: array `v` of 16 numbers, of which 0 to 9 are set; %r2 is set in lanes 0 to 9
// --------

constexpr std::string_view array = R"(
  .local .align 16 .b8 v[64];
  mov.u32 %r20, 0;
A:
  mul.lo.u32 %r21, %r20, 4;
  mov.u32 %r22, v;
  add.u32 %r22, %r22, %r21;
  st.local.u32 [%r22], %r20;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p9, %r20, 10;
  @%p9 bra A;
  mov.u32 %r22, v;
  and.b32 %r23, %r1, 15;
  mul.lo.u32 %r23, %r23, 4;
  add.u32 %r23, %r22, %r23;
)";  // %r22: the array, %r23: the element of the lane

std::vector<std::string> found_in_array(std::string_view body) {
  return found(std::string(array) + std::string(body));
}

/// The matcher for a thread's use of local memory.
testing::Matcher<std::string> reads(unsigned thread, const std::string& how) {
  return testing::AllOf(
      testing::StartsWith(fmt::format(
          "thread ({},0,0) of block (0,0,0) uses a local array or variable (read on line ",
          thread)),
      testing::EndsWith("of the PTX) where nothing has written it, " + how));
}

TEST(LocalArrays, AnElementThatIsNotSetIsFoundWhereItIsStored) {
  EXPECT_THAT(found_in_array("ld.local.u32 %r3, [%r23];\nst.global.u32 [%d1], %r3;"),
              ElementsAre(reads(10, writes)));
}

TEST(LocalArrays, AnElementThatIsSetIsNone) {
  EXPECT_THAT(found_in_array("ld.local.u32 %r3, [%r23];\nsetp.lt.u32 %p2, %r1, 10;\n"
                             "@%p2 st.global.u32 [%d1], %r3;"),
              IsEmpty());
}

TEST(LocalArrays, ALoadBeforeItIsKnownWhetherItIsNeededIsNone) {
  EXPECT_THAT(found_in_array("ld.local.u32 %r3, [%r23];\nsetp.lt.u32 %p2, %r1, 10;\n"
                             "selp.b32 %r4, %r3, -1, %p2;\nst.global.u32 [%d1], %r4;"),
              IsEmpty());
}

TEST(LocalArrays, AnElementDecidesABranch) {
  EXPECT_THAT(found_in_array("ld.local.u32 %r3, [%r23];\nsetp.lt.u32 %p2, %r3, 4;\n@%p2 bra E;\n"
                             "st.global.u32 [%d1], %r1;\nE:"),
              ElementsAre(reads(10, decides)));
}

TEST(LocalArrays, OneUnsetByteOfAWordIsNoMistakeUntilItIsUsed) {
  const std::string word = "ld.local.u32 %r3, [%r22+40];\n";
  const std::string set_two = "st.local.u16 [%r22+40], 7;\n";
  EXPECT_THAT(found_in_array("ld.local.u32 %r3, [%r22+36];\nst.global.u32 [%d1], %r3;"), IsEmpty());
  EXPECT_THAT(found_in_array(set_two + word + "st.global.u32 [%d1], %r3;"), IsEmpty());
  EXPECT_THAT(found_in_array(set_two + word +
                             "and.b32 %r4, %r3, 65535;\n"
                             "setp.eq.u32 %p2, %r4, 7;\n@%p2 bra E;\n"
                             "st.global.u32 [%d1], %r1;\nE:"),
              IsEmpty());
  EXPECT_EQ(found_in_array(set_two + word +
                           "shr.u32 %r4, %r3, 16;\nsetp.eq.u32 %p2, %r4, 7;\n"
                           "@%p2 bra E;\nst.global.u32 [%d1], %r1;\nE:")
                .size(),
            1u);
}

TEST(LocalArrays, OnePartOfAVectorIsNoMistakeUntilItIsUsed) {
  const std::string load = "ld.local.v4.u32 {%r3, %r4, %r5, %r6}, [%r22+32];\n";
  EXPECT_THAT(found_in_array(load + "add.u32 %r7, %r3, %r4;\nst.global.u32 [%d1], %r7;"),
              IsEmpty());
  EXPECT_THAT(found_in_array(load + "add.u32 %r7, %r4, %r5;\nst.global.u32 [%d1], %r7;"),
              ElementsAre(reads(0, writes)));
}

TEST(LocalArrays, ACopyOfAnElementIsAsUnsetAsItIs) {
  const std::string copy = "ld.local.u32 %r3, [%r23];\nst.local.u32 [%r22], %r3;\n";
  EXPECT_THAT(found_in_array(copy), IsEmpty());
  EXPECT_EQ(found_in_array(copy + "ld.local.u32 %r4, [%r22];\nst.global.u32 [%d1], %r4;").size(),
            1u);
  EXPECT_THAT(found_in_array(copy + "st.local.u32 [%r22], 1;\nld.local.u32 %r4, [%r22];\n"
                                    "st.global.u32 [%d1], %r4;"),
              IsEmpty());
}

TEST(LocalArrays, AVariableThatWasNotSetIsCopiedLikewise) {
  EXPECT_THAT(found_in_array("st.local.u32 [%r22], %r2;\nld.local.u32 %r4, [%r22];\n"
                             "@%p1 st.global.u32 [%d1], %r4;"),
              IsEmpty());
  EXPECT_EQ(found_in_array("st.local.u32 [%r22], %r2;\nld.local.u32 %r4, [%r22];\n"
                           "st.global.u32 [%d1], %r4;")
                .size(),
            1u);
}

TEST(LocalArrays, GenericAddressesLeadThereToo) {
  const std::string generic = "cvt.u64.u32 %d5, %r23;\ncvta.local.u64 %d5, %d5;\n";
  EXPECT_EQ(found_in_array(generic + "ld.u32 %r3, [%d5];\nst.global.u32 [%d1], %r3;").size(), 1u);
  EXPECT_THAT(found_in_array(generic + "st.u32 [%d5], %r1;\nld.u32 %r3, [%d5];\n"
                                       "st.u32 [%d1], %r3;"),
              IsEmpty());
  EXPECT_THAT(found_in_array(generic + "st.u32 [%d5], %r2;"), IsEmpty());
}

TEST(LocalArrays, SignsAreExtended) {
  EXPECT_EQ(found_in_array("ld.local.s8 %r3, [%r22+40];\nst.global.u32 [%d1], %r3;").size(), 1u);
  EXPECT_EQ(found_in_array("ld.local.u8 %r3, [%r22+40];\nst.global.u32 [%d1], %r3;").size(), 1u);
}

constexpr std::string_view first_of_two = R"(
.func (.param .b32 result) first(.param .b32 sets) {
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .local .align 4 .b8 two[8];
  ld.param.u32 %r1, [sets];
  mov.u32 %r2, two;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 st.local.u32 [%r2], %r1;
  ld.local.u32 %r3, [%r2];
  st.param.b32 [result], %r3;
  ret;
}
)";

TEST(LocalArrays, AFrameIsNewAtEachCall) {
  const std::string body = R"(
  mov.u32 %r5, 2;
L:
  {{
    .param .b32 p0; .param .b32 r;
    st.param.b32 [p0], %r5;
    call (r), first, (p0);
    ld.param.b32 %r9, [r];
  }}
  st.global.u32 [%d1], %r9;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p3, %r5, {};
  @%p3 bra L;)";
  EXPECT_THAT(found(fmt::format(fmt::runtime(body), 0), first_of_two), IsEmpty());
  // The third call sets nothing of its frame, although those before it set theirs.
  EXPECT_THAT(found(fmt::format(fmt::runtime(body), -1), first_of_two),
              ElementsAre(uses(0, "%r9", writes)));
}

constexpr std::string_view deepest = R"(
.func (.param .b32 result) down(.param .b32 depth, .param .b32 value) {
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  .local .align 4 .b8 own[4];
  ld.param.u32 %r1, [depth];
  ld.param.u32 %r4, [value];
  mov.u64 %d1, own;
  setp.lt.u32 %p1, %r1, 3;
  @%p1 st.local.u32 [%d1], %r1;
  ld.local.u32 %r3, [%d1];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra D;
  sub.u32 %r5, %r1, 1;
  {
    .param .b32 p0; .param .b32 p1; .param .b32 r;
    st.param.b32 [p0], %r5;
    st.param.b32 [p1], %r4;
    call (r), down, (p0, p1);
    ld.param.b32 %r3, [r];
  }
D:
  add.u32 %r6, %r3, %r4;
  st.param.b32 [result], %r6;
  ret;
}
)";

/// A call of down(depth, %value), and a store of what it gives.
std::string call_down(unsigned depth, std::string_view value) {
  return fmt::format(R"(
  {{
    .param .b32 p0; .param .b32 p1; .param .b32 r;
    st.param.b32 [p0], {};
    st.param.b32 [p1], {};
    call (r), down, (p0, p1);
    ld.param.b32 %r9, [r];
  }}
  st.global.u32 [%d1], %r9;)",
                     depth, value);
}

TEST(LocalArrays, FunctionsThatCallThemselvesHaveAFrameEachTime) {
  EXPECT_THAT(found(call_down(5, "%r1"), deepest), IsEmpty());
}

TEST(LocalArrays, ArgumentsAndResultsOfRealCallsAreFollowed) {
  EXPECT_THAT(found(call_down(5, "%r2"), deepest), ElementsAre(uses(10, "%r9", writes)));
}

}  // namespace
}  // namespace warpmeter::model
