// SPDX-License-Identifier: MIT
// The effects of a kernel on its module's variables.
#include "collector/model/ptx/memory/variable_uses.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

/// "reads", "writes", "escapes" of `v` by the kernel `k`; "" when it does not touch it.
std::string use_of_v(const std::string& body, const std::string& more = "") {
  const auto module = parsed(
      fmt::format(".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 v[64];\n"
                  ".const .align 4 .b8 c[64];\n{}\n.visible .entry k(.param .u64 p)\n{{\n"
                  ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\n{}\nret;\n}}\n",
                  more, body));
  const auto uses = variable_uses(*module, *module->find("k"));
  const auto found = uses.find(&module->variables.front());
  if (found == uses.end()) return "";
  const VariableUse& use = found->second;
  return fmt::format("{}{}{}", use.reads ? " reads" : "", use.writes ? " writes" : "",
                     use.escapes ? " escapes" : "");
}

TEST(PtxVariableUses, ByItsName) {
  EXPECT_EQ(use_of_v("ld.global.u32 %r1, [v];"), " reads");
  EXPECT_EQ(use_of_v("ld.global.u32 %r1, [v+8];"), " reads");
  EXPECT_EQ(use_of_v("st.global.u32 [v], %r1;"), " writes");
  EXPECT_EQ(use_of_v("atom.global.add.u32 %r1, [v], 1;"), " reads writes");
  EXPECT_EQ(use_of_v("red.global.add.u32 [v], 1;"), " reads writes");
  EXPECT_EQ(use_of_v("prefetch.global.L2 [v];"), "");
  EXPECT_EQ(use_of_v("ld.const.u32 %r1, [c];"), "");
  EXPECT_EQ(use_of_v(""), "");
}

TEST(PtxVariableUses, ByItsAddress) {
  const std::string address = "mov.u64 %rd1, v; cvta.global.u64 %rd2, %rd1; ";
  EXPECT_EQ(use_of_v(address + "add.s64 %rd3, %rd2, 16; ld.u32 %r1, [%rd3];"), " reads");
  EXPECT_EQ(use_of_v(address + "add.s64 %rd3, %rd2, 16; st.u32 [%rd3], %r1;"), " writes");
  EXPECT_EQ(use_of_v(address + "mov.u64 %rd1, c; ld.u32 %r1, [%rd2];"), " reads");
  EXPECT_EQ(use_of_v("ld.param.u64 %rd3, [p]; " + address + "st.u64 [%rd3], %rd2;"), " escapes");
  EXPECT_EQ(use_of_v("mov.u64 %rd4, v; setp.eq.s32 %p1, %r1, 0; "
                     "selp.b64 %rd5, %rd4, %rd3, %p1; ld.global.u32 %r1, [%rd5];"),
            " reads");
  // A register that is used anew does not hand the address on.
  EXPECT_EQ(use_of_v("mov.u64 %rd1, v; ld.global.u64 %rd1, [%rd1];"), " reads");
}

TEST(PtxVariableUses, ByAFunctionThatItCalls) {
  const std::string function = ".func f() { .reg .b32 %r<2>; ld.global.u32 %r1, [v]; ret; }\n";
  EXPECT_EQ(use_of_v("call f;", function), " reads");
  EXPECT_EQ(use_of_v("", function), "");
  EXPECT_EQ(use_of_v("mov.u64 %rd1, f;", function), " reads") << "through a pointer";
  EXPECT_EQ(use_of_v("call g;", function + ".func g() { call f; ret; }\n"), " reads");
}

TEST(PtxVariableUses, ByAPointerThatStartsWithItsAddress) {
  const std::string pointer = ".global .align 8 .u64 to = v;\n";
  EXPECT_EQ(use_of_v("ld.global.u64 %rd1, [to]; ld.global.u32 %r1, [%rd1];", pointer), " escapes");
  EXPECT_EQ(use_of_v("", pointer), "");
}

TEST(PtxVariableUses, NotByAnotherOfThatName) {
  EXPECT_EQ(use_of_v(".local .b32 v; ld.local.u32 %r1, [v];"), "");
}

}  // namespace
}  // namespace warpmeter::model::ptx
