// SPDX-License-Identifier: MIT
// Samples of instructions, added up by line. The samples themselves need a GPU
// (device/lines_check.sh).
#include "collector/inject/lines/stall_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpmeter::inject {
namespace {

using testing::SizeIs;

TEST(StallsOf, AddsUpByLineAndReasonAndTakesTheIdleOnesAsAPart) {
  const auto stalls =
      stalls_of({{{1, "kernel", 32},
                  {{"smsp__pcsamp_warps_issue_stalled_short_scoreboard", 40},
                   {"smsp__pcsamp_warps_issue_stalled_short_scoreboard_not_issued", 15},
                   {"smsp__pcsamp_warps_issue_stalled_selected", 9},
                   {"smsp__pcsamp_warps_issue_stalled_barrier", 0}}},
                 {{1, "kernel", 48}, {{"smsp__pcsamp_warps_issue_stalled_short_scoreboard", 2}}},
                 {{1, "kernel", 0}, {{"a_new_reason", 3}}}},
                [](const Instruction& at) {
                  return SourcePlace{"a.cu", static_cast<int>(at.offset / 32)};
                });
  ASSERT_THAT(stalls, SizeIs(3));
  EXPECT_EQ(stalls[0].file, "");
  EXPECT_EQ(stalls[0].line, 0);
  EXPECT_EQ(stalls[0].reason, "a_new_reason");
  EXPECT_EQ(stalls[1].reason, "selected");
  EXPECT_EQ(stalls[1].samples, 9U);
  EXPECT_EQ(stalls[2].file, "a.cu");
  EXPECT_EQ(stalls[2].line, 1);
  EXPECT_EQ(stalls[2].reason, "short_scoreboard");
  EXPECT_EQ(stalls[2].samples, 42U);
  EXPECT_EQ(stalls[2].idle_samples, 15U);
}

TEST(SamplesOf, KeepsTheAddressAndCountsIdleOnesOnce) {
  const auto samples = samples_of({{{1, "kernel", 32},
                                    {{"smsp__pcsamp_warps_issue_stalled_barrier", 40},
                                     {"smsp__pcsamp_warps_issue_stalled_barrier_not_issued", 15},
                                     {"smsp__pcsamp_warps_issue_stalled_wait", 0}}},
                                   {{1, "kernel", 48}, {{"a_new_reason", 3}}}});
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[0].address, 32U);
  EXPECT_EQ(samples[0].what, "barrier");
  EXPECT_EQ(samples[0].count, 40U);
  EXPECT_EQ(samples[1].address, 48U);
  EXPECT_EQ(samples[1].what, "a_new_reason");
}

}  // namespace
}  // namespace warpmeter::inject
