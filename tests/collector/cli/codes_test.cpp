// SPDX-License-Identifier: MIT
// The kept part of PTX and of a disassembly: one kernel's text, with the source lines as comments.
#include "collector/cli/codes.h"

#include <gmock/gmock.h>

namespace warpmeter::cli {
namespace {

std::string ptx_of(const std::string& text, const char* entry) {
  auto parsed = model::ptx::parse(text);
  const auto* module = std::get_if<std::unique_ptr<model::ptx::Module>>(&parsed);
  return module == nullptr ? "" : ptx_of_entry(**module, entry);
}

TEST(PtxOfEntry, IsTheEntryAloneWithItsSourceLines) {
  const std::string module =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry first_one(\n\t.param .u64 p\n)\n{\n\tret;\n}\n"
      ".visible .entry first(\n\t.param .u64 q\n)\n{\n\t.reg .b32 %r<3>;\n\t.loc\t1 7 3\n"
      "\tmov.u32 %r1, %tid.x;\n\t{\n\tmov.u32 %r2, %r1;\n\t}\n\t.loc\t1 7 9\n\t.loc 2 3 1\n"
      "\tret;\n\n}\n\t.file\t1 \"a b.cu\"\n\t.file\t2 \"m.h\"\n";
  EXPECT_EQ(ptx_of(module, "first"),
            ".visible .entry first(\n\t.param .u64 q\n)\n{\n\t.reg .b32 %r<3>;\n// a b.cu:7\n"
            "\tmov.u32 %r1, %tid.x;\n\t{\n\tmov.u32 %r2, %r1;\n\t}\n// m.h:3\n\tret;\n}\n");
  EXPECT_EQ(ptx_of(module, "first_one"),
            ".visible .entry first_one(\n\t.param .u64 p\n)\n{\n\tret;\n}\n");
  EXPECT_EQ(ptx_of(module, "second"), "");
}

TEST(MachineCodeOf, IsEachFunctionsInstructionsWithTheirSourceLines) {
  // As nvdisasm 13.0 prints it.
  const auto code = machine_code_of(
      "\t.headerflags\t@\"EF_CUDA_SM90\"\n//------ .text.copy "
      "------\n\t.section\t.text.copy,\"ax\"\n"
      "        .global         copy\ncopy:\n.text.copy:\n\t//## File \"k.cu\", line 168\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n\t//## File \"k.cu\", line 168 "
      "inlined at \"k.cu\", line 9\n        /*0010*/              @!P0 EXIT ;\n.L_x_1:\n"
      "\t//## File \"k.cu\", line 170\n        /*0020*/                   BRA `(.L_x_1);\n"
      "\t.section\t.nv.info\n        /*0000*/        .byte 1\n.text.empty:\n");
  ASSERT_EQ(code.size(), 1U);
  EXPECT_EQ(code.at("copy"),
            "// k.cu:168\n        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
            "        /*0010*/              @!P0 EXIT ;\n.L_x_1:\n// k.cu:170\n"
            "        /*0020*/                   BRA `(.L_x_1);\n");
}

}  // namespace
}  // namespace warpmeter::cli
