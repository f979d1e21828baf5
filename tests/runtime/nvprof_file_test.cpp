// SPDX-License-Identifier: MIT
// nvprof's file of a program without a GPU: written, and read again as an old measurement.
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;

TEST_F(RuntimeProgram, IsWrittenAsNvprofsFileAndMergedFromIt) {
  const Outcome written = profile("shared_square", {"--nvprof-out", "square.nvvp"});
  EXPECT_EQ(written.exit_code, 0);
  EXPECT_THAT(written.error, HasSubstr("square.nvvp has "));
  EXPECT_THAT(written.error, HasSubstr("a start and an end of 0 say that a time is not known"));
  const Outcome merged = warpmeter(
      {"merge", "warpmeter.db", "square.nvvp", "-o", "lab.db", "--program", "shared_square"});
  EXPECT_EQ(merged.exit_code, 0) << merged.error;
  EXPECT_THAT(merged.error, HasSubstr("its run has the date"));
  // The run of the model has counters, the one of nvprof's file the metric: history has both.
  const Outcome history =
      warpmeter({"history", "shared_square/row_column", "-m",
                 "shared_load_transactions_per_request", "--db", "lab.db", "--format", "csv"});
  EXPECT_EQ(history.exit_code, 0) << history.error;
  EXPECT_THAT(history.output, HasSubstr(",32,transactions/request,exact,"));
  EXPECT_THAT(history.output, HasSubstr(",32,transactions/request,ptx,"));
  EXPECT_EQ(warpmeter({"query",
                       "SELECT count(*), min(value), max(value) FROM results WHERE variant = "
                       "'row_column' AND metric = 'shared_load_transactions_per_request'",
                       "--db", "lab.db", "--format", "csv"})
                .output,
            "count(*),min(value),max(value)\n2,32,32\n");
}

/// The file names the program, however it is called itself.
TEST_F(RuntimeProgram, KeepsItsNameInNvprofsFile) {
  EXPECT_EQ(profile("shared_square", {"--nvprof-out", "monday.nvvp"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"merge", "monday.nvvp", "-o", "lab.db"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"query", "SELECT DISTINCT family FROM launches", "--db", "lab.db",
                       "--format", "csv"})
                .output,
            "family\nshared_square\n");
}

TEST_F(RuntimeProgram, IsTracedIntoNvprofsFileWhereNothingIsCounted) {
  const Outcome traced =
      run_program({{"profile", "-b", "model", "--nvprof-out", "t.nvvp", program("shared_square")},
                   folder_,
                   {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_EQ(traced.exit_code, 0) << traced.error;
  EXPECT_EQ(value_of("SELECT count(*) > 0 FROM activities WHERE kind = 'call'"), "1");
  EXPECT_THAT(traced.error, HasSubstr("t.nvvp has "));
}

TEST_F(RuntimeProgram, IsNotWrittenOverByNvprofsFile) {
  const Outcome refused = profile("shared_square", {"--nvprof-out", "warpmeter.db"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("--nvprof-out"));
}

}  // namespace
}  // namespace warpmeter::cli
