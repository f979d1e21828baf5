// SPDX-License-Identifier: MIT
// Copies of whole stretches: what they move, what they are told, and what becomes of wrong ones.
// Programs of nvcc are held to an H100's results and counts in tests/runtime (bulk_copies.cu).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/collector/model/on_units.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using testing::HasSubstr;

// %rd1 in, %rd2 out, %r1 thread, %r2 tile, %r3 the barrier object, made for one arrival; %p1: the
// first thread.
constexpr std::string_view begin = R"(
  .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<4>;
  .shared .align 128 .b8 tile[2048]; .shared .align 8 .b8 object[8];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, object;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
  bar.sync 0;
)";
constexpr std::string_view wait = R"(
again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra again;
)";

TestRun run_bulk(const std::string& body, const LaunchOptions& options = {}) {
  std::vector<std::uint32_t> in(512);
  std::iota(in.begin(), in.end(), 1000u);
  return run_ptx(module_with(".param .u64 in, .param .u64 out", std::string(begin) + body), "k",
                 geometry(1, 64),
                 {TestArgument::buffer(in), TestArgument::buffer(std::vector<std::uint32_t>(512))},
                 options);
}

/// Each of eight lanes a stretch of its own, of which 100 bytes are asked for and 96 moved.
TEST(Bulk, CopiesGoThroughSharedMemoryAndBack) {
  const std::string body = R"(
  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 768;
  setp.lt.u32 %p3, %r1, 8; mul.wide.u32 %rd3, %r1, 112; add.s64 %rd4, %rd1, %rd3;
  shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2;
  @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd4], 100, [%r3];
)" + std::string(wait) + R"(
  @!%p3 ret;
  mul.wide.u32 %rd5, %r1, 96; add.s64 %rd6, %rd2, %rd5;
  cp.async.bulk.global.shared::cta.bulk_group [%rd6+256], [%r4], 96;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;)";
  std::vector<std::uint32_t> right(512);
  for (std::uint32_t i = 0; i < 8 * 24; ++i) right[64 + i] = 1000 + i / 24 * 28 + i % 24;
  for (const Unit& unit : units()) {
    for (const bool as_machine_code : {false, true}) {
      if (!lacks(unit, as_machine_code).empty()) continue;
      const TestRun run = run_bulk(body, options_of(unit, as_machine_code));
      EXPECT_EQ(run.refusal + run.trap(), "");
      EXPECT_EQ(run.buffer<std::uint32_t>(1), right) << unit.name;
    }
  }
}

/// Before they are expected, and more of them than are.
TEST(Bulk, BytesAreCountedInAnyOrder) {
  const std::string load =
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 512, "
      "[%r3];";
  const std::string store =
      "ld.shared.u32 %r4, [%r2+508]; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; "
      "st.global.u32 [%rd4], %r4; ret;";
  const std::string expect = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], ";
  for (const std::string& body :
       {load + load + expect + "1024;", expect + "128;" + load, expect + "512;" + load}) {
    const TestRun run = run_bulk(body + std::string(wait) + store);
    EXPECT_EQ(run.refusal + run.trap(), "") << body;
    EXPECT_EQ(run.buffer<std::uint32_t>(1)[63], 1127u) << body;
  }
  const TestRun fewer = run_bulk(expect + "1024;" + load + std::string(wait) + store);
  EXPECT_THAT(fewer.trap(), HasSubstr("nobody brings what is missing: 512 bytes of copies"));
}

TEST(Bulk, SumsOfFloatsKeepSubnormalNumbers) {
  const TestRun run = run_bulk(R"(
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2;
  st.global.u32 [%rd4], %r1; mov.u32 %r5, 7; st.shared.u32 [%r4], %r5; bar.sync 0;
  @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd2], [%r2], 128;
  ret;)");
  EXPECT_EQ(run.refusal + run.trap(), "");
  const std::vector<std::uint32_t> out = run.buffer<std::uint32_t>(1);
  EXPECT_EQ(out[5], 12u);
  EXPECT_EQ(out[31], 38u);
  EXPECT_EQ(out[32], 32u);
}

TEST(Bulk, WrongPlacesAreTold) {
  const auto trap = [](const std::string& to, const std::string& from) {
    const TestRun run = run_bulk("@%p1 cp.async.bulk.global.shared::cta.bulk_group [" + to +
                                 "], [" + from + "], 1024; ret;");
    return run.refusal + run.trap();
  };
  EXPECT_EQ(trap("%rd2", "%r2"), "");
  EXPECT_THAT(trap("%rd2+8", "%r2"), HasSubstr("which is no multiple of 16"));
  EXPECT_THAT(trap("%rd2", "%r2+4"), HasSubstr("which is no multiple of 16"));
  EXPECT_THAT(trap("%rd2", "%r2+1536"), HasSubstr("loads 16 bytes of shared memory at 0x"));
  EXPECT_THAT(trap("0", "%r2"), HasSubstr("stores 16 bytes of global memory"));
  EXPECT_THAT(trap("0", "%r2"), HasSubstr("a null pointer"));
}

TEST(Bulk, BoxesOfTensorsNeedADescriptor) {
  const auto told = [](const std::string& form, const std::string& operands) {
    const TestRun run = run_bulk("@%p1 cp.async.bulk.tensor." + form + " " + operands + "; ret;");
    return run.refusal + run.trap();
  };
  const std::string load = ".shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  EXPECT_THAT(told("1d" + load, "[%r2], [%rd1, {%r1}], [%r3]"),
              HasSubstr("where no descriptor of a tensor is"));
  EXPECT_THAT(told("1d" + load, "[%r2], [%rd1+32, {%r1}], [%r3]"),
              HasSubstr("which is no multiple of 64"));
  EXPECT_THAT(told("2d" + load, "[%r2], [%rd1, {%r1}], [%r3]"),
              HasSubstr("another number of coordinates"));
  EXPECT_THAT(told("3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
                   "[%r2], [%rd1, {%r1, %r1, %r1}], [%r3], {0}"),
              HasSubstr("im2col"));
}

/// One lane waits for what the others of its warp do behind the branch.
TEST(Bulk, LanesOfAWarpWaitForEachOther) {
  const TestRun run = run_bulk(R"(
  setp.gt.u32 %p3, %r1, 1; @%p3 ret;
  @%p1 bra first;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;
  bra.uni meet;
first:
  mov.u32 %r5, %clock;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r3];
again: mov.u32 %r5, %clock;
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra again;
  ld.shared.u32 %r4, [%r2+252]; st.global.u32 [%rd2], %r4;
meet: ret;)");
  EXPECT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(1)[0], 1063u);
}

}  // namespace
}  // namespace warpmeter::model
