#include "collector/model/ptx/opcodes.h"

#include <gtest/gtest.h>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

Opcode opcode_of(const std::string& text) {
  Instruction instruction;
  instruction.text = text;
  const Opcode* found = find_opcode(instruction);
  return found == nullptr ? Opcode{"unknown"} : *found;
}

TEST(PtxOpcodes, FindsTheLongestEntryOfWholeComponents) {
  EXPECT_EQ(opcode_of("bar.sync").name, "bar");
  EXPECT_EQ(opcode_of("bar.red.popc.u32").name, "bar.red");
  EXPECT_EQ(opcode_of("bar.redder").name, "bar");
  EXPECT_EQ(opcode_of("cp.async.bulk.commit_group").name, "cp.async.bulk.commit_group");
  EXPECT_EQ(opcode_of("cp.async.ca.shared.global").name, "cp.async");
  EXPECT_EQ(opcode_of("add").name, "add");
  EXPECT_EQ(opcode_of("addx.u32").name, "unknown");
  EXPECT_EQ(opcode_of("cp").name, "unknown");
}

TEST(PtxOpcodes, KnowsWhichInstructionsHaveAResult) {
  for (const char* text : {"add.u32", "ld.global.u32", "atom.add.u32", "shfl.sync.up.b32", "call",
                           "bar.red.and.pred", "setp.lt.u32", "activemask.b32"}) {
    EXPECT_TRUE(opcode_of(text).writes_first) << text;
  }
  for (const char* text :
       {"st.shared.u32", "red.add.u32", "bra.uni", "bar.sync", "ret", "membar.gl",
        "cp.async.ca.shared.global", "prefetch.global.L2", "trap"}) {
    EXPECT_FALSE(opcode_of(text).writes_first) << text;
  }
}

TEST(PtxOpcodes, ReportsTheFirstUnknownInstructionWithItsLine) {
  const auto module = parsed(entry("mov.u32 %r1, 2;\nfrobnicate.u32 %r1, %r2;\nret;"));
  const auto problem = check_opcodes(module->functions[0]);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->line, 9);
  EXPECT_EQ(problem->message, "unknown instruction 'frobnicate.u32' in function 'k'");
  EXPECT_FALSE(check_opcodes(parsed(entry("ret;"))->functions[0]).has_value());
}

TEST(PtxOpcodes, TellsTheSpaceOfAnAccess) {
  const auto module =
      parsed(entry("ld.volatile.shared::cta.u32 %r1, [%r2];\nst.global.v2.u32 [%d1], {%r1, %r2};\n"
                   "ld.u32 %r1, [%d1];\nld.const.u32 %r1, [%d1];\nret;"));
  const auto& body = module->functions[0].body;
  EXPECT_EQ(access_space(body[0]), Space::shared);
  EXPECT_EQ(access_space(body[1]), Space::global);
  EXPECT_EQ(access_space(body[2]), Space::none);
  EXPECT_EQ(access_space(body[3]), Space::constant);
  EXPECT_EQ(address_position(body[0]), 1u);
  EXPECT_EQ(address_position(body[1]), 0u);
  EXPECT_FALSE(address_position(body[4]).has_value());
}

}  // namespace
}  // namespace warpmeter::model::ptx
