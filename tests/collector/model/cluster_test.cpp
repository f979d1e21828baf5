// SPDX-License-Identifier: MIT
// Clusters of blocks: in which order they begin, what they wait for, what they reach, and what
// becomes of those that do it wrong. Results and counts of nvcc's are held to an H100's in
// tests/runtime (clusters.cu).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "collector/model/machine/cluster.h"
#include "tests/collector/model/on_units.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Geometry in_clusters_of(std::uint32_t cluster, std::uint32_t grid, std::uint32_t block) {
  Geometry result = geometry(grid, block);
  result.cluster = {cluster, 1, 1};
  return result;
}

TEST(Clusters, BeginOneAfterTheOther) {
  const Dim3 grid{4, 2, 2}, cluster{2, 2, 1};
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < grid.count(); ++i) {
    order.push_back(block_in_clusters(i, grid, cluster));
  }
  EXPECT_THAT(order, ElementsAre(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
  EXPECT_EQ(rank_in_cluster({3, 1, 1}, cluster), 3u);
  EXPECT_EQ(rank_in_cluster({2, 1, 0}, cluster), 2u);
}

// Each block keeps its index in shared memory, and stores to out[block × 64 + thread] what it finds
// in the block that is `step` further in its cluster, `rounds` times, with a barrier before each.
constexpr std::string_view exchange = R"(
  .reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .pred %p<4>;
  .shared .align 4 .b8 mine[256];
  ld.param.u64 %rd1, [out]; ld.param.u32 %r10, [step]; ld.param.u32 %r11, [rounds];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %cluster_ctarank;
  mov.u32 %r4, %cluster_nctarank; mov.u32 %r12, %ntid.x;
  shl.b32 %r5, %r1, 2; mov.u32 %r6, mine; add.s32 %r5, %r5, %r6;
  mad.lo.u32 %r7, %r2, 1000, %r1; st.shared.u32 [%r5], %r7;
  add.s32 %r8, %r3, %r10; rem.u32 %r8, %r8, %r4;
  mapa.shared::cluster.u32 %r9, %r5, %r8;
  mov.u32 %r13, 0; mov.u32 %r14, 0;
again:
  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
  ld.shared::cluster.u32 %r15, [%r9]; add.s32 %r13, %r13, %r15;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  ld.shared.u32 %r16, [%r5]; add.s32 %r16, %r16, 1; st.shared.u32 [%r5], %r16;
  add.s32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, %r11; @%p1 bra again;
  mad.lo.u32 %r17, %r2, %r12, %r1; mul.wide.u32 %rd2, %r17, 4; add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r13; ret;)";
constexpr std::string_view exchange_parameters =
    ".param .u64 out, .param .u32 step, .param .u32 rounds";

TEST(Clusters, ReachEachOthersMemoryBetweenBarriers) {
  constexpr std::uint32_t blocks = 12, threads = 64, cluster = 4, rounds = 3;
  for (const std::uint32_t step : {0u, 1u, 3u}) {
    std::vector<std::uint32_t> right;
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const std::uint32_t first = block / cluster * cluster;
      const std::uint32_t from = first + (block - first + step) % cluster;
      for (std::uint32_t t = 0; t < threads; ++t)
        right.push_back(3 * (from * 1000 + t) + 0 + 1 + 2);
    }
    for (const Unit& unit : units()) {
      for (const bool as_machine_code : {false, true}) {
        if (!lacks(unit, as_machine_code).empty()) continue;
        const TestRun run =
            run_ptx(module_with(exchange_parameters, exchange), "k",
                    in_clusters_of(cluster, blocks, threads),
                    {TestArgument::buffer(std::vector<std::uint32_t>(blocks * threads)),
                     TestArgument::scalar(step), TestArgument::scalar(rounds)},
                    options_of(unit, as_machine_code));
        EXPECT_EQ(run.refusal + run.trap(), "");
        EXPECT_EQ(run.buffer<std::uint32_t>(0), right) << unit.name << ", step " << step;
      }
    }
  }
}

TEST(Clusters, OfOneBlockAreNone) {
  const TestRun run = run_ptx(module_with(exchange_parameters, exchange), "k", geometry(3, 64),
                              {TestArgument::buffer(std::vector<std::uint32_t>(3 * 64)),
                               TestArgument::scalar(1u), TestArgument::scalar(1u)});
  EXPECT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0)[64 + 5], 1005u);
}

std::string trap_of(std::string_view body, std::uint32_t blocks = 4) {
  const std::string declared =
      ".reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>; .shared .align 4 .b8 mine[256];\n"
      "mov.u32 %r1, mine; mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %p1, %r2, 0;\n";
  const TestRun run = run_ptx(module_with("", declared + std::string(body)), "k",
                              in_clusters_of(2, blocks, 32), {});
  return run.refusal + run.trap();
}

TEST(Clusters, AreToldWhatTheyReachInVain) {
  EXPECT_THAT(
      trap_of("mapa.shared::cluster.u32 %r3, %r1, 5; ld.shared::cluster.u32 %r4, [%r3]; ret;"),
      HasSubstr("launch failure: kernel 'k' loads 4 bytes of the shared memory of block 5 of its "
                "cluster at 0x0, which "
                "has 2 blocks"));
  EXPECT_THAT(
      trap_of("barrier.cluster.arrive; barrier.cluster.wait; @!%p1 ret; "
              "mapa.shared::cluster.u32 %r3, %r1, 1; st.shared::cluster.u32 [%r3+256], %r1; "
              "barrier.cluster.arrive; barrier.cluster.wait; ret;"),
      HasSubstr("stores 4 bytes of the shared memory of block 1 of its cluster at 0x100, of "
                "which there are 256 bytes"));
  EXPECT_THAT(trap_of("@!%p1 bra late; mapa.shared::cluster.u32 %r3, %r1, 1; "
                      "ld.shared::cluster.u32 %r4, [%r3]; late: ret;"),
              HasSubstr("which has not begun; let cluster.sync() stand before the first"));
}

/// As an H200 lets them, if it is soon after the end.
TEST(Clusters, ReachABlockThatHasEnded) {
  for (const char* access :
       {"ld.shared::cluster.u32 %r4, [%r3];", "st.shared::cluster.u32 [%r3], %r1;",
        "atom.shared::cluster.add.u32 %r4, [%r3], 1;",
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];"}) {
    for (const char* meets : {"", "barrier.cluster.arrive; barrier.cluster.wait; "}) {
      const std::string body =
          "mbarrier.init.shared.b64 [%r1], 40; barrier.cluster.arrive; "
          "barrier.cluster.wait; @!%p1 ret; mapa.shared::cluster.u32 %r3, %r1, "
          "1; ";
      EXPECT_EQ(trap_of(body + meets + access + " ret;"), "") << access;
    }
  }
}

TEST(Clusters, WaitForNobodyForEver) {
  // Block 0 at the barrier, block 1 before it, for a number that nobody stores.
  EXPECT_THAT(trap_of("@%p1 bra waits; loop: ld.volatile.shared.u32 %r4, [%r1]; "
                      "setp.eq.u32 %p2, %r4, 7; @!%p2 bra loop; "
                      "waits: barrier.cluster.arrive; barrier.cluster.wait; ret;"),
              HasSubstr("no progress"));
}

/// In a launch without clusters a fence for the cluster is one for the block; --check goes by that.
TEST(Clusters, AreTheScopeOfABlock) {
  const auto program = [](std::string_view body) {
    return run_ptx(module_with("", body), "k", geometry(1, 32), {}).program;
  };
  const Program of_cluster = program("fence.acq_rel.cluster; ret;");
  ASSERT_EQ(of_cluster.fences.size(), 1u);
  EXPECT_EQ(of_cluster.fences[0].scope, Scope::block);
  EXPECT_TRUE(of_cluster.has_clusters);
  const Program of_device = program("fence.acq_rel.gpu; ret;");
  EXPECT_EQ(of_device.fences[0].scope, Scope::device);
  EXPECT_FALSE(of_device.has_clusters);
}

TEST(Clusters, HaveToDivideTheGrid) {
  const auto refusal = [](std::uint32_t cluster, std::uint32_t blocks, std::string_view before) {
    const std::string text = module_with("", "ret;");
    std::string with = text;
    with.replace(with.find("k()") + 3, 0, std::string(before));
    return run_ptx(with, "k", in_clusters_of(cluster, blocks, 32), {}).refusal;
  };
  EXPECT_EQ(refusal(2, 8, ""), "");
  EXPECT_EQ(refusal(1, 8, ".explicitcluster .reqnctapercluster 2, 1, 1"), "");
  EXPECT_THAT(refusal(3, 8, ""),
              HasSubstr("a grid of 8×1×1 blocks cannot be divided into clusters of 3×1×1"));
  EXPECT_THAT(refusal(1, 7, ".reqnctapercluster 2"), HasSubstr("cannot be divided"));
  EXPECT_THAT(refusal(17, 34, ""), HasSubstr("none that a device takes (1 to 16)"));
  EXPECT_THAT(refusal(4, 8, ".reqnctapercluster 2, 1, 1"),
              HasSubstr("kernel 'k' runs in clusters of 2×1×1 blocks, not 4×1×1"));
}

}  // namespace
}  // namespace warpmeter::model
