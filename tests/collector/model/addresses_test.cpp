// SPDX-License-Identifier: MIT
// The machine's answer to a register that holds an address of another space than the access says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

// As an H100 does (driver 580.159, 2026-11-26): people hand a pointer to inline assembly.
TEST(Addresses, OfSharedAccessesAreTheLowerHalfOfGenericOnes) {
  const std::string text = module_with(".param .u64 out", R"(
    .reg .b32 %r<5>; .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, s;
    cvta.shared.u64 %rd5, %rd4;
    add.s64 %rd6, %rd5, %rd2;
    shl.b32 %r2, %r1, 1;
    st.shared.u32 [%rd6+4], %r2;
    atom.shared.add.u32 %r3, [%rd6+4], 5;
    ld.shared.u32 %r4, [%rd6+4];
    st.global.u32 [%rd3], %r4;
    ret;)",
                                       ".shared .align 4 .b8 s[64];");
  const TestRun run =
      run_ptx(text, "k", geometry(1, 4), {TestArgument::buffer(std::vector<std::uint32_t>(4))});
  EXPECT_THAT(run.buffer<std::uint32_t>(0), testing::ElementsAre(5, 7, 9, 11));
}

}  // namespace
}  // namespace warpmeter::model
