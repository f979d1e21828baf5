// SPDX-License-Identifier: MIT
#include "collector/model/ptx/memory/unset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class PtxUnset : public testing::Test {
 protected:
  void analyse(const std::string& body) {
    module_ = parsed(entry(body));
    data_ = data_flow(function());
    graph_ = graph_of(function());
  }
  const Function& function() const { return module_->functions[0]; }
  std::vector<std::string> names(const std::vector<bool>& chosen) const {
    std::vector<std::string> result;
    for (std::size_t id = 0; id < chosen.size(); ++id) {
      if (chosen[id]) result.emplace_back(data_.registers()[id].name);
    }
    return result;
  }
  std::vector<std::string> at_entry() const { return names(unset_at_entry(data_, graph_)); }
  std::vector<std::string> spread() const {
    return names(spread_unset(function(), data_, unset_at_entry(data_, graph_)));
  }
  UnsetRole role(const std::string& instruction) {
    module_ = parsed(entry(".local .b32 v[4];\n" + instruction));
    return unset_role(module_->functions[0].body[0]);
  }

  std::unique_ptr<Module> module_;
  DataFlow data_;
  ControlFlow graph_;
};

TEST_F(PtxUnset, ARegisterThatIsWrittenFirstIsSet) {
  analyse("mov.u32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nst.global.u32 [0], %r2;\nret;");
  EXPECT_THAT(at_entry(), IsEmpty());
}

TEST_F(PtxUnset, ARegisterThatNobodyWritesIsNot) {
  analyse("add.u32 %r2, %r1, 1;\nret;");
  EXPECT_THAT(at_entry(), ElementsAre("%r1"));
}

TEST_F(PtxUnset, ARegisterThatOneSideOfABranchWritesIsNot) {
  analyse(
      "setp.eq.u32 %p1, %tid.x, 0;\n@%p1 bra L;\nmov.u32 %r1, 1;\nmov.u32 %r2, 1;\nbra M;\n"
      "L:\nmov.u32 %r2, 3;\nM:\nadd.u32 %r3, %r1, %r2;\nret;");
  EXPECT_THAT(at_entry(), ElementsAre("%r1"));
}

TEST_F(PtxUnset, AWriteUnderAGuardLeavesLanesOut) {
  analyse("setp.eq.u32 %p1, %tid.x, 0;\n@%p1 mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;\nret;");
  EXPECT_THAT(at_entry(), ElementsAre("%r1"));
}

TEST_F(PtxUnset, ALoopReadsWhatItsLastRoundWrote) {
  analyse(
      "L:\nadd.u32 %r2, %r1, 1;\nmov.u32 %r1, %r2;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\nret;");
  EXPECT_THAT(at_entry(), ElementsAre("%r1"));
}

TEST_F(PtxUnset, PredicatesAndAddressesAreReadToo) {
  analyse("@%p1 st.global.u32 [%d1], 1;\nret;");
  EXPECT_THAT(at_entry(), UnorderedElementsAre("%p1", "%d1"));
}

TEST_F(PtxUnset, CodeThatNothingReachesReadsNothing) {
  analyse("bra E;\nadd.u32 %r2, %r1, 1;\nE:\nret;");
  EXPECT_THAT(at_entry(), IsEmpty());
}

TEST_F(PtxUnset, WhatIsComputedFromThemMayBeUnset) {
  analyse(
      "add.u32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 mov.u32 %r3, 1;\n"
      "ld.global.u32 %r4, [%r2];\nmov.u32 %r5, 7;\nret;");
  EXPECT_THAT(spread(), UnorderedElementsAre("%r1", "%r2", "%p1", "%r3"));
}

TEST_F(PtxUnset, ZeroByXorIsSet) {
  analyse("xor.b32 %r2, %r1, %r1;\nsub.s32 %r3, %r1, %r1;\nadd.u32 %r4, %r2, %r3;\nret;");
  EXPECT_THAT(spread(), ElementsAre("%r1"));
}

TEST_F(PtxUnset, AStoreUsesItsAddressAndItsValue) {
  const UnsetRole found = role("st.global.v2.u32 [%d1+4], {%r1, %r2};");
  ASSERT_EQ(found.uses.size(), 2u);
  EXPECT_EQ(found.uses[0].what, UnsetUse::address);
  EXPECT_EQ(found.uses[1].what, UnsetUse::value);
  EXPECT_EQ(found.uses[1].operands.size(), 2u);
  EXPECT_EQ(found.uses[1].bits, 32u);
  EXPECT_TRUE(found.has_effect);
}

TEST_F(PtxUnset, AStoreToLocalMemoryUsesOnlyItsAddress) {
  const UnsetRole found = role("st.local.u32 [%r2], %r1;");
  ASSERT_EQ(found.uses.size(), 1u);
  EXPECT_EQ(found.uses[0].what, UnsetUse::address);
}

TEST_F(PtxUnset, ALoadHasNoEffectAndGivesWhatIsSet) {
  const UnsetRole found = role("ld.shared.u32 %r1, [%r2];");
  EXPECT_EQ(found.spread, Spread::none);
  EXPECT_FALSE(found.has_effect);
  ASSERT_EQ(found.uses.size(), 1u);
  EXPECT_EQ(found.uses[0].what, UnsetUse::address);
}

TEST_F(PtxUnset, ExchangesUseTheirMaskAndPassTheirValueOn) {
  const UnsetRole found = role("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, %r3;");
  EXPECT_EQ(found.spread, Spread::shuffle_down);
  ASSERT_EQ(found.uses.size(), 1u);
  EXPECT_EQ(found.uses[0].what, UnsetUse::members);
  EXPECT_EQ(found.uses[0].operands[0]->name, "%r3");
}

TEST_F(PtxUnset, RolesOfArithmetic) {
  EXPECT_EQ(role("add.s32 %r1, %r2, %r3;").spread, Spread::upwards);
  EXPECT_EQ(role("mul.hi.s32 %r1, %r2, %r3;").spread, Spread::all);
  EXPECT_EQ(role("add.f32 %r1, %r2, %r3;").spread, Spread::all);
  EXPECT_EQ(role("and.b32 %r1, %r2, 15;").spread, Spread::bit_and);
  EXPECT_EQ(role("and.pred %p1, %p2, %p3;").spread, Spread::bit_and);
  EXPECT_EQ(role("mov.b64 {%r1, %r2}, %d1;").spread, Spread::unpack);
  EXPECT_EQ(role("mov.b64 %d1, {%r1, %r2};").spread, Spread::pack);
  EXPECT_EQ(role("cvt.u64.u32 %d1, %r2;").spread, Spread::copy);
  EXPECT_EQ(role("cvt.rn.f32.s32 %r1, %r2;").spread, Spread::all);
  EXPECT_EQ(role("setp.ne.b32 %p1, %r2, 0;").spread, Spread::equal);
  EXPECT_EQ(role("setp.eq.f32 %p1, %r2, 0f00000000;").spread, Spread::compare);
  EXPECT_EQ(role("setp.lt.bf16 %p1, %r2, %r3;").spread, Spread::compare);
}

TEST_F(PtxUnset, StoresSideBySideMayFillAStructure) {
  analyse(
      "st.global.v2.u32 [%d1], {%r1, %r2};\nst.global.u32 [%d1+8], %r3;\n"
      "st.global.u32 [%d1+64], %r3;\nst.global.u32 [%d2+12], %r3;\nret;");
  const auto found = neighbouring_stores(function(), graph_);
  EXPECT_THAT(found[0], ElementsAre(1u));
  EXPECT_THAT(found[1], ElementsAre(0u));
  EXPECT_THAT(found[2], IsEmpty());
  EXPECT_THAT(found[3], IsEmpty());
}

}  // namespace
}  // namespace warpmeter::model::ptx
