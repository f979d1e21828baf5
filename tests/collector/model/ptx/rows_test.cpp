// SPDX-License-Identifier: MIT
#include "collector/model/ptx/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/model/ptx/flow/declared.h"
#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

std::string_view named(std::string_view text) { return row_of(find_opcode(text).opcode).names; }

TEST(PtxRows, TheLongestNameOfWholeWordsIsTheInstructions) {
  EXPECT_EQ(find_opcode("bar.sync").opcode, Opcode::bar_sync);
  EXPECT_EQ(find_opcode("barrier.cta.sync.aligned").opcode, Opcode::bar_sync);
  EXPECT_EQ(find_opcode("bar.red.popc.u32").opcode, Opcode::bar_red);
  EXPECT_EQ(find_opcode("bar.redder").opcode, Opcode::unknown);
  EXPECT_EQ(named("cp.async.bulk.commit_group"), "cp.async.bulk.commit_group");
  EXPECT_EQ(named("cp.async.ca.shared.global"), "cp.async");
  EXPECT_EQ(find_opcode("cp.async.ca.shared.global").end, std::string_view("cp.async").size());
  EXPECT_EQ(named("add"), "add");
  EXPECT_EQ(find_opcode("addx.u32").opcode, Opcode::unknown);
  EXPECT_EQ(find_opcode("cp").opcode, Opcode::unknown);
}

TEST(PtxRows, KnowWhichInstructionsHaveAResult) {
  const auto writes_first = [](std::string_view text) {
    return row_of(find_opcode(text).opcode).effects.writes_first;
  };
  for (const char* text : {"add.u32", "ld.global.u32", "atom.add.u32", "shfl.sync.up.b32", "call",
                           "bar.red.and.pred", "setp.lt.u32", "activemask.b32"}) {
    EXPECT_TRUE(writes_first(text)) << text;
  }
  for (const char* text :
       {"st.shared.u32", "red.add.u32", "bra.uni", "bar.sync", "ret", "membar.gl",
        "cp.async.ca.shared.global", "prefetch.global.L2", "trap"}) {
    EXPECT_FALSE(writes_first(text)) << text;
  }
}

TEST(PtxRows, FormsHoldChoicesAndWhatRepeats) {
  EXPECT_THAT(expanded("a{,.b}.{c,d}"), testing::ElementsAre("a.c", "a.d", "a.b.c", "a.b.d"));
  EXPECT_THAT(expanded("{add{,.cc},sub}.u32"),
              testing::ElementsAre("add.u32", "add.cc.u32", "sub.u32"));
  EXPECT_THAT(expanded("{.x,.y}*.u32"), testing::ElementsAre(".u32", ".x.u32", ".y.u32"));
  const auto is_form = [](std::string_view text) { return read_mnemonic(text).is_form; };
  EXPECT_TRUE(is_form("shfl.sync.bfly.b32"));
  EXPECT_TRUE(is_form("shfl.down.b32"));
  EXPECT_FALSE(is_form("shfl.sync.b32"));
  EXPECT_FALSE(is_form("shfl.sync.bfly.b64"));
  EXPECT_TRUE(is_form("ld.acquire.gpu.global.L1::evict_last.v4.f32"));
  EXPECT_FALSE(is_form("ld.global.v4.f32.v2"));
  EXPECT_FALSE(is_form("ld.global.frob.f32"));
  EXPECT_FALSE(is_form("ld.global"));
}

TEST(PtxRows, SayWhatWordsMeanTogether) {
  const Mnemonic load = read_mnemonic("ld.acquire.gpu.shared::cta.v4.s16");
  EXPECT_EQ(load.opcode, Opcode::ld);
  EXPECT_EQ(load.space, Space::shared);
  EXPECT_EQ(load.order, Order::acquire);
  EXPECT_EQ(load.scope, Scope::gpu);
  EXPECT_EQ(load.parts, 4);
  EXPECT_EQ(load.first_type(), Type::s16);
  EXPECT_TRUE(load.is_strong());
  const Mnemonic conversion = read_mnemonic("cvt.rzi.ftz.s32.f32");
  EXPECT_EQ(conversion.rounding, Rounding::rzi);
  EXPECT_EQ(conversion.first_type(), Type::s32);
  EXPECT_EQ(conversion.last_type(), Type::f32);
  EXPECT_TRUE(conversion.has(Word::ftz));
  EXPECT_EQ(read_mnemonic("frobnicate.u32").opcode, Opcode::unknown);
  EXPECT_TRUE(read_mnemonic("ld.frob.u32").has(Word::unknown));
}

TEST(PtxRows, OfWhatIsRefusedSayWhatItDoesAndWhatToDo) {
  for (std::size_t i = 0; i < row_count; ++i) {
    const Row& row = row_of(static_cast<Opcode>(i));
    EXPECT_EQ(row.is_executed(), row.what.empty()) << row.names;
    for (const std::string& name : expanded(row.names)) {
      EXPECT_EQ(find_opcode(name).opcode, row.opcode) << name << " is the name of two rows";
    }
  }
}

TEST(PtxRows, ReportsTheFirstUnknownInstructionWithItsLine) {
  const auto module = parsed(entry("mov.u32 %r1, 2;\nfrobnicate.u32 %r1, %r2;\nret;"));
  const auto problem = check_opcodes(module->functions[0]);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->line, 9);
  EXPECT_EQ(problem->message, "unknown instruction 'frobnicate.u32' in function 'k'");
  EXPECT_FALSE(check_opcodes(parsed(entry("ret;"))->functions[0]).has_value());
}

TEST(PtxRows, ReportsNamesThatNobodyDeclares) {
  const auto found = [](const std::string& body) {
    const auto wrong = check_names(*parsed(entry(body)));
    return wrong ? wrong->message : "";
  };
  EXPECT_EQ(found("frob.u32 %r1;\nret;"), "unknown instruction 'frob.u32' in function 'k'");
  EXPECT_EQ(found("mov.u32 %r1, 2;\nadd.u32 %zz, %r1, %r1;\nret;"),
            "'add.u32' in function 'k' names %zz, which nobody declares");
  EXPECT_THAT(found("ld.global.u32 %r1, [nowhere];\nret;"), testing::HasSubstr("names nowhere,"));
  EXPECT_THAT(found("@%zz bra end;\nend: ret;"), testing::HasSubstr("names %zz,"));
  EXPECT_THAT(found("mov.b64 %d1, {%r1, %zz};\nret;"), testing::HasSubstr("names %zz,"));
  // All of these are of PTX.
  EXPECT_EQ(found("mov.u32 %r1, %tid.x;\nmov.u32 %r1, WARP_SZ;\nmov.u32 %r1, %envreg3;\n"
                  "mov.u32 %r1, %pm0;\nmov.v4.u32 {%r1, %r2, %r1, %r2}, %tid;\n"
                  "vadd.u32.u32.u32 %r1, %r2.b0, %r2.h1;\n"
                  "{ .reg .b32 own; .shared .b32 place; mov.u32 own, place; }\n"
                  "again: tex.1d.v4.s32.s32 {%r1, %r2, %r1, %r2}, [%d1, {%r1}];\n"
                  "bra again;"),
            "");
}

TEST(PtxRows, TellsTheSpaceOfAnAccess) {
  const auto module =
      parsed(entry("ld.volatile.shared::cta.u32 %r1, [%r2];\nst.global.v2.u32 [%d1], {%r1, %r2};\n"
                   "ld.u32 %r1, [%d1];\nld.const.u32 %r1, [%d1];\nret;"));
  const auto& body = module->functions[0].body;
  EXPECT_EQ(body[0].space, Space::shared);
  EXPECT_EQ(body[1].space, Space::global);
  EXPECT_EQ(body[2].space, Space::none);
  EXPECT_EQ(body[3].space, Space::constant);
  EXPECT_EQ(address_position(body[0]), 1u);
  EXPECT_EQ(address_position(body[1]), 0u);
  EXPECT_FALSE(address_position(body[4]).has_value());
}

}  // namespace
}  // namespace warpmeter::model::ptx
