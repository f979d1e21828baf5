#include "collector/model/ptx/sites.h"

#include <gtest/gtest.h>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

std::vector<bool> mergeable(const std::string& body) {
  const auto module = parsed(entry(".shared .b32 s[64];\n" + body));
  return mergeable_accesses(module->functions[0], graph_of(module->functions[0]));
}

using Flags = std::vector<bool>;

TEST(PtxSites, TwoLoadsOfOneBaseInOneBlockMayBeMerged) {
  EXPECT_EQ(mergeable("ld.shared.f32 %r1, [%r5];\nld.shared.f32 %r2, [%r5+4];\n"
                      "ld.shared.f32 %r3, [%r6];\nret;"),
            (Flags{true, true, false, false}));
}

TEST(PtxSites, TheBaseMayBeAVariable) {
  EXPECT_EQ(mergeable("st.shared.u32 [s], %r1;\nst.shared.u32 [s+4], %r1;\nret;"),
            (Flags{true, true, false}));
}

TEST(PtxSites, ALoadAndAStoreOfOneBaseAreOfDifferentKinds) {
  EXPECT_EQ(mergeable("ld.shared.f32 %r1, [%r5];\nst.shared.f32 [%r5+4], %r1;\nret;"),
            (Flags{false, false, false}));
}

TEST(PtxSites, ABranchBetweenTwoLoadsKeepsThemApart) {
  EXPECT_EQ(
      mergeable("ld.shared.f32 %r1, [%r5];\n@%p1 bra L;\nld.shared.f32 %r2, [%r5+4];\nL: ret;"),
      (Flags{false, false, false, false}));
}

TEST(PtxSites, OtherSpacesAndAtomicsDoNotCount) {
  EXPECT_EQ(mergeable("ld.global.f32 %r1, [%d5];\nld.global.f32 %r2, [%d5+4];\n"
                      "atom.shared.add.u32 %r1, [%r5], 1;\nld.shared.u32 %r2, [%r5];\n"
                      "red.shared.add.u32 [%r5], 1;\nret;"),
            Flags(6, false));
}

TEST(PtxSites, GenericAccessesMayBeShared) {
  EXPECT_EQ(mergeable("ld.u32 %r1, [%d5];\nld.u32 %r2, [%d5+4];\nret;"),
            (Flags{true, true, false}));
}

}  // namespace
}  // namespace warpmeter::model::ptx
