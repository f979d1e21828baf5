// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/leaders.h"

#include <gtest/gtest.h>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

/// The leaders of the accesses of a body, by the number of the instruction; -1: none.
std::vector<int> leaders(const std::string& body) {
  const auto module = parsed(
      with_header(".visible .entry k(.param .u64 step) {\n.reg .pred %p<10>;\n.reg .b32 %r<10>;\n"
                  ".reg .b64 %d<10>;\n" +
                  body + "\nret;\n}\n"));
  const Function& function = module->functions[0];
  std::vector<int> result;
  const DataFlow data = data_flow(function);
  for (const std::size_t leader : leading_accesses(function, graph_of(function), data)) {
    result.push_back(leader == nowhere ? -1 : static_cast<int>(leader));
  }
  result.pop_back();
  return result;
}

using Places = std::vector<int>;

TEST(PtxLeaders, TheFirstAccessOfARegisterLeadsTheOthers) {
  EXPECT_EQ(leaders("ld.global.u32 %r1, [%d1];\nst.shared.u32 [%r2], %r1;\n"
                    "ld.global.u32 %r3, [%d1+4];\nst.global.u32 [%d1+8], %r3;"),
            (Places{-1, -1, 0, 0}));
}

TEST(PtxLeaders, ARegisterThatIsWrittenBeginsAnew) {
  EXPECT_EQ(leaders("ld.global.u64 %d1, [%d1];\nld.global.u64 %d2, [%d1];\n"
                    "mad.lo.u64 %d1, %d1, %d1, %d1;\nld.global.u64 %d3, [%d1];"),
            (Places{-1, -1, -1, -1}));
}

TEST(PtxLeaders, SumsWithWhatIsUniformKeepTheClass) {
  const std::string uniform =
      "ld.param.u64 %d9, [step];\nshl.b64 %d8, %d9, 2;\nmov.u32 %r9, %ctaid.x;\n"
      "cvt.u64.u32 %d7, %r9;\nld.global.u32 %r1, [%d1];\n";
  EXPECT_EQ(leaders(uniform + "add.s64 %d2, %d1, %d8;\nld.global.u32 %r1, [%d2];\n"
                              "sub.s64 %d3, %d2, %d7;\nadd.s64 %d3, 8, %d3;\n"
                              "ld.global.u32 %r1, [%d3];"),
            (Places{-1, -1, -1, -1, -1, -1, 4, -1, -1, 4}));
}

TEST(PtxLeaders, WhatDiffersByThreadIsNotUniform) {
  const std::string first = "mov.u32 %r9, %tid.x;\ncvt.u64.u32 %d9, %r9;\nld.u32 %r1, [%d1];\n";
  EXPECT_EQ(leaders(first + "add.s64 %d2, %d1, %d9;\nld.u32 %r1, [%d2];").back(), -1);
  EXPECT_EQ(leaders(first + "@%p1 add.s64 %d1, %d1, 4;\nld.u32 %r1, [%d1];").back(), -1);
  EXPECT_EQ(leaders(first + "sub.s64 %d2, 64, %d1;\nld.u32 %r1, [%d2];").back(), -1);
  EXPECT_EQ(leaders(first + "add.cc.s64 %d2, %d1, 4;\nld.u32 %r1, [%d2];").back(), -1);
  // Two places write it, so which of them it was may differ.
  EXPECT_EQ(leaders("mov.u64 %d9, 8;\n@%p1 mov.u64 %d9, 4;\nld.u32 %r1, [%d1];\n"
                    "add.s64 %d2, %d1, %d9;\nld.u32 %r1, [%d2];")
                .back(),
            -1);
  // A counter: threads leave the loop after different rounds.
  EXPECT_EQ(leaders("L: add.s64 %d9, %d9, 4;\n@%p1 bra L;\nld.u32 %r1, [%d1];\n"
                    "add.s64 %d2, %d1, %d9;\nld.u32 %r1, [%d2];")
                .back(),
            -1);
}

TEST(PtxLeaders, NobodyLeadsPastAPlaceWhereLanesStopOrPart) {
  for (const std::string stop : {"bar.sync 0;", "@%p1 bra M; M:", "@%p1 exit;"}) {
    EXPECT_EQ(leaders("ld.u32 %r1, [%d1];\n" + stop + "\nld.u32 %r1, [%d1];").back(), -1) << stop;
  }
}

TEST(PtxLeaders, AGuardedAccessFollowsButDoesNotLead) {
  EXPECT_EQ(leaders("@%p1 ld.u32 %r1, [%d1];\nld.u32 %r1, [%d1];\n@%p1 ld.u32 %r1, [%d1];"),
            (Places{-1, -1, 1}));
}

}  // namespace
}  // namespace warpmeter::model::ptx
