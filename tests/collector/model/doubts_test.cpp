// SPDX-License-Identifier: MIT
// The audit doubts an access that ptxas may move, double or leave out, and trusts the others. Each
// kernel is a few lines of PTX whose doubtful access is known, most of them from counts on an H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "collector/model/counts/sass/audit.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::sass {
namespace {

/// The doubts about each access to global memory, in the order of the PTX.
std::vector<std::string_view> doubts(const std::string& body) {
  const std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 x, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
)" + body + "}\n";
  const auto module = std::move(std::get<std::unique_ptr<ptx::Module>>(ptx::parse(text)));
  Program program = std::get<Program>(model::decode(*module, "kernel"));
  const Assembled assembled = assemble(*module);
  EXPECT_EQ(assembled.failure, "");
  EXPECT_EQ(audit(program, *module, assembled.cubin), "");
  std::vector<std::string_view> all;
  for (const SiteInfo& site : program.sites) {
    if (site.space == AddressSpace::global) all.push_back(site.doubt);
  }
  return all;
}

// ptxas loads what only one side of a branch needs on that side, also where PTX loads it before.
TEST(Audit, DoubtsALoadThatOnlyOneSideOfALaterBranchExecutes) {
  const auto said = doubts(R"(
  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [%rd4+4096];
  setp.leu.f32 %p1, %f1, 0f00000000;
  @%p1 bra $done;
  sqrt.rn.f32 %f3, %f2;
  st.global.f32 [%rd5], %f3;
$done:
  ret;
)");
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0], "") << "the load that the branch asks for";
  EXPECT_THAT(said[1], testing::HasSubstr("only where a branch behind it leads"));
  EXPECT_EQ(said[2], "") << "the store behind the branch";
}

// ptxas makes what only a choice needs a load of those lanes that choose it. On an H200 2,114 of
// 2,320 such loads were made.
TEST(Audit, DoubtsALoadThatOnlyAChoiceNeeds) {
  const auto said = doubts(R"(
  ld.global.f32 %f1, [%rd4];
  setp.gt.f32 %p1, %f1, 0f3F800000;
  ld.global.f32 %f2, [%rd4+4096];
  selp.f32 %f3, %f1, %f2, %p1;
  st.global.f32 [%rd5], %f3;
  ret;
)");
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0], "");
  EXPECT_THAT(said[1], testing::HasSubstr("only where a branch behind it leads"));
  EXPECT_EQ(said[2], "");
}

// ptxas makes the guard of a store an end of the thread, and loads behind it. On an H200 9 of 69
// kernels of Triton did (tests/frameworks/recorded).
TEST(Audit, DoubtsALoadThatOnlyALaterGuardedStoreNeeds) {
  const auto said = doubts(R"(
  ld.global.f32 %f1, [%rd4];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.global.f32 [%rd5], %f1;
  ret;
)");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], testing::HasSubstr("only where a branch behind it leads"));
  EXPECT_EQ(said[1], "");
}

// ptxas unrolls the loop by four and loads what two rounds need once: five loads in place of eight,
// as nvdisasm shows.
TEST(Audit, DoubtsALoadWhoseValueAnotherRoundHas) {
  const auto said = doubts(R"(
  ld.global.u32 %r3, [%rd5];
  mov.u32 %r2, 0;
  mov.f32 %f1, 0f00000000;
$again:
  ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd4+512];
  fma.rn.f32 %f1, %f2, %f3, %f1;
  add.s64 %rd4, %rd4, 512;
  add.s32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r3;
  @%p1 bra $again;
  st.global.f32 [%rd5], %f1;
  ret;
)");
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(said[0], "");
  EXPECT_THAT(said[1], testing::HasSubstr("leaves this access out of some rounds"));
  EXPECT_THAT(said[2], testing::Not(testing::HasSubstr("some rounds"))) << "each round needs it";
  EXPECT_EQ(said[3], "") << "the store behind the loop";
}

// ptxas unrolls the loop by four and keeps the last of four stores to one address, as nvdisasm
// shows.
TEST(Audit, DoubtsAStoreThatAnotherRoundCovers) {
  const auto said = doubts(R"(
  ld.global.u32 %r3, [%rd4];
  mov.u32 %r2, 0;
$again:
  st.global.u32 [%rd5], %r2;
  add.s32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r3;
  @%p1 bra $again;
  ret;
)");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], "");
  EXPECT_THAT(said[1], testing::HasSubstr("leaves this access out of some rounds"));
}

TEST(Audit, TrustsAStoreThatEachRoundNeeds) {
  const auto with = [](const std::string& store, const std::string& rest) {
    return doubts(R"(
  ld.global.u32 %r3, [%rd4];
  mov.u32 %r2, 0;
$again:
  )" + store + " [%rd5], %r2;\n" +
                  rest + R"(
  add.s32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r3;
  @%p1 bra $again;
  ret;
)");
  };
  EXPECT_EQ(with("st.volatile.global.u32", "")[1], "");
  EXPECT_EQ(with("st.global.u32", "  add.s64 %rd5, %rd5, 512;")[1], "") << "another address";
  EXPECT_EQ(with("st.global.u32", "  bar.sync 0;")[1], "") << "others may read it";
}

// Lanes whose loop ends with its first round, because they began at its end, have a copy of their
// own. On an H200 a warp made two loads where all its lanes make one round here.
TEST(Audit, DoubtsACopyForLanesThatBeginAtTheEnd) {
  const auto said = doubts(R"(
  and.b32 %r2, %r1, 7;
  add.s32 %r3, %r2, -1;
  mov.f32 %f1, 0f00000000;
$again:
  ld.global.f32 %f2, [%rd4];
  add.f32 %f1, %f1, %f2;
  add.s64 %rd4, %rd4, 128;
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra $again;
  st.global.f32 [%rd5], %f1;
  ret;
)");
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], testing::HasSubstr("ends with its first round"));
  EXPECT_EQ(said[1], "");
}

// Each register is read twice on the way to the next one: 2^60 ways lead from the first on.
TEST(Audit, FollowsALongChainOfRegistersOnce) {
  std::string body = R"(
  .reg .b64 %c<64>;
  mov.u64 %c0, %rd4;
  mov.u64 %c1, %rd4;
  mov.b32 %r3, 0;
$again:
)";
  for (int i = 2; i < 64; ++i) {
    body += "  add.s64 %c" + std::to_string(i) + ", %c" + std::to_string(i - 1) + ", %c" +
            std::to_string(i - 2) + ";\n";
  }
  body += R"(
  ld.volatile.global.u32 %r2, [%c63];
  st.volatile.global.u32 [%c63], %r2;
  st.volatile.global.u32 [%rd5], %r2;
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 9;
  @%p1 bra $again;
  ret;
)";
  EXPECT_EQ(doubts(body).size(), 3u);
}

}  // namespace
}  // namespace warpmeter::model::sass
