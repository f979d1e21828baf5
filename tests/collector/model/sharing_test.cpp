// SPDX-License-Identifier: MIT
// Blocks that touch what other blocks write give the same on one thread of the host and on many:
// what they would give one after the other.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

constexpr std::uint32_t blocks = 400;

TestRun run(const std::string& body, const std::vector<std::uint32_t>& memory, unsigned threads) {
  LaunchOptions options;
  options.threads = threads;
  const std::string text = module_with(".param .u64 out",
                                       " .reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .pred %p;\n"
                                       " ld.param.u64 %rd1, [out];\n mov.u32 %r1, %ctaid.x;\n"
                                       " mul.wide.u32 %rd2, %r1, 4;\n add.u64 %rd3, %rd1, %rd2;\n" +
                                           body + "\n ret;");
  return run_ptx(text, "k", geometry(blocks, 1), {TestArgument::buffer(memory)}, options);
}

class Sharing : public testing::TestWithParam<unsigned> {};

TEST_P(Sharing, RunsInOrderWhereABlockReadsWhatTheOneBeforeItWrote) {
  const TestRun chain =
      run(" ld.global.u32 %r2, [%rd3];\n add.u32 %r2, %r2, 1;\n st.global.u32 [%rd3+4], %r2;",
          std::vector<std::uint32_t>(blocks + 1), GetParam());
  std::vector<std::uint32_t> expected(blocks + 1);
  std::iota(expected.begin(), expected.end(), 0);
  ASSERT_EQ(chain.refusal, "");
  EXPECT_EQ(chain.buffer<std::uint32_t>(0), expected);
  EXPECT_EQ(chain.outcome.threads, 1u);
  std::uint64_t requests = 0;
  for (const SiteCounts& site : chain.outcome.counts) requests += site.global.requests;
  EXPECT_EQ(requests, 2 * blocks) << "each block is counted once";
}

TEST_P(Sharing, LetsTheLastBlockWin) {
  const TestRun last =
      run(" st.global.u32 [%rd1], %r1;", std::vector<std::uint32_t>(1), GetParam());
  EXPECT_EQ(last.buffer<std::uint32_t>(0), std::vector<std::uint32_t>{blocks - 1});
}

TEST_P(Sharing, SeesAStoreToWhatWasReadBefore) {
  // Blocks read the word that the last block writes; none but that may see the new value.
  const TestRun late =
      run(" ld.global.u32 %r2, [%rd1];\n st.global.u32 [%rd3+4], %r2;\n"
          " setp.eq.u32 %p, %r1, 200;\n @%p st.global.u32 [%rd1], 7;",
          std::vector<std::uint32_t>(blocks + 1, 1), GetParam());
  const auto after = late.buffer<std::uint32_t>(0);
  for (std::uint32_t i = 1; i <= blocks; ++i) ASSERT_EQ(after[i], i <= 201 ? 1u : 7u) << i;
}

TEST_P(Sharing, RunsIndependentBlocksSideBySide) {
  const TestRun apart =
      run(" ld.global.u32 %r2, [%rd3];\n add.u32 %r2, %r2, 1;\n st.global.u32 [%rd3], %r2;",
          std::vector<std::uint32_t>(blocks, 5), GetParam());
  EXPECT_EQ(apart.buffer<std::uint32_t>(0), std::vector<std::uint32_t>(blocks, 6));
  EXPECT_EQ(apart.outcome.threads, GetParam());
}

TEST_P(Sharing, RunsInOrderWhereBlocksLookAhead) {
  // Each block but the first adds up what stands 40 words on and stores where it stands itself.
  const TestRun ahead =
      run(" ld.global.u32 %r2, [%rd3+160];\n add.u32 %r2, %r2, %r1;\n st.global.u32 [%rd3], %r2;",
          std::vector<std::uint32_t>(blocks + 40, 3), GetParam());
  const auto after = ahead.buffer<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < blocks; ++i) ASSERT_EQ(after[i], i + 3) << i;
  EXPECT_EQ(ahead.outcome.threads, 1u);
}

TEST_P(Sharing, TellsNeighbouringWordsApart) {
  // Warps that store two halves of a row each, at an odd word, over blocks: no word is shared, but
  // every 128 bytes are.
  const std::string text = module_with(
      ".param .u64 out",
      ".reg .b32 %r<6>; .reg .b64 %rd<6>;\n ld.param.u64 %rd1, [out];\n mov.u32 %r1, %ctaid.x;\n"
      " mov.u32 %r2, %tid.x;\n mad.lo.u32 %r3, %r1, 33, %r2;\n mul.wide.u32 %rd2, %r3, 4;\n"
      " add.u64 %rd3, %rd1, %rd2;\n st.global.u32 [%rd3+4], %r3;\n"
      " ld.global.u32 %r4, [%rd3+4];\n st.global.u32 [%rd3+4], %r4;\n ret;");
  LaunchOptions options;
  options.threads = GetParam();
  const TestRun rows =
      run_ptx(text, "k", geometry(blocks, 33),
              {TestArgument::buffer(std::vector<std::uint32_t>(blocks * 33 + 1))}, options);
  ASSERT_EQ(rows.refusal + rows.trap(), "");
  const auto after = rows.buffer<std::uint32_t>(0);
  for (std::uint32_t i = 0; i < blocks * 33; ++i) ASSERT_EQ(after[i + 1], i);
  EXPECT_EQ(rows.outcome.threads, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Threads, Sharing, testing::Values(1u, 2u, 7u, 64u));

}  // namespace
}  // namespace warpmeter::model
