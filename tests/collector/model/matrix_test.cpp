// SPDX-License-Identifier: MIT
// ldmatrix and stmatrix: which lane has which numbers, and what the rows cost.
#include <gtest/gtest.h>

#include <numeric>

#include "collector/model/counts/grades.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

using Halves = std::vector<std::uint16_t>;

/// A kernel of one warp that copies 1024 numbers of 16 bits into shared memory, runs `body`, whose
/// lanes' rows are at %r5, `stride` bytes apart, and stores %r10 to %r13 of every lane.
std::string matrix_kernel(unsigned stride, const std::string& body) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .b64 %rd<9>; .reg .b32 %r<30>; .reg .pred %p<2>;
  .shared .align 128 .b8 tile[8192];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mov.u32 %r3, 0;
FILL:
  mad.lo.u32 %r4, %r3, 32, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd3, %rd1, %rd3;
  ld.global.u32 %r6, [%rd3];
  mad.lo.u32 %r7, %r4, 4, %r2;
  st.shared.u32 [%r7], %r6;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 16;
  @%p1 bra FILL;
  bar.warp.sync 0xffffffff;
  mad.lo.u32 %r5, %r1, {}, %r2;
  mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
  {}
  mul.wide.u32 %rd4, %r1, 16;
  add.u64 %rd4, %rd2, %rd4;
  st.global.v4.u32 [%rd4], {{%r10, %r11, %r12, %r13}};
  ret;
}}
)",
                     stride, body);
}

TestRun run_matrix(unsigned stride, const std::string& body) {
  Halves numbers(1024);
  std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
  return run_ptx(matrix_kernel(stride, body), "k", geometry(1, 32),
                 {TestArgument::buffer(numbers), TestArgument::buffer(Halves(256))});
}

double counter_of(const TestRun& run, std::string_view name) {
  return counter(name, run.program, run.outcome).value.value_or(-1);
}

constexpr const char* load_4 =
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];";
constexpr const char* load_4_trans =
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r10, %r11, %r12, %r13}, [%r5];";

TEST(Matrices, AreLoadedTwoNumbersALane) {
  const TestRun run = run_matrix(16, load_4);
  ASSERT_EQ(run.refusal + run.trap(), "");
  const Halves got = run.buffer<std::uint16_t>(1);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      for (unsigned i = 0; i < 2; ++i) {
        const unsigned row = 8 * matrix + lane / 4, column = lane % 4 * 2 + i;
        EXPECT_EQ(got[lane * 8 + matrix * 2 + i], row * 8 + column) << lane << ' ' << matrix;
      }
    }
  }
}

TEST(Matrices, AreTurnedAroundByTrans) {
  const TestRun run = run_matrix(16, load_4_trans);
  ASSERT_EQ(run.refusal + run.trap(), "");
  const Halves got = run.buffer<std::uint16_t>(1);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = lane % 4 * 2 + i, column = lane / 4;
      EXPECT_EQ(got[lane * 8 + i], row * 8 + column) << lane;
    }
  }
}

TEST(Matrices, CostWhatTheirRowsDifferInTheBusiestColumn) {
  struct Case {
    unsigned stride, wavefronts;
  };
  // Rows that follow each other take the eight columns; rows 128 bytes apart meet in one.
  for (const Case& each : {Case{16, 4}, Case{128, 32}, Case{144, 4}, Case{64, 16}, Case{0, 4}}) {
    const TestRun run = run_matrix(each.stride, load_4);
    ASSERT_EQ(run.refusal + run.trap(), "");
    EXPECT_EQ(counter_of(run, "shared_matrix_load_wavefronts"), each.wavefronts) << each.stride;
    EXPECT_EQ(counter_of(run, "shared_matrix_load_requests"), 1);
    EXPECT_EQ(counter_of(run, "shared_load_requests"), 0) << "no counter of loads holds them";
    EXPECT_EQ(counter_of(run, "shared_matrix_store_requests"), 0);
  }
}

TEST(Matrices, OfOneAndTwoTakeTheRowsOfTheFirstLanes) {
  const TestRun one = run_matrix(128, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r5];");
  ASSERT_EQ(one.refusal + one.trap(), "");
  EXPECT_EQ(counter_of(one, "shared_matrix_load_wavefronts"), 8);
  const TestRun two =
      run_matrix(128, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r5];");
  ASSERT_EQ(two.refusal + two.trap(), "");
  EXPECT_EQ(counter_of(two, "shared_matrix_load_wavefronts"), 16);
}

TEST(Matrices, AreStoredAsTheyAreLoaded) {
  for (const std::string trans : {"", ".trans"}) {
    // Elements beyond the filled ones are stored, and read there row by row.
    const std::string load = fmt::format(
        "ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{%r10, %r11, %r12, %r13}}, [%r5];", trans);
    const std::string store = fmt::format(
        "stmatrix.sync.aligned.m8n8.x4{}.shared.b16 [%r5+2048], {{%r10, %r11, %r12, %r13}};",
        trans);
    const TestRun run =
        run_matrix(16, load + store + "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r5+2048];");
    ASSERT_EQ(run.refusal + run.trap(), "");
    const Halves got = run.buffer<std::uint16_t>(1);
    for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(got[i], i) << trans;
  }
}

TEST(Matrices, StoredTurnedAroundAreTurned) {
  const TestRun run =
      run_matrix(16, std::string(load_4) +
                         "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r5+2048], {%r10};"
                         "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r5+2048];");
  ASSERT_EQ(run.refusal + run.trap(), "");
  const Halves got = run.buffer<std::uint16_t>(1);
  for (unsigned row = 0; row < 8; ++row) {
    for (unsigned column = 0; column < 8; ++column) {
      EXPECT_EQ(got[row * 8 + column], column * 8 + row);
    }
  }
}

TEST(Matrices, StoresCostAsLoadsDo) {
  const TestRun run =
      run_matrix(128, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%r10, %r11, %r12, %r13};");
  ASSERT_EQ(run.refusal + run.trap(), "");
  EXPECT_EQ(counter_of(run, "shared_matrix_store_wavefronts"), 32);
  EXPECT_EQ(counter_of(run, "shared_matrix_store_requests"), 1);
  EXPECT_EQ(counter_of(run, "shared_matrix_load_requests"), 0);
}

}  // namespace
}  // namespace warpmeter::model
