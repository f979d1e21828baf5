// SPDX-License-Identifier: MIT
// `run` from the outside: what it stores, what it prints where, and that nothing is lost when it is
// interrupted, killed, or not alone.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Run : public Workspace {
 protected:
  /// Long enough to be caught in the middle, with launches that end soon one after another.
  Start long_run() const {
    std::string sizes = "64";
    for (int size = 65; size < 365; ++size) sizes += "," + std::to_string(size);
    return {{"run", "matmul", "-n", sizes, "-b", "model"}, folder_};
  }

  /// Waits until a launch of the newest run is in the database.
  void wait_for_a_launch() const {
    for (int tries = 0; tries < 600; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const Outcome outcome = warpmeter({"query", "SELECT 1 FROM launches LIMIT 1"});
      if (outcome.exit_code == 0 && outcome.output.find('1') != std::string::npos &&
          value_of("SELECT count(*) FROM launches") != "0") {
        return;
      }
    }
    FAIL() << "no launch was stored in half a minute";
  }
};

TEST_F(Run, StoresEveryChosenVariantVerified) {
  const Outcome outcome = warpmeter({"run", "smem_square/set_col*", "vector_add", "-n", "1000,33",
                                     "-b", "model", "--label", "mine"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("verified: 5 of 5 launches against the CPU reference\n"));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE verified = 1 AND outcome = 'done'"), "5");
  EXPECT_EQ(value_of("SELECT outcome || ' ' || label || ' ' || backend FROM runs"),
            "done mine model");
  EXPECT_EQ(value_of("SELECT shared_load_transactions_per_request FROM comparison WHERE variant = "
                     "'set_col_read_col'"),
            "32");
}

TEST_F(Run, OnTheModelLeavesALibrarysVariantWithoutFiguresAndSaysWhy) {
  const Outcome outcome = warpmeter({"run", "matmul", "-n", "16", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("matmul/cublas was not run: cublasSgemm_v2 is machine code "
                                       "of cuBLAS, and the model executes PTX; run on a GPU"));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE outcome = 'done'"), "6");
  EXPECT_EQ(value_of("SELECT count(*) FROM results WHERE variant = 'cublas' AND value IS NULL AND "
                     "reason LIKE '%machine code%'") == "0",
            false);
  // A launch that did not run neither holds nor breaks a gate.
  EXPECT_EQ(warpmeter({"check", "-g", "shared_store_transactions_per_request <= 4"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"check", "-g", "matmul/cublas: gst_efficiency >= 90"}).exit_code, 3);
}

TEST_F(Run, OfNothingButWhatCannotRunHereIsNoMeasurement) {
  const Outcome outcome = warpmeter({"run", "matmul/cublas", "-n", "16", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("matmul/cublas was not run: "));
}

TEST_F(Run, PrintsTheComparisonOnStandardOutputAndTheRestOnStandardError) {
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "1000", "-b", "model"});
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("vector_add"), HasSubstr("block_128")));
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("2 launches in "), HasSubstr("0 failed"),
                                   HasSubstr("run 1 of warpmeter.db"),
                                   HasSubstr("next: warpmeter report --db warpmeter.db --run 1")));
  EXPECT_THAT(outcome.error, Not(HasSubstr("\x1b"))) << "no bar and no colour without a terminal";
}

TEST_F(Run, ShowsItsProgressOnATerminal) {
  Start start = {{"run", "vector_add", "-n", "1000", "-b", "model"}, folder_};
  start.environment["TERM"] = "xterm";
  start.error_is_terminal = true;
  const Outcome outcome = run_program(start);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("\r[....................] 0/2 vector_add/block_128 1000"),
                    HasSubstr("\r\x1b[K2 launches in")));
  start.words.push_back("--no-progress");
  EXPECT_THAT(run_program(start).error, Not(HasSubstr("\r[")));
}

TEST_F(Run, HasNoColourOnATerminalThatWantsNone) {
  Start start = {{"run", "nonsense"}, folder_};
  start.environment["TERM"] = "xterm";
  start.error_is_terminal = true;
  EXPECT_THAT(run_program(start).error, HasSubstr("\x1b[31mwarpmeter:"));
  start.environment["NO_COLOR"] = "1";
  EXPECT_THAT(run_program(start).error, StartsWith("warpmeter:"));
}

TEST_F(Run, IsSilentWhenAskedTo) {
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "1000", "-b", "model", "-q"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.error, "");
}

TEST_F(Run, RecordsHowItWasCalledAndWithWhat) {
  measure_something();
  EXPECT_EQ(value_of("SELECT command FROM runs"), "warpmeter run vector_add -n 1000 -b model -q");
  EXPECT_THAT(value_of("SELECT tool_version FROM runs"), StartsWith("0."));
  EXPECT_NE(value_of("SELECT git_revision FROM runs"), "");
  EXPECT_NE(value_of("SELECT host FROM runs"), "");
}

TEST_F(Run, SaysThatAFamilyOfOneSizeIgnoresTheSize) {
  const Outcome outcome =
      warpmeter({"run", "smem_square/set_row_read_row", "-n", "64", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, HasSubstr("smem_square has one fixed size and ignores --size"));
}

TEST_F(Run, PrintsTheFirstValuesOfWhatALaunchWrote) {
  const Outcome outcome =
      warpmeter({"run", "smem_square/set_row_read_row", "-b", "model", "--print-output", "4"});
  EXPECT_THAT(outcome.output, HasSubstr("smem_square/set_row_read_row out: 0 1 2 3\n"));
}

TEST_F(Run, MeasuresEachLaunchAsOftenAsAsked) {
  const Outcome outcome =
      warpmeter({"run", "smem_square/set_row_read_row", "-b", "model", "--repeat", "3", "-q"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "3");
}

TEST_F(Run, ReadsOnlyTheMetricsThatAreAskedFor) {
  const Outcome outcome = warpmeter(
      {"run", "vector_add/block_128", "-n", "64", "-b", "model", "-m", "gst_efficiency", "-q"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT value FROM results WHERE metric = 'gst_efficiency'"), "100");
  EXPECT_EQ(value_of("SELECT count(*) FROM results WHERE metric = 'shared_load_requests'"), "0");
}

TEST_F(Run, CountsTheSameOnAnyNumberOfThreads) {
  const char* sql =
      "SELECT group_concat(metric || value) FROM results WHERE metric NOT LIKE 'duration%'";
  std::vector<std::string> answers;
  for (const char* threads : {"1", "3"}) {
    const std::string database = std::string("threads") + threads + ".db";
    const Outcome outcome = warpmeter(
        {"run", "matmul", "-n", "50", "-b", "model", "--threads", threads, "-q", "--db", database});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    answers.push_back(warpmeter({"query", sql, "--db", database, "--format", "csv"}).output);
  }
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_THAT(answers[0], HasSubstr("gld_efficiency"));
}

TEST_F(Run, ShowsTheModelsLinesWhenAskedForThem) {
  const std::vector<std::string> words = {"run", "transpose/tiled", "-n", "64", "-b", "model"};
  const Outcome without = warpmeter(words);
  EXPECT_THAT(without.output, Not(HasSubstr("kernels/transpose.cu:44")));
  std::vector<std::string> with_lines = words;
  with_lines.emplace_back("--lines");
  const Outcome outcome = warpmeter(with_lines);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("transpose/tiled at 64"));
  EXPECT_THAT(outcome.output, ContainsRegex("kernels/transpose.cu:44 .* shared load +128 +1,024"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("process of its own")));
  with_lines.emplace_back("-q");
  EXPECT_EQ(warpmeter(with_lines).output, "");
}

TEST_F(Run, HasLinesOfOneFinishedRunOnly) {
  for (const char* other : {"--watch", "--dry-run", "--against=warpmeter"}) {
    const Outcome outcome = warpmeter({"run", "transpose/tiled", "-b", "model", "--lines", other});
    EXPECT_EQ(outcome.exit_code, 2) << other;
    EXPECT_THAT(outcome.error, HasSubstr("leave out --watch, --against and --dry-run")) << other;
  }
}

TEST_F(Run, DryMeasuresNothing) {
  const Outcome outcome = warpmeter({"run", "--dry-run", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Run, FindsItsDatabaseInTheEnvironment) {
  const Outcome outcome = run_program({{"run", "vector_add", "-n", "32", "-b", "model", "-q"},
                                       folder_,
                                       {{"WARPMETER_DB", "other.db"}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(std::filesystem::exists(file("other.db")));
  EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db")));
}

TEST_F(Run, MeasuresThoughNobodyReadsItsRemarks) {
  const Outcome outcome = run_program({.words = {"run", "vector_add", "-n", "64", "-b", "auto"},
                                       .folder = folder_,
                                       .error = "/dev/full"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(value_of("SELECT outcome FROM runs"), "done");
  EXPECT_EQ(
      run_program({.words = {"run", "nosuch"}, .folder = folder_, .error = "/dev/full"}).exit_code,
      2);
}

TEST_F(Run, SaysWhichMetricsStayedWithoutAValue) {
  const Outcome outcome =
      warpmeter({"run", "vector_add", "-n", "64", "-b", "model", "-m", "ipc,gld_efficiency"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, HasSubstr("ipc has no value: "));
}

TEST_F(Run, EndsWithThreeWhenNothingThatWasAskedForHasAValue) {
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "64", "-b", "model", "-m", "ipc"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("ipc has no value: "), HasSubstr("nothing that was asked")));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE verified"), "2");
}

TEST_F(Run, EndsInOrderWhenInterruptedOnce) {
  Process process(long_run());
  wait_for_a_launch();
  kill(process.id(), SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.signal, SIGINT) << "a shell sees 130 and ends a loop around it";
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("stopping;"), HasSubstr("interrupted")));
  EXPECT_EQ(value_of("SELECT outcome FROM runs"), "interrupted");
  EXPECT_NE(value_of("SELECT count(*) FROM results"), "0");
}

TEST_F(Run, KeepsItsFinishedLaunchesWhenKilled) {
  Process process(long_run());
  wait_for_a_launch();
  kill(process.id(), SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);
  EXPECT_EQ(value_of("SELECT outcome FROM runs"), "interrupted");
  EXPECT_NE(value_of("SELECT count(*) FROM launches"), "0");
  EXPECT_EQ(value_of("PRAGMA integrity_check"), "ok");
  EXPECT_THAT(warpmeter({"report"}).output, HasSubstr("interrupted"));
}

TEST_F(Run, SharesItsDatabaseWithAnotherOne) {
  const Start start = {{"run", "vector_add", "transpose", "-n", "32,64,96", "-b", "model", "-q"},
                       folder_};
  Process one(start), two(start);
  const Outcome outcomes[] = {one.wait(), two.wait()};
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT count(*) FROM runs WHERE outcome = 'done'"), "2");
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "54");  // 2 runs, 3 sizes, 2 + 7 variants
  EXPECT_EQ(value_of("SELECT count(DISTINCT n) FROM (SELECT count(*) AS n FROM results GROUP BY "
                     "run_id)"),
            "1");
}

TEST_F(Run, GoesOnWhenTheReaderOfItsOutputHasGone) {
  Process process(
      {{"run", "vector_add", "-n", "32", "-b", "model", "--print-output", "1"}, folder_});
  process.close_output();
  EXPECT_EQ(process.wait().exit_code, 0);
  EXPECT_EQ(value_of("SELECT outcome FROM runs"), "done");
}

TEST_F(Run, RefusesADatabaseThatIsNoneAndLeavesItAlone) {
  write("warpmeter.db", std::string(5000, 'x'));
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "32", "-b", "model", "-q"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error, HasSubstr("warpmeter.db"));
  EXPECT_EQ(contents("warpmeter.db"), std::string(5000, 'x'));
}

TEST_F(Run, RefusesADatabaseOfANewerWarpmeterAndLeavesItAlone) {
  measure_something();
  // SQLite keeps user_version, here the number of our newest migration, at byte 60.
  std::fstream database(file("warpmeter.db"), std::ios::in | std::ios::out | std::ios::binary);
  database.seekp(60);
  database.write("\x7f\xff\xff\xff", 4);
  database.close();
  const std::string before = contents("warpmeter.db");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "vector_add", "-n", "32", "-b", "model"},
        {"report"},
        {"query", "runs"}}) {
    const Outcome outcome = warpmeter(words);
    EXPECT_EQ(outcome.exit_code, 5) << words.front();
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.error, HasSubstr("newer"));
  }
  EXPECT_EQ(contents("warpmeter.db"), before);
}

TEST_F(Run, RefusesADatabaseThatCannotBeWrittenBeforeItMeasures) {
  if (geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  measure_something();
  chmod(file("warpmeter.db").c_str(), 0444);
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "32", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.output, "");
}

TEST_F(Run, ASizeBeyondTheFamilysLargestIsWrongUsage) {
  const Outcome outcome = warpmeter({"run", "transpose", "-n", "100000000", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("its largest size is "));
}

TEST_F(Run, AShapeThatFitsNoKernelIsRefusedAndTheRunStored) {
  for (const char* shape : {"tile=2x2:f32", "tile=64x64:f32"}) {
    const Outcome outcome =
        warpmeter({"run", "transpose/tiled", "-n", "64", "-b", "model", "-q", "--shape", shape});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.error, AllOf(HasSubstr("--shape gives 'tile' "),
                                     HasSubstr(" bytes, and it has 1,024; run ")));
  }
  EXPECT_EQ(warpmeter({"query", "SELECT sum(launches) FROM runs", "--format", "csv"}).output,
            "sum(launches)\n2\n");
  // The option fits one of two kernels.
  EXPECT_EQ(warpmeter({"run", "transpose/tiled", "smem_square", "-n", "64", "-b", "model", "-q",
                       "--shape", "tile=32x32:f32"})
                .exit_code,
            0);
}

TEST_F(Run, LanesThatShareAnElementAreNotCalledMisaligned) {
  ASSERT_EQ(warpmeter({"run", "matmul/naive", "-n", "64", "-b", "model", "-q"}).exit_code, 0);
  const Outcome outcome = warpmeter({"explain"});
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("Every 16 lanes take the same 4 bytes"),
                                    Not(HasSubstr("middle of a sector"))));
}

TEST_F(Run, TheSectionSourcesNamesItsFilesInEveryFormat) {
  ASSERT_EQ(warpmeter({"run", "matmul/naive", "-n", "64", "-b", "model", "-q"}).exit_code, 0);
  EXPECT_THAT(warpmeter({"report", "--section", "sources"}).output,
              HasSubstr("**kernels/matmul.cu**"));
  EXPECT_THAT(warpmeter({"report", "--section", "sources", "--format", "table"}).output,
              HasSubstr("\nkernels/matmul.cu\n"));
  EXPECT_THAT(warpmeter({"report", "--section", "sources", "--format", "csv"}).output,
              AllOf(HasSubstr("file,line,text,requests,transactions,excess\n"),
                    HasSubstr("\nkernels/matmul.cu,19,")));
}

// Loads and stores of one structure: told by their first line, shown by every one of them.
TEST_F(Run, ExplainShowsAFindingByEachLineThatItCounts) {
  write("step.cu", R"(struct Particle { float x, y, z, vx, vy, vz, mass, charge; };
__global__ void step(Particle* p, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i].x += p[i].vx * dt;
  p[i].y += p[i].vy * dt;
  p[i].z += p[i].vz * dt;
}
)");
  ASSERT_EQ(warpmeter({"run", "step.cu", "-k", "step", "--grid", "64", "--block", "256", "--arg",
                       "p:f32[131072]=iota", "--arg", "f32=0.5", "-b", "model", "-q"})
                .exit_code,
            0);
  EXPECT_THAT(warpmeter({"explain"}).output,
              AllOf(HasSubstr("Lines 5, 6 do the same, and are counted"),
                    HasSubstr("as of 1: 4 a request instead of 32.")));
  EXPECT_THAT(warpmeter({"explain", "--show", "step.cu:5"}).output, HasSubstr("step.cu:4"));
  const Outcome nothing = warpmeter({"explain", "--show", "step.cu:3"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.error, HasSubstr("nothing was found at step.cu:3"));
}

// A formula for the first part of dynamic memory is none for all of it.
TEST_F(Run, ExplainNamesThePartAlsoWhereItIsTheFirst) {
  write("parts.cu", R"(
__global__ void parts(float* out, const float* in) {
  extern __shared__ float pool[];
  float *a = pool, *b = pool + 1024;
  const int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) a[i * 32 + t] = in[i * 32 + t];
  b[t] = in[t];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += a[t * 32 + i] + b[i];
  out[t] = sum;
}
)");
  ASSERT_EQ(
      warpmeter({"run", "parts.cu", "-k", "parts", "--grid", "1", "--block", "32", "--shared",
                 "4352", "--arg", "out:f32[32]", "--arg", "in:f32[1024]=iota", "-b", "model", "-q"})
          .exit_code,
      0);
  EXPECT_THAT(warpmeter({"explain"}).output,
              AllOf(HasSubstr("shared load of `pool`"), HasSubstr("It is the part of pool up to"),
                    HasSubstr("words apart and 16 bytes wide, meet in 4 banks. Its 8 shared loads"),
                    HasSubstr("words, of the part of pool up to byte 4,096): 4 a")));
}

}  // namespace
}  // namespace warpmeter::cli
