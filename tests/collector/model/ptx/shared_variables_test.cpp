// SPDX-License-Identifier: MIT
// Which shared array an access means: known where everything that leads to its address says the
// same.
#include "collector/model/ptx/memory/shared_variables.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

/// The meaning of the body's last load.
std::string meant(const std::string& body) {
  const auto module = parsed(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<10>;
  .shared .align 4 .b8 a[128];
  .shared .align 4 .b8 b[128];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  setp.lt.u32 %p1, %r1, 4;
)" + body + "\n  ret;\n}\n");
  const Function& function = module->functions.at(0);
  const auto found = meant_variables(function, data_flow(function), {"a", "b"});
  for (std::size_t i = function.body.size(); i-- > 0;) {
    if (function.body[i].is(Opcode::ld)) return std::string(found[i]);
  }
  return "no load";
}

TEST(MeantVariables, AreThoseThatTheAddressBeginsWith) {
  EXPECT_EQ(meant("ld.shared.u32 %r9, [a+4];"), "a");
  EXPECT_EQ(meant("mov.u32 %r3, b;\nadd.s32 %r4, %r3, %r2;\nld.shared.u32 %r9, [%r4+8];"), "b");
  EXPECT_EQ(meant("mov.u32 %r3, b;\nmad.lo.s32 %r4, %r1, 4, %r3;\nld.shared.u32 %r9, [%r4];"), "b");
  EXPECT_EQ(meant("mov.u32 %r3, a;\ncvt.u64.u32 %rd1, %r3;\ncvta.shared.u64 %rd2, %rd1;\n"
                  "ld.u32 %r9, [%rd2];"),
            "a");
}

TEST(MeantVariables, StayInALoop) {
  EXPECT_EQ(meant("mov.u32 %r3, a;\nL:\nld.shared.u32 %r9, [%r3];\nadd.s32 %r3, %r3, 4;\n"
                  "@%p1 bra L;"),
            "a");
}

TEST(MeantVariables, AreUnknownWhereThereMayBeAnother) {
  EXPECT_EQ(meant("mov.u32 %r3, a;\nmov.u32 %r4, b;\nselp.b32 %r5, %r3, %r4, %p1;\n"
                  "ld.shared.u32 %r9, [%r5];"),
            "");
  EXPECT_EQ(meant("mov.u32 %r3, a;\n@%p1 mov.u32 %r3, b;\nld.shared.u32 %r9, [%r3];"), "");
  EXPECT_EQ(meant("mov.u32 %r3, a;\n@%p1 mov.u32 %r3, %r2;\nld.shared.u32 %r9, [%r3];"), "");
  EXPECT_EQ(meant("mov.u32 %r3, a;\nmov.u32 %r4, b;\nsub.s32 %r5, %r4, %r3;\n"
                  "add.s32 %r6, %r3, %r5;\nld.shared.u32 %r9, [%r6];"),
            "");
  EXPECT_EQ(meant("ld.shared.u32 %r9, [%r2];"), "");
}

}  // namespace
}  // namespace warpmeter::model::ptx
