// SPDX-License-Identifier: MIT
// The one line of the progress bar.
#include "collector/cli/progress.h"

#include <gtest/gtest.h>

namespace warpmeter::cli {
namespace {

run::Progress at(std::size_t done, std::size_t total) {
  return {done, total, "transpose", "tiled", 4096, "count"};
}

TEST(ProgressLine, ShowsHowFarAndWhere) {
  EXPECT_EQ(progress_line(at(0, 4), 80), "[....................] 0/4 transpose/tiled 4096: count");
  EXPECT_EQ(progress_line(at(1, 4), 80), "[#####...............] 1/4 transpose/tiled 4096: count");
  EXPECT_EQ(progress_line(at(4, 4), 80), "[####################] 4/4 transpose/tiled 4096: count");
}

TEST(ProgressLine, LeavesOutTheSizeOfAFamilyThatHasOne) {
  EXPECT_EQ(progress_line({0, 1, "smem_square", "set_row_read_col", 0, "run"}, 80),
            "[....................] 0/1 smem_square/set_row_read_col: run");
}

TEST(ProgressLine, FitsANarrowTerminal) {
  EXPECT_EQ(progress_line(at(1, 4), 10), "[#####....");
  EXPECT_EQ(progress_line(at(1, 4), 0), "[");
}

TEST(ProgressLine, SurvivesATotalOfNothing) {
  EXPECT_EQ(progress_line({0, 0, "f", "v", 1, "run"}, 80), "[....................] 0/0 f/v 1: run");
}

}  // namespace
}  // namespace warpmeter::cli
