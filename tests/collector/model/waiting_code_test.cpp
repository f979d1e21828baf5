// SPDX-License-Identifier: MIT
// Kernels that wait for others are found in their machine code; those that only look like it are
// not. Each expectation follows from the PTX: who may end the loop.
#include "collector/model/counts/sass/waiting.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/collector/model/flag_kernel.h"

namespace warpmeter::model::sass {
namespace {

Waiting waiting_of(std::span<const std::byte> cubin) {
  const auto found = waiting_kernels(cubin);
  return found.empty() ? Waiting() : found.begin()->second;
}

class WaitingCode : public testing::TestWithParam<const char*> {
 protected:
  static Waiting read(const std::string& code, const std::string& functions = "") {
    return waiting_of(cubin_of(GetParam(), code, functions));
  }
  static bool waits(const std::string& code) { return read(code).waits; }
  static bool may_wait(const std::string& code) { return read(code).may_wait; }
};
INSTANTIATE_TEST_SUITE_P(, WaitingCode, testing::Values("sm_75", "sm_80", "sm_90", "sm_100"));

/// A loop that goes on while the register %r1 is 0.
std::string until_set(const std::string& load) {
  return "loop:\n" + load + "\n  setp.eq.u32 %p1, %r1, 0;\n  @%p1 bra loop;\n";
}

TEST_P(WaitingCode, LoopsOnWhatOthersWriteWait) {
  EXPECT_TRUE(waits(until_set("ld.volatile.global.u32 %r1, [%rd1];")));
  EXPECT_TRUE(waits(until_set("ld.relaxed.sys.global.u32 %r1, [%rd1];")));
  EXPECT_TRUE(waits(until_set("ld.acquire.gpu.global.u32 %r1, [%rd1];")));
  EXPECT_TRUE(waits(until_set("ld.volatile.u32 %r1, [%rd1];")));
  EXPECT_TRUE(waits(until_set("ld.global.u32 %r1, [%rd1];\n  membar.gl;")));
  EXPECT_TRUE(waits(until_set("atom.global.add.u32 %r1, [%rd1], 0;")));
  EXPECT_TRUE(waits(until_set("atom.global.sys.or.b32 %r1, [%rd1], 0;")));
  EXPECT_TRUE(waits(until_set("atom.global.xor.b32 %r1, [%rd1], 0;")));
  EXPECT_TRUE(waits(until_set("atom.global.max.u32 %r1, [%rd1], 0;")));
}

TEST_P(WaitingCode, AFenceOfTheBlockIsForNobodyElse) {
  EXPECT_TRUE(waits(until_set("ld.global.u32 %r1, [%rd1];\n  fence.acq_rel.gpu;")));
  EXPECT_FALSE(may_wait(until_set("ld.global.u32 %r1, [%rd1];\n  membar.cta;")));
  EXPECT_FALSE(may_wait(until_set("ld.global.u32 %r1, [%rd1];\n  fence.acq_rel.cta;")));
  if (std::string(GetParam()) < "sm_90" && std::string(GetParam()) != "sm_100") return;
  EXPECT_FALSE(may_wait(until_set("ld.global.u32 %r1, [%rd1];\n  fence.proxy.async.shared::cta;")));
}

/// The flag goes through an array that the thread has for itself, at places that nobody knows.
TEST_P(WaitingCode, AFlagThatWasStoredInLocalMemoryIsStillAwaited) {
  EXPECT_TRUE(waits(R"({
  .local .align 4 .b8 box[64];
  mov.u64 %rd3, box;
  and.b32 %r2, %r9, 12;
  cvt.u64.u32 %rd4, %r2;
  add.u64 %rd4, %rd3, %rd4;
loop:
  ld.volatile.global.u32 %r1, [%rd1];
  st.local.u32 [%rd4], %r1;
  ld.local.u32 %r3, [%rd3+8];
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra loop;
}
)"));
}

/// As cuBLAS adds up the parts of a product: the rounds are counted, and the values are loaded into
/// the registers that held their address.
TEST_P(WaitingCode, ACountedLoopThatAddsUpWhatOthersWroteDoesNotWait) {
  EXPECT_FALSE(may_wait(R"(  mov.u32 %r3, %r9;
  mov.u32 %r2, 0;
loop:
  ld.relaxed.gpu.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];
  add.u32 %r1, %r1, %r4;
  add.u32 %r1, %r1, %r5;
  add.u32 %r1, %r1, %r6;
  add.u32 %r1, %r1, %r7;
  cvt.u64.u32 %rd3, %r3;
  add.u64 %rd1, %rd1, %rd3;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r3;
  @%p1 bra loop;
  st.global.u32 [%rd2], %r1;
)"));
}

/// As cuBLAS's product of a matrix and a vector: the sum of a row decides a branch within the loop
/// over rows, whose end is counted.
TEST_P(WaitingCode, ACountedLoopAroundABranchOnWhatOthersWroteDoesNotWait) {
  EXPECT_FALSE(may_wait(R"({
  .reg .f32 %f<3>;
  cvt.s64.s32 %rd3, %r9;
  shl.b64 %rd4, %rd3, 2;
  mov.u32 %r1, %ctaid.x;
  cvt.u64.u32 %rd5, %r1;
  mov.u32 %r1, %nctaid.x;
  cvt.u64.u32 %rd6, %r1;
row:
  mov.f32 %f1, 0f00000000;
  mov.u32 %r2, 0;
  mov.u64 %rd7, %rd1;
column:
  .pragma "nounroll";
  ld.volatile.global.f32 %f2, [%rd7];
  add.f32 %f1, %f1, %f2;
  add.s64 %rd7, %rd7, %rd4;
  add.s32 %r2, %r2, 1;
  setp.lt.s32 %p1, %r2, %r9;
  @%p1 bra column;
  setp.leu.f32 %p2, %f1, 0f00000000;
  @%p2 bra next;
  shl.b64 %rd8, %rd5, 2;
  add.s64 %rd8, %rd2, %rd8;
  st.global.f32 [%rd8], %f1;
next:
  add.s64 %rd5, %rd5, %rd6;
  setp.lt.s64 %p3, %rd5, %rd3;
  @%p3 bra row;
}
)"));
}

TEST_P(WaitingCode, AFlagThatTheLanesAddUpIsAwaited) {
  if (std::string(GetParam()) == "sm_75") GTEST_SKIP() << "sm_75 has no redux";
  EXPECT_TRUE(waits(R"(loop:
  ld.volatile.global.u32 %r1, [%rd1];
  redux.sync.add.s32 %r3, %r1, 0xffffffff;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra loop;
)"));
}

TEST_P(WaitingCode, LoopsThatGiveUpAfterATimeWait) {
  EXPECT_TRUE(waits(R"(  mov.u64 %rd3, %clock64;
loop:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 7;
  @%p1 bra done;
  mov.u64 %rd4, %clock64;
  sub.u64 %rd4, %rd4, %rd3;
  setp.lt.u64 %p2, %rd4, 200000000;
  @%p2 bra loop;
done:
)"));
}

TEST_P(WaitingCode, LoopsThatEndByAClockAreSeen) {
  for (const std::string clock : {"%clock64", "%globaltimer"}) {
    const Waiting waiting = read(fmt::format(R"(  mov.u64 %rd3, {0};
loop:
  mov.u64 %rd4, {0};
  sub.u64 %rd4, %rd4, %rd3;
  setp.lt.u64 %p2, %rd4, 200000000;
  @%p2 bra loop;
)",
                                             clock));
    EXPECT_TRUE(waiting.times_itself);
    EXPECT_FALSE(waiting.may_wait);
  }
  EXPECT_FALSE(read(R"(  mov.u64 %rd3, %clock64;
loop:
  ld.global.u32 %r9, [%rd1];
  add.s64 %rd1, %rd1, 4;
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra loop;
  mov.u64 %rd4, %clock64;
  sub.u64 %rd4, %rd4, %rd3;
  st.global.u64 [%rd2+8], %rd4;
)")
                   .times_itself);
}

TEST_P(WaitingCode, OneThreadMayLookForAllOfTheBlock) {
  EXPECT_TRUE(waits(R"(  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p2, %r2, 0;
loop:
  @%p2 bra meet;
  ld.volatile.global.u32 %r1, [%rd1];
  st.shared.u32 [word], %r1;
meet:
  bar.sync 0;
  ld.shared.u32 %r3, [word];
  bar.sync 0;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra loop;
)"));
}

// It calls itself, so that ptxas does not inline it.
constexpr const char* waiting_function = R"(.func wait(.param .b64 a)
{
  .reg .pred %p<3>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.b64 %rd1, [a];
loop:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra loop;
  ld.global.u32 %r2, [%rd1+4];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra done;
  add.s64 %rd2, %rd1, 8;
  { .param .b64 next;
  st.param.b64 [next], %rd2;
  call wait, (next); }
done:
  ret;
}
)";
constexpr const char* call_of_it = R"(  { .param .b64 a;
  st.param.b64 [a], %rd1;
  call wait, (a); }
)";

TEST_P(WaitingCode, AFunctionMayWaitForItsKernel) {
  EXPECT_TRUE(read(call_of_it, waiting_function).waits);
  EXPECT_TRUE(waiting_of(cubin_of(GetParam(), call_of_it, waiting_function, true)).waits);
}

// It calls itself, too.
constexpr const char* bits_function = R"(.func (.param .b32 back) bits(.param .b32 a)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  ld.param.b32 %r1, [a];
  mov.u32 %r4, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra done;
  shr.u32 %r2, %r1, 1;
  { .param .b32 rest;
  .param .b32 number;
  st.param.b32 [rest], %r2;
  call (number), bits, (rest);
  ld.param.b32 %r3, [number]; }
  and.b32 %r4, %r1, 1;
  add.u32 %r4, %r4, %r3;
done:
  st.param.b32 [back], %r4;
  ret;
}
)";

TEST_P(WaitingCode, AFlagThatAFunctionJudgesIsAwaited) {
  EXPECT_TRUE(read(R"(loop:
  ld.volatile.global.u32 %r1, [%rd1];
  { .param .b32 a;
  .param .b32 number;
  st.param.b32 [a], %r1;
  call (number), bits, (a);
  ld.param.b32 %r2, [number]; }
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra loop;
)",
                   bits_function)
                  .waits);
}

// Where lanes part and meet again the machine code has BSSY and BSYNC, which call nothing.
TEST_P(WaitingCode, AKernelThatCallsNothingHasNothingOfTheFunctions) {
  const std::string parting = R"(
.visible .entry parting(.param .u64 data) {
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  mov.u32 %r3, 0;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra done;
loop:
  mad.lo.u32 %r3, %r3, %r2, %r1;
  shr.u32 %r2, %r2, 1;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra loop;
done:
  bar.warp.sync 0xffffffff;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";
  const auto found =
      waiting_kernels(cubin_of(GetParam(), call_of_it, waiting_function + parting, true));
  EXPECT_TRUE(found.at("kernel").waits);
  EXPECT_FALSE(found.at("parting").may_wait);
}

TEST_P(WaitingCode, KindsOfAccessAreFoundWhereTheCodeHasThem) {
  const Waiting plain = read("  ld.global.u32 %r8, [%rd1];\n");
  EXPECT_FALSE(plain.loads_generic || plain.stores_generic || plain.copies_in_bulk);
  const Waiting loads = read("  ld.u32 %r8, [%rd1];\n");
  EXPECT_TRUE(loads.loads_generic);
  EXPECT_FALSE(loads.stores_generic || loads.copies_in_bulk);
  const Waiting stores = read("  st.u32 [%rd1], %r9;\n");
  EXPECT_TRUE(stores.stores_generic);
  EXPECT_FALSE(stores.loads_generic || stores.copies_in_bulk);
}

TEST_P(WaitingCode, CopiesInBulkAreFound) {
  if (GetParam() == std::string("sm_75") || GetParam() == std::string("sm_80")) {
    GTEST_SKIP() << GetParam() << " has no copies in bulk";
  }
  const Waiting waiting = read(
      "  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [word], 16;\n"
      "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n");
  EXPECT_TRUE(waiting.copies_in_bulk);
}

/// Code after sm_90 may always: the numbers of its products are not known.
TEST_P(WaitingCode, ProductsOfMatricesAreFound) {
  const bool is_known = GetParam() != std::string("sm_100");
  EXPECT_EQ(read("  mad.lo.u32 %r8, %r9, %r9, 1;\n").multiplies_matrices, !is_known);
  EXPECT_TRUE(read("  .reg .f32 %f<4>;\n"
                   "  mov.f32 %f0, 0f00000000;\n"
                   "  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
                   "{%r9, %r9}, {%r9}, {%f0, %f0, %f0, %f0};\n"
                   "  cvt.rzi.u32.f32 %r8, %f0;\n")
                  .multiplies_matrices);
}

TEST_P(WaitingCode, BlocksOfOneGridThatWaitForEachOtherDoNotCount) {
  EXPECT_FALSE(may_wait("  atom.global.add.u32 %r2, [%rd1], 1;\n" +
                        until_set("ld.acquire.gpu.global.u32 %r1, [%rd1+4];")));
  EXPECT_FALSE(may_wait("  st.relaxed.gpu.global.u32 [%rd2+4], %r9;\n" +
                        until_set("ld.relaxed.gpu.global.u32 %r1, [%rd1];")));
  EXPECT_FALSE(may_wait("  atom.global.exch.b32 %r2, [%rd1+4], 0;\n" +
                        until_set("ld.acquire.gpu.global.u32 %r1, [%rd1];")));
  EXPECT_FALSE(
      may_wait("lock:\n  atom.global.cas.b32 %r1, [%rd1], 0, 1;\n"
               "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra lock;\n"));
}

TEST_P(WaitingCode, AtSystemScopeAGridThatPublishesMayWaitForItself) {
  const Waiting waiting = read("  st.volatile.global.u32 [%rd2+4], %r9;\n" +
                               until_set("ld.volatile.global.u32 %r1, [%rd1];"));
  EXPECT_FALSE(waiting.waits);
  EXPECT_TRUE(waiting.may_wait);
}

TEST_P(WaitingCode, LoopsThatEndByThemselvesDoNotWait) {
  if (std::string(GetParam()) != "sm_75") {  // ptxas uses the register again there
    EXPECT_FALSE(may_wait(R"(loop:
  ld.volatile.global.u32 %r1, [%rd1];
  add.u32 %r8, %r8, %r1;
  add.s64 %rd1, %rd1, 4;
  sub.u32 %r9, %r9, 1;
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra loop;
)"));
  }
  EXPECT_FALSE(may_wait(R"(loop:
  mul.wide.u32 %rd3, %r9, 4;
  add.s64 %rd3, %rd3, %rd1;
  ld.global.u32 %r9, [%rd3];
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra loop;
)"));
  EXPECT_FALSE(may_wait("  ld.volatile.global.u32 %r8, [%rd1];\n"));
}

TEST_P(WaitingCode, CallsOfMallocAndFreeAreSeen) {
  const std::string call = R"(  { .param .b64 bytes;
  .param .b64 place;
  st.param.b64 [bytes], 16;
  call.uni (place), malloc, (bytes);
  ld.param.b64 %rd3, [place]; }
  st.global.u64 [%rd2+8], %rd3;
)";
  EXPECT_TRUE(
      read(call, ".extern .func (.param .b64 place) malloc(.param .b64 bytes);\n").allocates);
  EXPECT_FALSE(read("").allocates);
}

TEST(WaitingCodeFiles, DamagedCubinsDoNoHarm) {
  const std::vector<std::byte> whole =
      cubin_of("sm_90", until_set("ld.volatile.global.u32 %r1, [%rd1];"), "");
  ASSERT_TRUE(waiting_of(whole).waits);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    waiting_kernels(std::span(whole).first(bytes));
  }
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{0xff};
    waiting_kernels(damaged);
  }
}

}  // namespace
}  // namespace warpmeter::model::sass
