// SPDX-License-Identifier: MIT
// Registers that nothing has set: found where they matter, in the lanes in which they do, and
// nowhere else.
#include "collector/model/check/unset/registers.h"

#include <gmock/gmock.h>

#include "tests/collector/model/check/findings.h"

namespace warpmeter::model {
namespace {

using ptx::Spread;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// --- bits
// -----------------------------------------------------------------------------------------

check::UnsetSource unset(std::uint64_t bits = ~std::uint64_t{0}, std::uint64_t value = 0) {
  return {{bits, 0}, {value, ~std::uint64_t{0}}};
}
check::UnsetSource set(std::uint64_t value) { return {{}, {value, ~std::uint64_t{0}}}; }
check::UnsetSource constant(std::uint64_t value) {
  return {{0, ~value}, {value, ~std::uint64_t{0}}};
}

UnsetStep step(Spread spread, std::uint32_t bits = 32) {
  UnsetStep made;
  made.spread = spread;
  made.bits = made.from_bits = bits;
  made.results.resize(1);
  return made;
}

/// The unset bits of a result of 32 bits.
std::uint64_t spread(const UnsetStep& step, const std::vector<check::UnsetSource>& sources) {
  return check::spread_bits(step, sources)[0].unset & 0xffffffff;
}

TEST(UnsetBits, AndKeepsWhatIsNotMaskedOff) {
  EXPECT_EQ(spread(step(Spread::bit_and), {unset(), constant(0xff)}), 0xffu);
  EXPECT_EQ(spread(step(Spread::bit_and), {unset(0xff00), constant(0xff)}), 0u);
  EXPECT_EQ(spread(step(Spread::bit_and), {unset(), set(3)}), 3u);
}

TEST(UnsetBits, OrIsSettledByOnes) {
  EXPECT_EQ(spread(step(Spread::bit_or), {unset(0xff), set(0x0f)}), 0xf0u);
  EXPECT_EQ(spread(step(Spread::bit_xor), {unset(0xff), set(0x0f)}), 0xffu);
}

TEST(UnsetBits, SumsCarryUpwards) {
  EXPECT_EQ(spread(step(Spread::upwards), {unset(0x100), set(1)}), 0xffffff00u);
  EXPECT_EQ(spread(step(Spread::all), {unset(0x100), set(1)}), 0xffffffffu);
  EXPECT_EQ(spread(step(Spread::all), {set(2), set(1)}), 0u);
}

TEST(UnsetBits, ASelectionTakesOneSide) {
  EXPECT_EQ(spread(step(Spread::select), {unset(), set(1), set(0)}), 0u);
  EXPECT_EQ(spread(step(Spread::select), {unset(0xf), set(1), set(1)}), 0xfu);
  EXPECT_EQ(spread(step(Spread::select), {set(5), set(1), unset(1)}), 0xffffffffu);
  EXPECT_EQ(spread(step(Spread::select), {set(5), set(5), unset(1)}), 0u);
}

TEST(UnsetBits, ShiftsMoveThem) {
  EXPECT_EQ(spread(step(Spread::shift_left), {unset(0xf), constant(8)}), 0xf00u);
  EXPECT_EQ(spread(step(Spread::shift_right), {unset(0xf000), constant(8)}), 0xf0u);
  UnsetStep arithmetic = step(Spread::shift_right);
  arithmetic.is_signed = true;
  EXPECT_EQ(spread(arithmetic, {unset(0x80000000), constant(4)}), 0xf8000000u);
  EXPECT_EQ(spread(step(Spread::shift_left), {set(1), unset()}), 0xffffffffu);
  EXPECT_EQ(spread(step(Spread::shift_right), {unset(), constant(32)}), 0u);
}

TEST(UnsetBits, FunnelShiftsTakeOfBoth) {
  EXPECT_EQ(spread(step(Spread::funnel_left), {unset(), set(0), constant(8)}), 0xffu);
  EXPECT_EQ(spread(step(Spread::funnel_right), {unset(0xff00), set(0), constant(8)}), 0xffu);
}

TEST(UnsetBits, FieldsAreCutOutAndPutIn) {
  EXPECT_EQ(spread(step(Spread::extract), {unset(0xff), constant(4), constant(8)}), 0xfu);
  EXPECT_EQ(spread(step(Spread::insert), {set(1), unset(), constant(4), constant(8)}), 0xfffff00fu);
  EXPECT_EQ(spread(step(Spread::insert), {unset(), set(1), constant(4), constant(8)}), 0xff0u);
}

TEST(UnsetBits, BytesArePermuted) {
  EXPECT_EQ(spread(step(Spread::permute), {unset(0xff), set(0), constant(0x4404)}), 0xff00u);
  EXPECT_EQ(spread(step(Spread::permute), {unset(0x8000), set(0), constant(0x9999)}), 0xffffffffu);
}

TEST(UnsetBits, PartsArePackedAndUnpacked) {
  EXPECT_EQ(spread(step(Spread::pack), {set(1), unset(0xffff)}), 0xffff0000u);
  UnsetStep parts = step(Spread::unpack);
  parts.results.resize(2);
  const auto results = check::spread_bits(parts, std::vector{unset(0xffff0000)});
  EXPECT_EQ(results[0].unset & 0xffff, 0u);
  EXPECT_EQ(results[1].unset & 0xffff, 0xffffu);
}

TEST(UnsetBits, EqualityIsSettledByOneBitThatDiffers) {
  EXPECT_EQ(spread(step(Spread::equal), {unset(0xff, 0x100), constant(0x200)}), 0u);
  EXPECT_NE(spread(step(Spread::equal), {unset(0xff, 0x200), constant(0x200)}), 0u);
  EXPECT_NE(spread(step(Spread::compare), {unset(0xff, 0x100), constant(0x200)}), 0u);
}

TEST(UnsetBits, AComparisonIsSettledByWhatItIsCombinedWith) {
  UnsetStep combined = step(Spread::compare);
  EXPECT_EQ(spread(combined, {unset(), set(1), set(0)}), 0u);
  EXPECT_NE(spread(combined, {unset(), set(1), set(1)}), 0u);
  combined.combines_or = true;
  EXPECT_EQ(spread(combined, {unset(), set(1), set(1)}), 0u);
}

TEST(UnsetBits, ThreeInputsAreSettledByTheTable) {
  UnsetStep lop3 = step(Spread::lop3);
  lop3.table = 0x80;  // a and b and c
  EXPECT_EQ(spread(lop3, {unset(), set(0xff), set(0xf)}), 0xfu);
  lop3.table = 0xaa;  // c
  EXPECT_EQ(spread(lop3, {unset(), unset(), set(0xf)}), 0u);
}

TEST(UnsetBits, WhatAConversionAddsTellsNothing) {
  UnsetStep widens = step(Spread::copy);
  widens.from_bits = 8;
  const check::UnsetBits wide = check::spread_bits(widens, std::vector{unset(0xff)})[0];
  EXPECT_EQ(wide.unset, 0xffu);
  EXPECT_TRUE(check::is_whole(wide, 32));
  const check::UnsetBits masked =
      check::spread_bits(step(Spread::bit_and), std::vector{unset(), constant(1)})[0];
  EXPECT_TRUE(check::is_whole(masked, 32));
  const check::UnsetBits beside =
      check::spread_bits(step(Spread::bit_or), std::vector{unset(0xff00), set(0x12)})[0];
  EXPECT_FALSE(check::is_whole(beside, 32));
}

// --- kernels
// --------------------------------------------------------------------------------------

TEST(UnsetRegisters, AProgramThatSetsAllHasNothingToFollow) {
  const TestRun run =
      run_ptx(module_with("", ".reg .b32 %r<3>;\nmov.u32 %r1, 1;\nret;"), "k", geometry(1, 32), {});
  ASSERT_EQ(run.refusal, "");
  EXPECT_TRUE(check::UnsetRegisters(run.program).is_empty());
}

TEST(UnsetRegisters, AStoreOfOneIsFound) {
  EXPECT_THAT(found("st.global.u32 [%d1], %r2;"), ElementsAre(uses(10, "%r2", writes)));
}

TEST(UnsetRegisters, AStoreUnderTheSameConditionIsNone) {
  EXPECT_THAT(found("@%p1 st.global.u32 [%d1], %r2;"), IsEmpty());
  EXPECT_THAT(found("@!%p1 bra E;\nst.global.u32 [%d1], %r2;\nE:"), IsEmpty());
}

TEST(UnsetRegisters, WhatIsComputedFromOneIsFoundWhereItIsStored) {
  EXPECT_THAT(found("mad.lo.s32 %r3, %r2, 3, 1;\nmov.b32 %f1, %r3;\nadd.f32 %f2, %f1, %f1;\n"
                    "st.global.f32 [%d1], %f2;"),
              ElementsAre(uses(10, "%f2", writes)));
}

TEST(UnsetRegisters, ACopyIsNoUse) {
  EXPECT_THAT(found("mov.u32 %r3, %r2;\nselp.b32 %r4, %r3, 7, %p1;\nst.global.u32 [%d1], %r4;"),
              IsEmpty());
}

TEST(UnsetRegisters, AnAddressIsOne) {
  EXPECT_THAT(found("and.b32 %r3, %r2, 60;\ncvt.u64.u32 %d5, %r3;\nadd.u64 %d6, %d2, %d5;\n"
                    "ld.global.u32 %r4, [%d6];\nst.global.u32 [%d1], %r4;"),
              ElementsAre(uses(10, "%d6", "as an address")));
}

TEST(UnsetRegisters, ABranchIsOne) {
  EXPECT_THAT(found("setp.gt.s32 %p2, %r2, 5;\n@%p2 bra E;\nst.global.u32 [%d1], %r1;\nE:"),
              ElementsAre(uses(10, "%p2", decides)));
}

TEST(UnsetRegisters, TheGuardOfAStoreIsOne) {
  EXPECT_THAT(found("setp.gt.s32 %p2, %r2, -1;\n@%p2 st.global.u32 [%d1], %r1;"),
              ElementsAre(uses(10, "%p2", decides)));
}

TEST(UnsetRegisters, ABranchThatAnotherConditionDecidesIsNone) {
  EXPECT_THAT(found("setp.gt.s32 %p2, %r2, 5;\nand.pred %p3, %p2, %p1;\n@%p3 bra E;\n"
                    "st.global.u32 [%d1], %r1;\nE:"),
              IsEmpty());
  EXPECT_THAT(found("setp.gt.and.s32 %p3, %r2, 5, %p1;\n@%p3 bra E;\n"
                    "st.global.u32 [%d1], %r1;\nE:"),
              IsEmpty());
}

TEST(UnsetRegisters, AnAtomicWritesItsOperand) {
  EXPECT_THAT(found("red.global.add.u32 [%d1], %r2;"), ElementsAre(uses(10, "%r2", writes)));
}

TEST(UnsetRegisters, AShuffleGivesItToTheLanesThatReadIt) {
  const std::string down = "shfl.sync.down.b32 %r3, %r2, 4, 31, -1;\n";
  EXPECT_THAT(found(down + "setp.lt.u32 %p2, %r1, 6;\n@%p2 st.global.u32 [%d1], %r3;"), IsEmpty());
  EXPECT_THAT(found(down + "setp.lt.u32 %p2, %r1, 7;\n@%p2 st.global.u32 [%d1], %r3;"),
              ElementsAre(uses(6, "%r3", writes)));
}

TEST(UnsetRegisters, ABallotHasABitOfEachLane) {
  const std::string ballot = "setp.gt.s32 %p2, %r2, 5;\nvote.sync.ballot.b32 %r3, %p2, -1;\n";
  EXPECT_THAT(found(ballot + "and.b32 %r4, %r3, 1023;\nst.global.u32 [%d1], %r4;"), IsEmpty());
  EXPECT_THAT(found(ballot + "popc.b32 %r4, %r3;\nst.global.u32 [%d1], %r4;"),
              ElementsAre(uses(0, "%r4", writes)));
}

TEST(UnsetRegisters, AVoteIsSettledByOneLane) {
  EXPECT_THAT(found("setp.ge.s32 %p2, %r2, 0;\nvote.sync.any.pred %p3, %p2, -1;\n"
                    "@%p3 st.global.u32 [%d1], %r1;"),
              IsEmpty());
  EXPECT_THAT(found("setp.ge.s32 %p2, %r2, 0;\nvote.sync.all.pred %p3, %p2, -1;\n"
                    "@!%p3 bra E;\nst.global.u32 [%d1], %r1;\nE:"),
              ElementsAre(uses(0, "%p3", decides)));
}

TEST(UnsetRegisters, MasksAndBarriersAreUses) {
  EXPECT_THAT(found("or.b32 %r3, %r2, -1;\nbar.warp.sync %r3;"), IsEmpty());
  EXPECT_THAT(found("mov.u32 %r3, %r30;\nbar.sync %r3;"),
              ElementsAre(uses(0, "%r3", "at a barrier")));
  EXPECT_THAT(found("xor.b32 %r3, %r30, -1;\nvote.sync.ballot.b32 %r4, %p1, %r3;"),
              testing::Contains(uses(0, "%r3", "as the mask of the lanes that take part")));
}

TEST(UnsetRegisters, OneOfTwoHalvesIsNoMistake) {
  EXPECT_THAT(found("cvt.u16.u32 %h1, %r2;\ncvt.u16.u32 %h2, %r1;\nmov.b32 %r3, {%h1, %h2};\n"
                    "st.global.u32 [%d1], %r3;"),
              IsEmpty());
  EXPECT_THAT(found("cvt.u16.u32 %h1, %r2;\nmov.b32 %r3, {%h1, %h1};\nst.global.u32 [%d1], %r3;"),
              ElementsAre(uses(10, "%r3", writes)));
}

TEST(UnsetRegisters, OneOfFourPartsIsNoMistake) {
  EXPECT_THAT(found("and.b64 %d5, %d1, -16;\nst.global.v4.u32 [%d5], {%r1, %r2, %r1, %r1};"),
              IsEmpty());
  EXPECT_THAT(found("and.b64 %d5, %d1, -16;\nst.global.v2.u32 [%d5], {%r2, %r2};"),
              ElementsAre(uses(10, "%r2", writes)));
}

TEST(UnsetRegisters, PaddingBesideWhatIsSetIsNoMistake) {
  const std::string line = ".loc 1 7 0\n", other = ".loc 1 8 0\n";
  const std::string file = ".file 1 \"a.cu\"\n";
  const std::string before = line + "st.global.u32 [%d1], %r1;\n";
  EXPECT_THAT(found(before + "st.global.u32 [%d1+4], %r2;", file), IsEmpty());
  EXPECT_THAT(found(before + other + "st.global.u32 [%d1+4], %r2;", file),
              ElementsAre(HasSubstr("uses a variable that was not set on this path (%r2 in the "
                                    "PTX) as the value that it writes")));
}

TEST(UnsetRegisters, AFieldThatIsSetMayStandBesideOneThatIsNot) {
  const std::string fields = "bfi.b32 %r3, %r1, %r2, 8, 8;\n";
  EXPECT_THAT(found(fields + "bfe.u32 %r4, %r3, 8, 8;\nst.global.u32 [%d1], %r4;"), IsEmpty());
  EXPECT_THAT(found(fields + "bfe.u32 %r4, %r3, 16, 8;\nst.global.u32 [%d1], %r4;"),
              ElementsAre(uses(10, "%r4", writes)));
}

TEST(UnsetRegisters, ALoopSetsItInItsFirstRound) {
  const std::string loop =
      "mov.u32 %r5, 0;\nL:\nsetp.eq.u32 %p2, %r5, 0;\nselp.b32 %r6, %r1, %r7, %p2;\n"
      "add.u32 %r7, %r6, 1;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, {};\n@%p3 bra L;\n"
      "st.global.u32 [%d1], %r7;";
  EXPECT_THAT(found(fmt::format(fmt::runtime(loop), 3)), IsEmpty());
  EXPECT_THAT(found("mov.u32 %r5, 0;\nL:\nadd.u32 %r7, %r7, %r5;\nadd.u32 %r5, %r5, 1;\n"
                    "setp.lt.u32 %p3, %r5, 3;\n@%p3 bra L;\nst.global.u32 [%d1], %r7;"),
              ElementsAre(uses(0, "%r7", writes)));
}

TEST(UnsetRegisters, EachMistakeIsFoundOnce) {
  EXPECT_THAT(found("st.global.u32 [%d1], %r2;\nadd.u32 %r3, %r2, 1;\n"
                    "st.global.u32 [%d1+128], %r3;"),
              ElementsAre(uses(10, "%r2", writes)));
}

TEST(UnsetRegisters, EveryBlockAndWarpBeginsAnew) {
  EXPECT_THAT(
      found("setp.ge.u32 %p2, %r1, 32;\n@%p2 mov.u32 %r2, 0;\nst.global.u32 [%d1], %r2;", "", 64),
      ElementsAre(uses(10, "%r2", writes)));
}

constexpr std::string_view adds = R"(
.func (.param .b32 result) sum(.param .b32 a, .param .b32 b, .param .b32 takes_both) {
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [a];
  ld.param.u32 %r2, [b];
  ld.param.u32 %r3, [takes_both];
  setp.ne.u32 %p1, %r3, 0;
  @%p1 add.u32 %r1, %r1, %r2;
  st.param.b32 [result], %r1;
  ret;
}
)";
constexpr std::string_view call_sum = R"(
  {
    .param .b32 p0; .param .b32 p1; .param .b32 p2; .param .b32 r;
    st.param.b32 [p0], %r1;
    st.param.b32 [p1], %r2;
    st.param.b32 [p2], %r8;
    call (r), sum, (p0, p1, p2);
    ld.param.b32 %r9, [r];
  }
  st.global.u32 [%d1], %r9;
)";

TEST(UnsetRegisters, AnArgumentThatTheFunctionDoesNotUseIsNoMistake) {
  EXPECT_THAT(found("selp.u32 %r8, 1, 0, %p1;" + std::string(call_sum), adds), IsEmpty());
}

TEST(UnsetRegisters, AnArgumentThatReachesTheResultIsFollowed) {
  EXPECT_THAT(found("mov.u32 %r8, 1;" + std::string(call_sum), adds),
              ElementsAre(uses(10, "%r9", writes)));
}

constexpr std::string_view forgets = R"(
.func (.param .b32 result) maybe(.param .b32 a) {
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [a];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mov.u32 %r2, 7;
  st.param.b32 [result], %r2;
  ret;
}
)";

TEST(UnsetRegisters, AFunctionsRegistersAreUnsetAtEachCall) {
  // The first round sets the register, the second finds it as every call does.
  EXPECT_THAT(found(R"(
  mov.u32 %r5, 0;
L:
  {
    .param .b32 p0; .param .b32 r;
    st.param.b32 [p0], %r5;
    call (r), maybe, (p0);
    ld.param.b32 %r9, [r];
  }
  st.global.u32 [%d1], %r9;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p3, %r5, 2;
  @%p3 bra L;)",
                    forgets),
              ElementsAre(uses(0, "%r9", writes)));
}

TEST(UnsetRegisters, FunctionsThatCallThemselvesKeepTheirRegisters) {
  const std::string recursive = R"(
.func (.param .b32 result) down(.param .b32 a) {
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  ld.param.u32 %r1, [a];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mov.u32 %r3, 1;
  @%p1 bra D;
  sub.u32 %r2, %r1, 1;
  {
    .param .b32 p0; .param .b32 r;
    st.param.b32 [p0], %r2;
    call (r), down, (p0);
    ld.param.b32 %r3, [r];
  }
D:
  st.param.b32 [result], %r3;
  ret;
}
)";
  EXPECT_THAT(found(R"(
  {
    .param .b32 p0; .param .b32 r;
    st.param.b32 [p0], 3;
    call (r), down, (p0);
    ld.param.b32 %r9, [r];
  }
  st.global.u32 [%d1], %r9;)",
                    recursive),
              IsEmpty());
}

}  // namespace
}  // namespace warpmeter::model
