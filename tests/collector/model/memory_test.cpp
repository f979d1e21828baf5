// SPDX-License-Identifier: MIT
// Where addresses lead and what accesses cost: allocations, the spaces, vectors, atomics, and that
// the remembered path counts as the careful one does.
#include "collector/model/machine/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "collector/model/counts/rules/counting.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::uint32_t>;

constexpr std::string_view memory_prologue =
    " .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .f32 %f<8>; .reg .b64 %rd<16>;\n"
    " ld.param.u64 %rd1, [out];\n mov.u32 %r1, %tid.x;\n mul.wide.u32 %rd2, %r1, 4;\n"
    " add.s64 %rd3, %rd1, %rd2;\n";

TestRun run_in_memory(const std::string& body, std::uint32_t threads, std::string_view before = "",
                      std::size_t words = 0, std::uint32_t grid = 1) {
  return run_ptx(module_with(".param .u64 out", std::string(memory_prologue) + body, before), "k",
                 geometry(grid, threads),
                 {TestArgument::buffer(Numbers(words == 0 ? threads : words))});
}

TEST(DeviceMemory, AlignsAllocationsAndKeepsThemApart) {
  DeviceMemory memory;
  const std::uint64_t a = memory.allocate(std::vector<std::byte>(5), "a");
  const std::uint64_t b = memory.allocate(std::vector<std::byte>(4 << 20), "b");
  const std::uint64_t c = memory.allocate({}, "c");
  for (const std::uint64_t address : {a, b, c}) EXPECT_EQ(address % 256, 0u);
  EXPECT_GE(b - a, 1u << 20);
  EXPECT_GE(c - b, 8u << 20);
  EXPECT_EQ(memory.find(a + 4)->name, "a");
  EXPECT_EQ(memory.find(a + 5), nullptr);
  EXPECT_EQ(memory.find(a - 1), nullptr);
  EXPECT_EQ(memory.find(c), nullptr) << "an empty allocation holds nothing";
  EXPECT_EQ(memory.remove(b).size(), 4u << 20);
  EXPECT_EQ(memory.find(b), nullptr);
  EXPECT_TRUE(memory.remove(b).empty());
}

TEST(Memory, ExtendsAndCutsNarrowTypes) {
  const TestRun run = run_in_memory(R"(
    st.global.u8 [%rd1], 200;
    ld.global.s8 %r2, [%rd1];
    ld.global.u8 %h1, [%rd1];
    cvt.u32.u16 %r3, %h1;
    ld.global.s8 %rd4, [%rd1];
    shr.u64 %rd4, %rd4, 60;
    cvt.u32.u64 %r4, %rd4;
    mov.u32 %r5, 0x12345678;
    st.global.u16 [%rd1], %r5;
    ld.global.u32 %r5, [%rd1];
    st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
    ret;)",
                                    1, "", 4);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_THAT(run.buffer<std::uint32_t>(0), ElementsAre(0xffffffc8, 200, 15, 0x5678));
}

TEST(Memory, HasAllSpacesBehindGenericAddresses) {
  const TestRun run = run_in_memory(R"(
    .shared .align 8 .b32 tile[32];
    .local .align 8 .b8 own[8];
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r2, %r2, %r3;
    cvt.u64.u32 %rd4, %r2;
    cvta.shared.u64 %rd5, %rd4;
    st.u32 [%rd5], %r1;
    ld.shared.u32 %r4, [%r2];
    mov.u64 %rd6, own;
    cvta.local.u64 %rd7, %rd6;
    st.u32 [%rd7+4], %r4;
    ld.local.u32 %r5, [own+4];
    mov.u64 %rd8, table;
    cvta.const.u64 %rd9, %rd8;
    ld.u32 %r6, [%rd9+8];
    ld.const.u32 %r7, [table+4];
    cvta.to.shared.u64 %rd10, %rd5;
    cvt.u32.u64 %r8, %rd10;
    ld.shared.u32 %r9, [%r8];
    cvta.to.global.u64 %rd11, %rd3;
    add.u32 %r10, %r5, %r6;
    add.u32 %r10, %r10, %r7;
    add.u32 %r10, %r10, %r9;
    isspacep.shared %p1, %rd5;
    isspacep.local %p2, %rd7;
    isspacep.global %p3, %rd3;
    isspacep.global %p4, %rd5;
    isspacep.const %p5, %rd9;
    and.pred %p6, %p1, %p2;
    and.pred %p6, %p6, %p3;
    and.pred %p6, %p6, %p5;
    not.pred %p4, %p4;
    and.pred %p6, %p6, %p4;
    @%p6 st.u32 [%rd11], %r10;
    ret;)",
                                    32, ".const .align 4 .b32 table[3] = {1, 20, 300};");
  ASSERT_EQ(run.refusal + run.trap(), "");
  Numbers wanted(32);
  for (std::uint32_t i = 0; i < 32; ++i) wanted[i] = 2 * i + 320;
  EXPECT_EQ(run.buffer<std::uint32_t>(0), wanted);
}

TEST(Memory, CountsAGenericAccessInTheSpaceItMeets) {
  // Half of the lanes store to shared, half to global memory.
  const TestRun run = run_in_memory(R"(
    .shared .align 4 .b32 tile[32];
    mov.u64 %rd4, tile;
    cvta.shared.u64 %rd4, %rd4;
    add.s64 %rd4, %rd4, %rd2;
    setp.lt.u32 %p1, %r1, 16;
    selp.b64 %rd5, %rd4, %rd3, %p1;
    st.u32 [%rd5], 9;
    ret;)",
                                    32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  const SiteCounts& counts = run.outcome.counts.back();
  EXPECT_EQ(counts.shared.requests, 1u);
  EXPECT_EQ(counts.shared.transactions, 1u);
  EXPECT_EQ(counts.global.requests, 1u);
  EXPECT_EQ(counts.global.transactions, 2u);
  EXPECT_EQ(counts.global.bytes, 64u);
}

TEST(Memory, GivesEachModuleVariableItsInitialValue) {
  const std::string before =
      ".global .align 4 .u32 number = 7;\n.global .align 8 .u64 pointer = number;\n"
      ".global .align 4 .b8 bytes[8] = {1, 2, 3, 4};\n";
  const TestRun run = run_in_memory(R"(
    ld.global.u32 %r2, [number];
    ld.global.u64 %rd4, [pointer];
    ld.global.u32 %r3, [%rd4];
    ld.global.u32 %r4, [bytes];
    ld.global.u32 %r5, [bytes+4];
    st.global.u32 [number], 8;
    ld.global.u32 %r6, [%rd4];
    st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
    st.global.u32 [%rd1+16], %r6;
    ret;)",
                                    1, before, 5);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_THAT(run.buffer<std::uint32_t>(0), ElementsAre(7, 7, 0x04030201, 0, 8));
}

/// An H200 did this: tests/device/facts/store_conflicts.cu.
TEST(Memory, KeepsTheLowestLaneOfTheLastTurnWhenAllWriteToOnePlace) {
  const struct {
    const char* store;
    std::uint32_t stays;
  } cases[] = {{"st.global.u32 [%rd1], %r1;", 0},
               {"st.global.v2.u32 [%rd1], {%r1, %r1};", 16},
               {"st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r1};", 24}};
  for (const auto& [store, stays] : cases) {
    const TestRun run = run_in_memory(std::string(store) + store + "ret;", 32);
    ASSERT_EQ(run.refusal + run.trap(), "");
    EXPECT_EQ(run.buffer<std::uint32_t>(0)[0], stays) << store;
  }
}

TEST(Memory, KeepsLocalMemoryApartByThread) {
  const TestRun run = run_in_memory(R"(
    .local .align 16 .b8 own[16];
    st.local.u32 [own], %r1;
    st.local.v2.u32 [own+8], {%r1, 5};
    ld.local.u32 %r2, [own];
    ld.local.v2.u32 {%r3, _}, [own+8];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd3], %r2;
    ret;)",
                                    70);
  ASSERT_EQ(run.refusal + run.trap(), "");
  for (std::uint32_t i = 0; i < 70; ++i) EXPECT_EQ(run.buffer<std::uint32_t>(0)[i], 2 * i);
}

struct AtomicCase {
  std::string text;  ///< with the operand %r2, which is the lane plus 1
  std::uint32_t before, after;
};

TEST(Atomics, ChangeMemoryLaneByLane) {
  const AtomicCase cases[] = {
      {"red.global.add.u32 [%rd1], %r2;", 5, 5 + 32 * 33 / 2},
      {"atom.global.add.s32 %r3, [%rd1], %r2;", 5, 5 + 32 * 33 / 2},
      {"atom.global.min.u32 %r3, [%rd1], %r2;", 9, 1},
      {"red.global.max.s32 [%rd1], %r2;", 0xffffffff, 32},
      {"red.global.max.u32 [%rd1], %r2;", 0xffffffff, 0xffffffff},
      {"red.global.and.b32 [%rd1], %r2;", 0xffffffff, 0},
      {"red.global.or.b32 [%rd1], %r2;", 0, 63},
      {"red.global.xor.b32 [%rd1], %r2;", 0, 32},
      {"atom.global.exch.b32 %r3, [%rd1], %r2;", 0, 32},
      {"atom.global.cas.b32 %r3, [%rd1], %r1, %r2;", 0, 32},
      {"atom.global.inc.u32 %r3, [%rd1], 9;", 0, 2},
      {"atom.global.dec.u32 %r3, [%rd1], 9;", 0, 8},
      {"atom.global.gpu.relaxed.add.u32 %r3, [%rd1], 1;", 0, 32},
      {"atom.add.u32 %r3, [%rd1], 1;", 0, 32},
      {"red.global.add.f32 [%rd1], 0f3F800000;", 0, 0x42000000},
      // Global memory makes 0 of a subnormal number, and of one NaN another: an H200's answers.
      {"red.global.add.f32 [%rd1], 0f00000001;", 1, 0},
      {"red.global.add.f32 [%rd1], 0f00000000;", 0x80000001, 0},
      {"atom.add.f32 %f1, [%rd1], 0fFF800000;", 0x7f800000, 0x7fffffff},
      {"red.global.add.f32 [%rd1], 0f3F800000;", 0x7fc12345, 0x7fffffff},
  };
  for (const AtomicCase& a_case : cases) {
    const TestRun run = run_ptx(
        module_with(".param .u64 out", std::string(memory_prologue) + " add.u32 %r2, %r1, 1;\n" +
                                           a_case.text + " ret;"),
        "k", geometry(1, 32), {TestArgument::buffer(Numbers{a_case.before})});
    ASSERT_EQ(run.refusal + run.trap(), "") << a_case.text;
    EXPECT_EQ(run.buffer<std::uint32_t>(0)[0], a_case.after) << a_case.text;
  }
}

TEST(Atomics, ReturnWhatWasThereAndAddUpInABankButNotInASector) {
  const TestRun run = run_in_memory(R"(
    .shared .align 4 .b32 counter;
    st.shared.u32 [counter], 100;
    bar.sync 0;
    atom.shared.add.u32 %r2, [counter], 1;
    st.global.u32 [%rd3], %r2;
    atom.global.add.u32 %r3, [%rd1], 0;
    ret;)",
                                    32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(run.buffer<std::uint32_t>(0)[i], 100 + i);
  const auto& counts = run.outcome.counts;
  EXPECT_EQ(counts[2].shared.transactions, 32u) << "lanes on one address add up";
  EXPECT_EQ(counts[2].shared.ideal, 32u);
  EXPECT_EQ(counts[4].global.transactions, 1u) << "the counter's: distinct ones";
}

TEST(Atomics, KeepSubnormalNumbersInSharedMemory) {
  const TestRun run = run_in_memory(R"(
    .shared .align 4 .b32 sum;
    st.shared.u32 [sum], 1;
    bar.sync 0;
    red.shared.add.f32 [sum], 0f00000002;
    bar.sync 0;
    ld.shared.u32 %r2, [sum];
    st.global.u32 [%rd3], %r2;
    ret;)",
                                    32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0)[0], 65u);
}

TEST(Moves, PackAndUnpackBytes) {
  const TestRun run = run_in_memory(R"(
    .reg .b8 %b<4>;
    mov.b32 {%b0, %b1, %b2, %b3}, 0x12f456c8;
    mov.b32 %r2, {%b3, %b1, %b2, 7};
    mov.b16 %h1, {%b2, 0};
    cvt.u32.u16 %r3, %h1;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd3], %r2;
    ret;)",
                                    1);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0)[0], 0x07f45612u + 0xf4u);
}

TEST(Atomics, KeepBlocksInOrder) {
  // Each block takes a ticket and stores it: the order of blocks would show.
  LaunchOptions options;
  options.threads = 4;
  const TestRun run = run_ptx(module_with(".param .u64 out",
                                          R"(.reg .b32 %r<4>; .reg .b64 %rd<4>;
                     ld.param.u64 %rd1, [out];
                     atom.global.add.u32 %r1, [%rd1], 1;
                     mov.u32 %r2, %ctaid.x;
                     mul.wide.u32 %rd2, %r2, 4;
                     add.s64 %rd3, %rd1, %rd2;
                     st.global.u32 [%rd3+4], %r1;
                     ret;)"),
                              "k", geometry(100, 1), {TestArgument::buffer(Numbers(101))}, options);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.outcome.threads, 1u);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(run.buffer<std::uint32_t>(0)[i + 1], i);
}

/// Addresses of every access, kept by the kernel itself, counted one by one.
TEST(Memory, CountsRememberedShapesLikeEachAccessOnItsOwn) {
  // Accesses at out + 4 × (lane × a + i × b) for i below n: shapes stay, bases move.
  constexpr std::uint32_t n = 37;
  for (const std::uint32_t a : {0u, 1u, 2u, 3u, 8u, 33u}) {
    for (const std::uint32_t b : {0u, 1u, 3u, 8u}) {
      const TestRun run = run_in_memory(fmt::format(R"(
        mov.u32 %r2, 0;
        mul.lo.u32 %r3, %r1, {};
      LOOP:
        mad.lo.u32 %r4, %r2, {}, %r3;
        mul.wide.u32 %rd4, %r4, 4;
        add.s64 %rd5, %rd1, %rd4;
        ld.global.u32 %r5, [%rd5];
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p1, %r2, {};
        @%p1 bra LOOP;
        ret;)",
                                                    a, b, n),
                                        32, "", 2048);
      ASSERT_EQ(run.refusal + run.trap(), "");
      AccessCounts wanted;
      for (std::uint32_t i = 0; i < n; ++i) {
        WarpAccess access;
        access.mask = ~0u;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          access.address[lane] = first_allocation + 4 * (lane * a + i * b);
        }
        const Cost cost = global_cost(access);
        wanted += {1, cost.transactions, cost.bytes, cost.ideal};
      }
      const AccessCounts& counts = run.outcome.counts.back().global;
      EXPECT_EQ(counts.requests, wanted.requests);
      EXPECT_EQ(counts.transactions, wanted.transactions) << a << ' ' << b;
      EXPECT_EQ(counts.bytes, wanted.bytes);
      EXPECT_EQ(counts.ideal, wanted.ideal);
    }
  }
}

TEST(Memory, FollowsTheLeaderWhoseShapeChanges) {
  // In round i lane l looks at word 4 × (l × i mod 7), and at words one and `step` beyond it, and
  // odd lanes at one more. The sum tells what every lane saw.
  constexpr std::uint32_t rounds = 9, step = 5;
  Numbers input(64);
  std::mt19937 random(11);
  for (std::uint32_t& value : input) value = random() % 1000;
  for (const std::uint32_t threads : {32u, 64u, 19u}) {
    const std::string text = module_with(".param .u64 out, .param .u64 in, .param .u64 step",
                                         std::string(memory_prologue) + R"(
      ld.param.u64 %rd4, [in];
      ld.param.u64 %rd5, [step];
      shl.b64 %rd9, %rd5, 2;
      and.b32 %r8, %r1, 1;
      setp.ne.u32 %p2, %r8, 0;
      mov.u32 %r2, 0;
      mov.u32 %r9, 0;
    ROUND:
      mul.lo.u32 %r3, %r1, %r2;
      rem.u32 %r3, %r3, 7;
      mul.wide.u32 %rd6, %r3, 16;
      add.s64 %rd7, %rd4, %rd6;
      add.s64 %rd8, %rd7, %rd9;
      mov.u32 %r7, 0;
      ld.global.u32 %r4, [%rd7];
      ld.global.u32 %r5, [%rd7+4];
      ld.global.u32 %r6, [%rd8];
      @%p2 ld.global.u32 %r7, [%rd8+4];
      add.u32 %r9, %r9, %r4;
      add.u32 %r9, %r9, %r5;
      add.u32 %r9, %r9, %r6;
      add.u32 %r9, %r9, %r7;
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 9;
      @%p1 bra ROUND;
      st.global.u32 [%rd3], %r9;
      ret;)");
    const TestRun run =
        run_ptx(text, "k", geometry(2, threads),
                {TestArgument::buffer(Numbers(threads)), TestArgument::buffer(input),
                 TestArgument::scalar(std::uint64_t{step})});
    ASSERT_EQ(run.refusal + run.trap(), "");
    Numbers wanted(threads);
    std::uint64_t sectors = 0;
    for (std::uint32_t i = 0; i < rounds; ++i) {
      for (std::uint32_t begin = 0; begin < threads; begin += 32) {
        WarpAccess access;
        for (std::uint32_t lane = begin; lane < std::min(threads, begin + 32); ++lane) {
          const std::uint32_t at = 4 * (lane * i % 7);
          wanted[lane] += input[at] + input[at + 1] + input[at + step];
          if (lane % 2 != 0) wanted[lane] += input[at + step + 1];
          access.mask |= 1u << (lane - begin);
          access.address[lane - begin] = first_allocation + 4 * (at + step);
        }
        sectors += 2 * global_cost(access).transactions;  // by two blocks
      }
    }
    EXPECT_EQ(run.buffer<std::uint32_t>(0), wanted) << threads;
    std::size_t followers = 0;
    for (std::size_t i = 0; i < run.program.sites.size(); ++i) {
      if (run.program.sites[i].leader && ++followers == 2) {
        EXPECT_EQ(run.outcome.counts[i].global.transactions, sectors) << threads;
      }
    }
    EXPECT_EQ(followers, 3u);
  }
}

TEST(Memory, MovesTheSameDataWhateverTheShape) {
  // A permutation, reversed halves, broadcasts: loads and stores of 1, 2, 4 and 8 bytes.
  std::mt19937 random(7);
  Numbers input(64);
  for (std::uint32_t& value : input) value = random();
  for (const auto& [type, bytes] : {std::pair{"u8", 1u}, {"u16", 2u}, {"u32", 4u}, {"u64", 8u}}) {
    for (const std::string index :
         {"mov.u32 %r2, %r1;", "xor.b32 %r2, %r1, 21;", "and.b32 %r2, %r1, 16;", "mov.u32 %r2, 3;",
          "and.b32 %r2, %r1, 15;", "xor.b32 %r2, %r1, 16;"}) {
      for (const std::uint32_t threads : {32u, 19u}) {
        const std::string text =
            module_with(".param .u64 out, .param .u64 in",
                        fmt::format(R"({}
              {}
              ld.param.u64 %rd4, [in];
              mul.wide.u32 %rd5, %r2, {};
              add.s64 %rd6, %rd4, %rd5;
              mul.wide.u32 %rd7, %r1, {};
              add.s64 %rd8, %rd1, %rd7;
              mov.u32 %r9, 0;
            AGAIN:
              ld.global.{} %rd9, [%rd6];
              st.global.{} [%rd8], %rd9;
              add.u32 %r9, %r9, 1;
              setp.lt.u32 %p1, %r9, 3;
              @%p1 bra AGAIN;
              ret;)",
                                    memory_prologue, index, bytes, bytes, type, type));
        const TestRun run =
            run_ptx(text, "k", geometry(1, threads),
                    {TestArgument::buffer(Numbers(64)), TestArgument::buffer(input)});
        ASSERT_EQ(run.refusal + run.trap(), "");
        for (std::uint32_t i = 0; i < threads; ++i) {
          const std::uint32_t from = index.starts_with("mov.u32 %r2, %r1") ? i
                                     : index.ends_with("21;")              ? i ^ 21
                                     : index.ends_with("%r1, 16;") && index.starts_with("and")
                                         ? (i & 16)
                                     : index.ends_with("3;")  ? 3
                                     : index.ends_with("15;") ? (i & 15)
                                                              : (i ^ 16);
          EXPECT_EQ(std::memcmp(run.buffers[0].data() + i * bytes,
                                run.buffers[1].data() + from * bytes, bytes),
                    0)
              << type << ' ' << index << " thread " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpmeter::model
