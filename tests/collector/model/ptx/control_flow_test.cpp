// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/control_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Analysed {
  explicit Analysed(const std::string& text)
      : module(parsed(text)), function(module->functions[0]), graph(graph_of(function)) {}

  std::unique_ptr<Module> module;
  const Function& function;
  ControlFlow graph;

  /// The label before which the threads meet that part at the first branch to `target`; "end" when
  /// they do not, "?" before an instruction without a label.
  std::string meeting_of_branch_to(std::string_view target) const {
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const auto& operands = function.body[i].operands;
      if (operands.empty() || operands[0].name != target) continue;
      const std::size_t meeting = graph.reconvergence(i);
      if (meeting == nowhere) return "end";
      for (const auto& [label, place] : function.labels) {
        if (place == meeting) return std::string(label);
      }
      return "?";
    }
    return "no such branch";
  }
};

std::string meeting(const std::string& body, std::string_view target) {
  return Analysed(entry(body)).meeting_of_branch_to(target);
}

TEST(PtxControlFlow, CutsBlocksAtTargetsAndAfterBranches) {
  const Analysed k(
      entry("mov.u32 %r1, 1;\nunused: mov.u32 %r2, 2;\n@%p1 bra L;\n"
            "mov.u32 %r3, 3;\nL: bar.sync 0;\nret;"));
  ASSERT_EQ(k.graph.blocks.size(), 3u);
  EXPECT_THAT(k.graph.block_of, ElementsAre(0, 0, 0, 1, 2, 2));
  EXPECT_THAT(k.graph.blocks[0].successors, ElementsAre(1, 2));
  EXPECT_THAT(k.graph.blocks[2].predecessors, ElementsAre(0, 1));
  EXPECT_TRUE(k.graph.blocks[2].leaves);
  EXPECT_FALSE(k.graph.blocks[0].leaves);
}

TEST(PtxControlFlow, AnIfMeetsBehindIt) {
  EXPECT_EQ(meeting("@%p1 bra L;\nmov.u32 %r1, 1;\nL: bar.sync 0;\nret;", "L"), "L");
}

TEST(PtxControlFlow, AnIfWithElseMeetsBehindBoth) {
  EXPECT_EQ(
      meeting("@%p1 bra E;\nmov.u32 %r1, 1;\nbra M;\nE: mov.u32 %r1, 2;\nM: bar.sync 0;\nret;",
              "E"),
      "M");
}

TEST(PtxControlFlow, ALoopMeetsBehindIt) {
  const std::string body =
      "L: add.u32 %r1, %r1, 1;\n@%p2 bra C;\nmov.u32 %r2, 1;\nC: setp.lt.u32 %p1, %r1, %r2;\n"
      "@%p1 bra L;\nA: bar.sync 0;\nret;";
  EXPECT_EQ(meeting(body, "L"), "A");
  EXPECT_EQ(meeting(body, "C"), "C");
}

TEST(PtxControlFlow, ABreakMeetsBehindTheLoop) {
  EXPECT_EQ(meeting("L: add.u32 %r1, %r1, 1;\n@%p2 bra A;\nmov.u32 %r2, 1;\n@%p1 bra L;\n"
                    "A: bar.sync 0;\nret;",
                    "A"),
            "A");
}

TEST(PtxControlFlow, ABranchThroughATargetListMeetsBehindAllCases) {
  const Analysed k(
      entry("T: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA: mov.u32 %r2, 1;\nbra M;\n"
            "B: mov.u32 %r2, 2;\nbra M;\nC: mov.u32 %r2, 3;\nM: bar.sync 0;\nret;"));
  EXPECT_THAT(k.graph.blocks[0].successors, ElementsAre(1, 2, 3));
  EXPECT_EQ(k.meeting_of_branch_to("%r1"), "M");
}

// The code of ptxas for this function is described in control_flow.h.
TEST(PtxControlFlow, ThreadsThatOnlyEndDoNotKeepTheOthersApart) {
  const std::string with_branch =
      "@%p1 bra E;\nmov.u32 %r1, 1;\n@%p2 bra R;\nmov.u32 %r2, 1;\nbra M;\nE: mov.u32 %r1, 2;\n"
      "M: bar.sync 0;\nR: ret;";
  EXPECT_EQ(meeting(with_branch, "E"), "M");
  EXPECT_EQ(meeting(with_branch, "R"), "?");  // where the threads that stay go on
  const std::string with_guard =
      "@%p1 bra E;\nmov.u32 %r1, 1;\n@%p2 exit;\nmov.u32 %r2, 1;\nbra M;\nE: mov.u32 %r1, 2;\n"
      "M: bar.sync 0;\nret;";
  EXPECT_EQ(meeting(with_guard, "E"), "M");
  const std::string by_a_detour =
      "@%p1 bra E;\n@%p2 bra D;\nmov.u32 %r2, 1;\nbra M;\nD: bra.uni R;\nE: mov.u32 %r1, 2;\n"
      "M: bar.sync 0;\nR: ret;";
  EXPECT_EQ(meeting(by_a_detour, "E"), "M");
}

TEST(PtxControlFlow, NorDoThreadsThatDoSomethingBeforeTheyEnd) {
  const std::string with_ending =
      "@%p1 bra E;\n@%p2 bra R;\nmov.u32 %r2, 1;\nbra M;\nE: mov.u32 %r1, 2;\n"
      "M: bar.sync 0;\nret;\nR: st.global.u32 [%d1], %r1;\n";
  EXPECT_EQ(meeting(with_ending + "ret;", "E"), "M");
  EXPECT_EQ(meeting(with_ending + "@%p3 bra R;\nret;", "E"), "M");
  EXPECT_EQ(meeting(with_ending + "@%p3 bra S;\nst.global.u32 [%d1], %r2;\nS: ret;", "E"), "M");
}

TEST(PtxControlFlow, WhereBothSidesEndByThemselvesNobodyMeets) {
  EXPECT_EQ(meeting("@%p1 bra E;\nst.global.u32 [%d1], %r1;\nret;\n"
                    "E: st.global.u32 [%d1], %r2;\nret;",
                    "E"),
            "end");
}

TEST(PtxControlFlow, AWayOutOfALoopIsMetAtEvenIfItOnlyLeadsToTheEnd) {
  const std::string body =
      "L: @%p1 bra F;\nadd.u32 %r1, %r1, 1;\n@%p2 bra L;\nret;\n"
      "F: st.global.u32 [%d1], %r1;\nret;";
  EXPECT_EQ(meeting(body, "F"), "F");
}

TEST(PtxControlFlow, InADeviceFunctionAReturnIsAPathLikeAnother) {
  const Analysed f(with_header(
      ".func f () {\n.reg .pred %p<3>;\n@%p1 bra E;\n@%p2 bra R;\nbra M;\nE: bar.sync 1;\n"
      "M: bar.sync 0;\nR: ret;\n}"));
  EXPECT_EQ(f.meeting_of_branch_to("E"), "R");
}

TEST(PtxControlFlow, ALoopThatNothingLeavesStillMeetsInside) {
  const Analysed k(
      entry("L: @%p1 bra E;\nmov.u32 %r1, 1;\nbra C;\nE: mov.u32 %r1, 2;\n"
            "C: bar.sync 0;\nbra L;"));
  EXPECT_EQ(k.meeting_of_branch_to("E"), "C");
  EXPECT_FALSE(k.graph.blocks.back().leaves);
}

TEST(PtxControlFlow, ALoopThatOnlyTheEndLeavesIsNoneThatEndsTheOnesBefore) {
  const std::string body =
      "@%p2 bra E;\nH: @%p1 bra M;\nadd.u32 %r1, %r1, 1;\nbra H;\nE: mov.u32 %r1, 2;\n"
      "M: bar.sync 0;\nL: @%p2 bra R;\nadd.u32 %r2, %r2, 1;\nbra L;\nR: ret;";
  EXPECT_EQ(meeting(body, "E"), "M");
  EXPECT_EQ(meeting(body, "M"), "M");
}

TEST(PtxControlFlow, UnreachableBlocksAreMarkedAndMeetNobody) {
  const Analysed k(entry("bra M;\nL: mov.u32 %r1, 1;\n@%p1 bra L;\nM: ret;"));
  ASSERT_EQ(k.graph.blocks.size(), 3u);
  EXPECT_TRUE(k.graph.blocks[0].is_reachable);
  EXPECT_FALSE(k.graph.blocks[1].is_reachable);
  EXPECT_EQ(k.graph.blocks[1].meeting, nowhere);
  EXPECT_THAT(k.graph.order, ElementsAre(0, 2));
}

TEST(PtxControlFlow, ABodyMayEndWithoutReturn) {
  const Analysed k(entry("@%p1 bra L;\nmov.u32 %r1, 1;\nL:"));
  ASSERT_EQ(k.graph.blocks.size(), 2u);
  EXPECT_TRUE(k.graph.blocks[0].leaves);
  EXPECT_TRUE(k.graph.blocks[1].leaves);
  EXPECT_THAT(Analysed(entry("")).graph.blocks, IsEmpty());
}

TEST(PtxControlFlow, ABranchToNowhereIsReportedWithItsLine) {
  const auto module = parsed(entry("bar.sync 0;\n@%p1 bra L;\nret;"));
  const auto result = control_flow(module->functions[0]);
  const auto* problem = std::get_if<Diagnostic>(&result);
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->line, 9);
  EXPECT_EQ(problem->message, "'bra' goes to 'L', which is no label of function 'k'");
}

TEST(PtxControlFlow, AMissingTargetListIsReportedToo) {
  const auto module = parsed(entry("brx.idx %r1, T;\nret;"));
  const auto result = control_flow(module->functions[0]);
  const auto* problem = std::get_if<Diagnostic>(&result);
  ASSERT_NE(problem, nullptr);
  EXPECT_EQ(problem->message, "'brx.idx' goes to 'T', which is no label of function 'k'");
}

// The kernel of features.cu whose machine code was looked at: the threads of the branch on the
// parity meet before the last loop, although some end inside.
TEST(PtxControlFlow, MeetsWherePtxasDoesInAKernelWithEarlyReturns) {
  const auto module = parsed(data_file("features_sm_90.ptx"));
  const Function& function = *module->find("returns_early");
  const ControlFlow graph = graph_of(function);
  const auto first_branch = std::find_if(
      function.body.begin(), function.body.end(),
      [](const Instruction& i) { return i.opcode == Opcode::bra && i.guard.has_value(); });
  const auto meeting_at =
      graph.reconvergence(static_cast<std::size_t>(first_branch - function.body.begin()));
  ASSERT_NE(meeting_at, nowhere);
  // A comparison that belongs to no line, and then the last loop's branch.
  ASSERT_TRUE(function.body[meeting_at + 1].location.has_value());
  EXPECT_EQ(function.body[meeting_at + 1].location->line, 126);
}

TEST(PtxControlFlow, ThreadsThatStayInALoopMeetThoughOthersBreakOut) {
  // while (p1) { if (p2) { if (p3) break; } C }
  const std::string body =
      "L: add.u32 %r1, %r1, 1;\n@%p2 bra C;\nmov.u32 %r2, 1;\n@%p3 bra A;\nmov.u32 %r2, 2;\n"
      "C: setp.lt.u32 %p1, %r1, %r2;\n@%p1 bra L;\nA: bar.sync 0;\nret;";
  EXPECT_EQ(meeting(body, "C"), "C");
  EXPECT_EQ(meeting(body, "A"), "A");
  EXPECT_EQ(meeting(body, "L"), "A");
  const Analysed k(entry(body));
  const Block& header = k.graph.blocks[k.graph.block_of[k.function.labels.at("L")]];
  EXPECT_TRUE(header.gathers);
  EXPECT_EQ(k.graph.place(header.behind), k.function.labels.at("A"));
}

TEST(PtxControlFlow, AJumpOutOfTwoLoopsLeavesBoth) {
  // for (…) { for (…) { if (p3) goto A; } C } A:
  const std::string body =
      "O: mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n@%p3 bra A;\nmov.u32 %r2, 1;\n@%p1 bra L;\n"
      "C: add.u32 %r2, %r2, 1;\n@%p2 bra O;\nA: bar.sync 0;\nret;";
  EXPECT_EQ(meeting(body, "L"), "C");
  EXPECT_EQ(meeting(body, "A"), "A");
  EXPECT_EQ(meeting(body, "O"), "A");
  const Analysed k(entry(body));
  const auto block_at = [&](const char* label) {
    return k.graph.blocks[k.graph.block_of[k.function.labels.at(label)]];
  };
  EXPECT_TRUE(block_at("O").gathers);
  EXPECT_FALSE(block_at("L").gathers);
}

TEST(PtxControlFlow, ALoopWithoutInnerMeetingsGathersNobody) {
  const Analysed k(
      entry("L: add.u32 %r1, %r1, 1;\n@%p2 bra A;\nmov.u32 %r2, 1;\n@%p1 bra L;\nA: ret;"));
  EXPECT_FALSE(k.graph.blocks[0].gathers);
}

}  // namespace
}  // namespace warpmeter::model::ptx
