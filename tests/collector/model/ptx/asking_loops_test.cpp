// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "collector/model/ptx/flow/asking_loops.h"
#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

/// The registers that decide in the one loop that asks, without those that nothing in it names.
std::set<std::string> deciding(const std::string& body) {
  const auto module = parsed(with_header(
      ".visible .entry k(.param .u64 flag) {\n.reg .pred %p<10>;\n.reg .b32 %r<10>;\n"
      ".reg .b64 %rd<10>;\nld.param.u64 %rd1, [flag];\nmov.u32 %r3, 0;\nmov.u64 %rd2, 0;\nL:\n" +
      body + "@%p1 bra L;\nst.global.u32 [%rd1], %r3;\nret;\n}\n"));
  const Function& function = module->functions[0];
  const DataFlow data = data_flow(function);
  const auto graph = std::get<ControlFlow>(control_flow(function));
  const std::vector<AskingLoop> loops = asking_loops(function, graph, data);
  std::set<std::string> names;
  if (loops.size() != 1) return {std::to_string(loops.size()) + " loops"};
  for (std::size_t id = 0; id < data.registers().size(); ++id) {
    if (loops[0].decides[id]) names.emplace(data.registers()[id].name);
  }
  return names;
}

const std::string ask = "ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n";
using Names = std::set<std::string>;

TEST(PtxAskingLoops, ACountOfTriesDecidesNothing) {
  EXPECT_EQ(deciding(ask + "add.u32 %r3, %r3, 1;\n"), (Names{"%p1", "%r1", "%rd1"}));
}

TEST(PtxAskingLoops, ALimitOfTriesDecides) {
  EXPECT_EQ(deciding("ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p2, %r1, 0;\n"
                     "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 9;\nand.pred %p1, %p2, %p3;\n"),
            (Names{"%p1", "%p2", "%p3", "%r1", "%r3", "%rd1"}));
}

TEST(PtxAskingLoops, TheTimeToSleepDecidesNothing) {
  EXPECT_EQ(deciding(ask + "mov.u64 %rd2, %clock64;\nsetp.gt.u64 %p2, %rd2, 1000;\n"
                           "@%p2 bra M;\nadd.u32 %r3, %r3, 1;\nnanosleep.u32 %r3;\nM:\n"),
            (Names{"%p1", "%r1", "%rd1"}));
}

TEST(PtxAskingLoops, ABranchAroundAStoreDecides) {
  EXPECT_EQ(deciding(ask + "mov.u64 %rd2, %clock64;\nsetp.gt.u64 %p2, %rd2, 1000;\n"
                           "@%p2 bra M;\nst.global.u32 [%rd1+4], %r1;\nM:\n"),
            (Names{"%p1", "%p2", "%r1", "%rd1", "%rd2"}));
}

/// `while (!try_wait_for(limit))`: a loop that ends by the time, in a loop that begins it again.
std::string tried_again(const std::string& at_limit) {
  return "mov.u64 %rd2, %globaltimer;\nI:\n" + ask +
         "@!%p1 bra E;\nmov.u64 %rd3, %globaltimer;\nsub.u64 %rd4, %rd3, %rd2;\n"
         "setp.lt.u64 %p2, %rd4, 1000;\n@%p2 bra I;\n" +
         at_limit + "E:\n";
}

TEST(PtxAskingLoops, TheTimeAfterWhichItAsksAgainDecidesNothing) {
  EXPECT_EQ(deciding(tried_again("")), (Names{"%p1", "%r1", "%rd1"}));
}

TEST(PtxAskingLoops, TheTimeAfterWhichItAsksElsewhereDecidesNothing) {
  for (const std::string time :
       {"mov.u64 %rd3, %clock64", "mov.u64 %rd3, %pm0_64", "mov.b64 %rd3, {%clock, %clock_hi}"}) {
    EXPECT_EQ(
        deciding(
            "mov.u64 %rd2, %clock64;\nI:\n" + time +
            ";\nsub.s64 %rd4, %rd3, %rd2;\nsetp.gt.s64 %p2, %rd4, 499;\n@%p2 bra E;\n"
            "ld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.s32 %p3, %r2, 0;\n@%p3 bra I;\nE:\n" +
            ask),
        (Names{"%p1", "%p3", "%r1", "%r2", "%rd1"}))
        << time;
  }
}

TEST(PtxAskingLoops, TheTimeOfSuspensionDecidesNothing) {
  EXPECT_EQ(
      deciding(
          "mov.u64 %rd2, %globaltimer;\nI:\ncvt.u32.u64 %r4, %rd4;\nsub.s32 %r5, 1000, %r4;\n"
          "mbarrier.try_wait.parity.shared.b64 %p4, [%r6], %r7, %r5;\nselp.b32 %r8, 1, 0, %p4;\n"
          "mov.u64 %rd3, %globaltimer;\nsub.s64 %rd4, %rd3, %rd2;\nsetp.eq.s32 %p1, %r8, 0;\n"
          "setp.lt.s64 %p2, %rd4, 1000;\nand.pred %p3, %p1, %p2;\n@%p3 bra I;\n"),
      (Names{"%p1", "%p4", "%r6", "%r7", "%r8"}));
}

TEST(PtxAskingLoops, TheTimeOfALimitedNumberOfTriesDecides) {
  const std::string gives_up = "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 9;\n";
  EXPECT_EQ(deciding(tried_again(gives_up)),
            (Names{"%p1", "%p2", "%r1", "%r3", "%rd1", "%rd2", "%rd3", "%rd4"}));
}

TEST(PtxAskingLoops, TheTimeAfterWhichItSetsAFlagDecides) {
  EXPECT_EQ(deciding(tried_again("mov.pred %p1, 0;\n")),
            (Names{"%p1", "%p2", "%r1", "%rd1", "%rd2", "%rd3", "%rd4"}));
}

TEST(PtxAskingLoops, TheTimeAfterWhichItChangesMemoryDecides) {
  EXPECT_EQ(deciding(tried_again("red.global.add.u32 [%rd1], 1;\n")),
            (Names{"%p1", "%p2", "%r1", "%rd1", "%rd2", "%rd3", "%rd4"}));
}

TEST(PtxAskingLoops, AreThoseThatAskOthers) {
  EXPECT_EQ(deciding("add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 9;\n"), (Names{"0 loops"}));
}

}  // namespace
}  // namespace warpmeter::model::ptx
