// SPDX-License-Identifier: MIT
// Lanes that part and meet: branches, loops, early returns, tables, calls, barriers.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::string_view prologue =
    " .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;\n"
    " ld.param.u64 %rd1, [out];\n mov.u32 %r1, %tid.x;\n mul.wide.u32 %rd2, %r1, 4;\n"
    " add.s64 %rd3, %rd1, %rd2;\n";

/// Runs `body` for one block; %r1 is the thread, [%rd3] its result.
TestRun run_body(const std::string& body, std::uint32_t threads, std::string_view before = "",
                 const LaunchOptions& options = {}) {
  return run_ptx(module_with(".param .u64 out", std::string(prologue) + body, before), "k",
                 geometry(1, threads), {TestArgument::buffer(Numbers(threads))}, options);
}

template <class Function>
Numbers expected_of(std::uint32_t threads, Function function) {
  Numbers values(threads);
  for (std::uint32_t i = 0; i < threads; ++i) values[i] = function(i);
  return values;
}

TEST(ControlFlow, TakesBothSidesOfABranchAndMeetsAgain) {
  const TestRun run = run_body(R"(
    setp.lt.u32 %p1, %r1, 10;
    @%p1 bra LOW;
    mov.u32 %r2, 100;
    bra.uni MEET;
  LOW:
    mov.u32 %r2, 200;
  MEET:
    activemask.b32 %r3;
    popc.b32 %r3, %r3;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd3], %r2;
    ret;)",
                               32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0),
            expected_of(32, [](std::uint32_t i) { return (i < 10 ? 200u : 100u) + 32; }));
}

TEST(ControlFlow, TakesNumbersForPredicates) {
  const TestRun run = run_body(R"(
    setp.lo.xor.u32 %p1|%p2, %r1, 10, 1;
    selp.u32 %r2, 1, 0, %p1;
    @%p2 add.u32 %r2, %r2, 2;
    and.pred %p1, %p2, 0;
    @%p1 add.u32 %r2, %r2, 4;
    selp.u32 %r3, 8, 16, 7;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd3], %r2;
    ret;)",
                               32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  // p is (a < b) xor 1, q is not (a < b), xor 1.
  EXPECT_EQ(run.buffer<std::uint32_t>(0),
            expected_of(32, [](std::uint32_t i) { return (i < 10 ? 2u : 1u) + 8; }));
}

TEST(ControlFlow, NestsBranches) {
  const TestRun run = run_body(R"(
    mov.u32 %r2, 0;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @!%p1 bra END;
    and.b32 %r3, %r1, 2;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra INNER;
    and.b32 %r3, %r1, 4;
    setp.ne.u32 %p3, %r3, 0;
    @%p3 add.u32 %r2, %r2, 1000;
    add.u32 %r2, %r2, 1;
    bra.uni JOIN;
  INNER:
    add.u32 %r2, %r2, 10;
  JOIN:
    add.u32 %r2, %r2, 100;
  END:
    st.global.u32 [%rd3], %r2;
    ret;)",
                               64);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0), expected_of(64, [](std::uint32_t i) {
              if (i % 2 != 0) return 0u;
              return 100u + (i & 2 ? 1u + (i & 4 ? 1000u : 0u) : 10u);
            }));
}

TEST(ControlFlow, LoopsAsOftenAsEachLaneAsks) {
  const TestRun run = run_body(R"(
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
  LOOP:
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra DONE;
    add.u32 %r2, %r2, %r3;
    add.u32 %r3, %r3, 1;
    bra.uni LOOP;
  DONE:
    activemask.b32 %r4;
    popc.b32 %r4, %r4;
    mad.lo.u32 %r2, %r4, 1000, %r2;
    st.global.u32 [%rd3], %r2;
    ret;)",
                               40);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0), expected_of(40, [](std::uint32_t i) {
              return i * (i - 1) / 2 + 1000 * (i < 32 ? 32 : 8);
            }));
}

TEST(ControlFlow, LeavesLoopsInTheMiddle) {
  const TestRun run = run_body(R"(
    mov.u32 %r2, 0;
  LOOP:
    add.u32 %r2, %r2, 1;
    mul.lo.u32 %r3, %r2, %r2;
    setp.gt.u32 %p1, %r3, %r1;
    @%p1 bra OUT;
    setp.lt.u32 %p2, %r2, 4;
    @%p2 bra LOOP;
    add.u32 %r2, %r2, 50;
  OUT:
    st.global.u32 [%rd3], %r2;
    ret;)",
                               32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0), expected_of(32, [](std::uint32_t i) {
              for (std::uint32_t n = 1; n <= 4; ++n) {
                if (n * n > i) return n;
              }
              return 54u;
            }));
}

TEST(ControlFlow, LetsSomeLanesReturnEarly) {
  const TestRun run = run_body(R"(
    setp.ge.u32 %p1, %r1, 20;
    @%p1 ret;
    and.b32 %r2, %r1, 3;
    setp.eq.u32 %p2, %r2, 3;
    @%p2 exit;
    st.global.u32 [%rd3], 7;
    bar.sync 0;
    ret;)",
                               48);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0),
            expected_of(48, [](std::uint32_t i) { return i < 20 && i % 4 != 3 ? 7u : 0u; }));
}

TEST(ControlFlow, JumpsThroughTables) {
  const TestRun run = run_body(R"(
    and.b32 %r2, %r1, 3;
    TABLE: .branchtargets A, B, C, A;
    brx.idx %r2, TABLE;
  A:
    mov.u32 %r3, 1;
    bra.uni MEET;
  B:
    mov.u32 %r3, 2;
    bra.uni MEET;
  C:
    mov.u32 %r3, 3;
  MEET:
    activemask.b32 %r4;
    popc.b32 %r4, %r4;
    mad.lo.u32 %r3, %r4, 10, %r3;
    st.global.u32 [%rd3], %r3;
    ret;)",
                               32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0), expected_of(32, [](std::uint32_t i) {
              const std::uint32_t of[] = {1, 2, 3, 1};
              return 320 + of[i % 4];
            }));
}

constexpr std::string_view twice_and_clamp = R"(
.func (.param .b32 result) clamp(.param .b32 value)
{
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.u32 %r1, [value];
  setp.lt.u32 %p1, %r1, 20;
  @%p1 bra SMALL;
  st.param.b32 [result], 20;
  ret;
SMALL:
  st.param.b32 [result], %r1;
  ret;
}
.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [value];
  add.u32 %r1, %r1, %r1;
  { .param .b32 in; .param .b32 out;
    st.param.b32 [in], %r1;
    call.uni (out), clamp, (in);
    ld.param.b32 %r2, [out]; }
  st.param.b32 [result], %r2;
  ret;
}
)";

TEST(ControlFlow, CallsFunctionsThatCallFunctions) {
  const TestRun run = run_body(R"(
    { .param .b32 in; .param .b32 out;
      st.param.b32 [in], %r1;
      call.uni (out), twice, (in);
      ld.param.b32 %r2, [out]; }
    { .param .b32 in; .param .b32 out;
      st.param.b32 [in], %r2;
      call (out), twice, (in);
      ld.param.b32 %r3, [out]; }
    activemask.b32 %r4;
    popc.b32 %r4, %r4;
    mad.lo.u32 %r3, %r4, 100, %r3;
    st.global.u32 [%rd3], %r3;
    ret;)",
                               32, twice_and_clamp);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0), expected_of(32, [](std::uint32_t i) {
              return 3200 + std::min(2 * std::min(2 * i, 20u), 20u);
            }));
}

TEST(ControlFlow, PassesDataBetweenWarpsThroughABarrier) {
  const TestRun run = run_body(R"(
    .shared .align 4 .b32 tile[128];
    mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    bar.sync 0;
    sub.u32 %r5, 508, %r3;
    add.u32 %r5, %r2, %r5;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd3], %r6;
    ret;)",
                               128);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0),
            expected_of(128, [](std::uint32_t i) { return 127 - i; }));
}

TEST(ControlFlow, ReducesOverABarrier) {
  const TestRun run = run_body(R"(
    setp.lt.u32 %p1, %r1, 50;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, !%p1;
    selp.u32 %r3, 1000, 0, %p2;
    selp.u32 %r4, 2000, 0, %p3;
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd3], %r2;
    ret;)",
                               70);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0), Numbers(70, 2050));
}

TEST(ControlFlow, HasNamedBarriersForSomeWarps) {
  // Warp 0 only says that it was there; warps 1 and 2 wait for it and each other.
  const TestRun run = run_body(R"(
    .shared .align 4 .b32 word;
    setp.ge.u32 %p1, %r1, 96;
    @%p1 ret;
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra CONSUME;
    mov.u32 %r2, 77;
    st.shared.u32 [word], %r2;
    bar.arrive 1, 96;
    ret;
  CONSUME:
    bar.sync 1, 96;
    ld.shared.u32 %r3, [word];
    st.global.u32 [%rd3], %r3;
    ret;)",
                               128);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0),
            expected_of(128, [](std::uint32_t i) { return i >= 32 && i < 96 ? 77u : 0u; }));
}

TEST(ControlFlow, LetsWarpsWaitForEachOtherInALoop) {
  // The first warp spins until the last one has written: it must not run for ever.
  const TestRun run = run_body(R"(
    .shared .align 4 .b32 flag;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra WRITE;
  SPIN:
    ld.volatile.shared.u32 %r2, [flag];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra SPIN;
    st.global.u32 [%rd3], %r2;
    ret;
  WRITE:
    st.volatile.shared.u32 [flag], 5;
    ret;)",
                               64);
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0),
            expected_of(64, [](std::uint32_t i) { return i < 32 ? 5u : 0u; }));
}

TEST(ControlFlow, CountsInstructionsOfActiveLanes) {
  const TestRun run = run_body(R"(
    setp.lt.u32 %p1, %r1, 8;
    @!%p1 bra END;
    add.u32 %r2, %r1, 1;
    add.u32 %r2, %r2, 1;
  END:
    st.global.u32 [%rd3], %r1;
    ret;)",
                               32);
  ASSERT_EQ(run.refusal + run.trap(), "");
  // Six before the branch included, two by eight lanes, and the store and the return.
  EXPECT_EQ(run.outcome.warp_instructions, 6u + 2 + 2);
  EXPECT_EQ(run.outcome.thread_instructions, 6u * 32 + 2 * 8 + 2 * 32);
}

TEST(ControlFlow, KnowsWhereEachThreadIs) {
  const std::string body = R"(
    .reg .b32 %r<32>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
    mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;
    mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;
    mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;
    mad.lo.u32 %r12, %r3, %r5, %r2;
    mad.lo.u32 %r12, %r12, %r4, %r1;
    mad.lo.u32 %r13, %r9, %r11, %r8;
    mad.lo.u32 %r13, %r13, %r10, %r7;
    mul.lo.u32 %r14, %r4, %r5;
    mul.lo.u32 %r14, %r14, %r6;
    mad.lo.u32 %r15, %r13, %r14, %r12;
    mul.wide.u32 %rd2, %r15, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r16, %laneid; mov.u32 %r17, %warpid;
    mad.lo.u32 %r18, %r17, 32, %r16;
    mad.lo.u32 %r18, %r13, 1000, %r18;
    st.global.u32 [%rd3], %r18;
    ret;)";
  const Geometry shape{{3, 2, 2}, {5, 3, 4}, 0};
  const TestRun run = run_ptx(module_with(".param .u64 out", body), "k", shape,
                              {TestArgument::buffer(Numbers(12 * 60))});
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(run.buffer<std::uint32_t>(0),
            expected_of(12 * 60, [](std::uint32_t i) { return i / 60 * 1000 + i % 60; }));
}

/// PTX 1.x had them in 16 bits, and PTX of today still takes the lower half of them: as a value to
/// convert, to move and to compute with.
TEST(ControlFlow, KnowsWhereEachThreadIsIn16Bits) {
  const std::string body = R"(
    .reg .u64 %d<4>; .reg .u32 %r<6>; .reg .u16 %h<4>;
    ld.param.u64 %d1, [out];
    mov.u16 %h1, %tid.x; mov.b16 %h2, %ntid.x;
    cvt.s32.u16 %r1, %ctaid.x; cvt.u32.u16 %r2, %h1; cvt.u32.u16 %r3, %h2;
    mad.lo.u32 %r4, %r1, %r3, %r2;
    mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
    mul.wide.u16 %r5, %h2, %ctaid.x; add.u16 %h3, %h1, %nctaid.x; cvt.u32.u16 %r1, %h3;
    add.u32 %r5, %r5, %r1;
    st.global.u32 [%d3], %r5;
    exit;)";
  for (const std::string head :
       {".version 1.2\n.target sm_10\n.entry k {.param .u64 out;",
        ".version 1.4\n.target sm_10\n.entry k(.param .u64 out) {",
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out) {"}) {
    const TestRun run =
        run_ptx(head + body + "}", "k", geometry(3, 64), {TestArgument::buffer(Numbers(192))});
    ASSERT_EQ(run.refusal + run.trap(), "");
    EXPECT_EQ(run.buffer<std::uint32_t>(0),
              expected_of(192, [](std::uint32_t i) { return i / 64 * 64 + i % 64 + 3; }));
  }
}

/// Each block stores %smid, %nsmid, %nwarpid, what %globaltimer is at first, and how many turns a
/// loop takes that waits for a microsecond.
TEST(Control, SpecialRegistersAreOfADeviceAndItsTimeGoesOn) {
  const std::string body = R"(
    .reg .b32 %r<10>; .reg .b64 %rd<5>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mad.wide.u32 %rd1, %r1, 32, %rd1;
    mov.u32 %r2, %smid; mov.u32 %r3, %nsmid; mov.u32 %r4, %nwarpid; mov.u32 %r5, %clock_hi;
    mov.u64 %rd2, %globaltimer; mov.u32 %r6, %globaltimer_hi; mov.u32 %r7, %globaltimer_lo;
    mov.u32 %r8, 0;
  again:
    add.u32 %r8, %r8, 1;
    mov.u64 %rd3, %globaltimer;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p, %rd4, 1000;
    @%p bra again;
    st.global.u32 [%rd1], %r2; st.global.u32 [%rd1+4], %r3; st.global.u32 [%rd1+8], %r4;
    st.global.u32 [%rd1+12], %r5; st.global.u32 [%rd1+16], %r6; st.global.u32 [%rd1+20], %r7;
    cvt.u32.u64 %r9, %rd2; st.global.u32 [%rd1+24], %r9; st.global.u32 [%rd1+28], %r8;
    ret;)";
  const auto run_at = [&](std::uint64_t began_at) {
    LaunchOptions options;
    options.began_at = began_at;
    const TestRun run = run_ptx(module_with(".param .u64 out", body), "k", geometry(134, 32),
                                {TestArgument::buffer(Numbers(134 * 8))}, options);
    EXPECT_EQ(run.refusal + run.trap(), "");
    return run.buffer<std::uint32_t>(0);
  };
  constexpr std::uint64_t then = 0x1800'0000'0000'0000;
  const Numbers values = run_at(then), later = run_at(then + 123'456'789);
  for (std::uint32_t block = 0; block < 134; ++block) {
    const std::uint32_t* of = values.data() + std::size_t{8} * block;
    EXPECT_EQ(of[0], block % 132);
    EXPECT_EQ(of[1], 132U);
    EXPECT_EQ(of[2], 64U);
    EXPECT_EQ(of[3], 0U);
    EXPECT_EQ(of[4], then >> 32);
    EXPECT_LT(of[5] - of[6], 10U);  // its low half is read two instructions later
    EXPECT_GT(of[5], of[6]);
    EXPECT_EQ(of[7], later[std::size_t{8} * block + 7]);
  }
}

}  // namespace
}  // namespace warpmeter::model
