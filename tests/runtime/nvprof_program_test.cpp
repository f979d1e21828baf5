// SPDX-License-Identifier: MIT
// `warpmeter nvprof` and the program called nvprof, on programs that the model executes.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "schema/sqlite.h"
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The lines with every process number as PID.
std::string without_numbers(const std::string& text) {
  return std::regex_replace(std::regex_replace(text, std::regex("==[0-9]+=="), "==PID=="),
                            std::regex("process [0-9]+"), "process PID");
}

class NvprofProgram : public RuntimeProgram {
 protected:
  Outcome nvprof(std::vector<std::string> words,
                 std::map<std::string, std::string> environment = {}) const {
    words.insert(words.begin(), {"nvprof", "--backend", "model"});
    environment.try_emplace("LD_LIBRARY_PATH", "");
    return run_program({words, folder_, environment});
  }
  std::string program_with(const std::string& heading) const {
    return "==PID== NVPROF is profiling process PID, command: " + square_ +
           "\n==PID== Profiling application: " + square_ + "\n" + heading;
  }

  /// The rows that SQL finds in a file of -o, "4096|0" each.
  std::vector<std::string> rows_of(const std::string& name, const std::string& sql) const {
    sqlite3* opened = nullptr;
    EXPECT_EQ(sqlite3_open(file(name).c_str(), &opened), SQLITE_OK);
    schema::Handle db = schema::no_handle();
    db.reset(opened);
    std::vector<std::string> rows;
    schema::Statement statement(opened, sql);
    while (statement.step()) {
      std::string row;
      for (int i = 0; i < statement.columns(); ++i) {
        row += (i == 0 ? "" : "|") + statement.text(i);
      }
      rows.push_back(row);
    }
    return rows;
  }

  const std::string square_ = program("shared_square");
};

// A warp that writes or reads a column of a tile of 32 words by 32 hits one bank 32 times.
TEST_F(NvprofProgram, PrintsMetricsInNvprofsColumns) {
  const Outcome outcome = nvprof(
      {"--metrics", "shared_load_transactions_per_request,shared_store_transactions_per_request",
       square_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "32 1\n");
  const std::string loads =
      "          1      shared_load_transactions_per_request    Shared Memory Load Transactions "
      "Per "
      "Request   ";
  const std::string stores =
      "          1     shared_store_transactions_per_request   Shared Memory Store Transactions "
      "Per "
      "Request   ";
  const std::string one = " 1.000000    1.000000    1.000000\n",
                    all = "32.000000   32.000000   32.000000\n";
  EXPECT_EQ(without_numbers(outcome.error),
            program_with("==PID== Profiling result:\n==PID== Metric result:\n") +
                "Invocations                               Metric Name                             "
                "Metric Description         Min         Max         Avg\n"
                "Device \"model sm_90 (0)\"\n"
                "    Kernel: row_row(int*)\n" +
                loads + one + stores + one + "    Kernel: column_column(int*)\n" + loads + all +
                stores + all + "    Kernel: row_column(int*)\n" + loads + all + stores + one +
                "    Kernel: row_column_padded(int*)\n" + loads + one + stores + one +
                "    Kernel: row_column_dynamic(int*)\n" + loads + all + stores + one);
}

TEST_F(NvprofProgram, PrintsTheSummaryWithoutTimesThatItDoesNotKnow) {
  const Outcome outcome = nvprof({"--print-gpu-summary", square_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(
      without_numbers(outcome.error),
      program_with(
          "==PID== Warning: the model executes the kernels on the CPU and has no clock: - stands "
          "for a time\n==PID== Profiling result:\n") +
          "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"
          " GPU activities:        -         -         1         -         -         -  "
          "row_column(int*)\n"
          "                        -         -         1         -         -         -  "
          "column_column(int*)\n"
          "                        -         -         1         -         -         -  "
          "row_column_padded(int*)\n"
          "                        -         -         1         -         -         -  "
          "row_column_dynamic(int*)\n"
          "                        -         -         1         -         -         -  "
          "row_row(int*)\n"
          "                        -         -         1         -         -         -  [CUDA "
          "memcpy DtoH]\n");
}

TEST_F(NvprofProgram, WritesCsvToAFileOfTheProcess) {
  const Outcome outcome =
      nvprof({"--csv", "--log-file", "log_%q{WHAT}_%%_%p.csv", "-m", "gst_efficiency", square_},
             {{"WHAT", "a b"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    name = entry.path().filename().string();
  }
  EXPECT_TRUE(std::regex_match(name, std::regex("log_a b_%_[0-9]+\\.csv"))) << name;
  EXPECT_THAT(contents(name), HasSubstr("\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\","
                                        "\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
                                        "\"model sm_90 (0)\",\"row_row(int*)\",1,"
                                        "\"gst_efficiency\",\"Global Memory Store Efficiency\","
                                        "100.000000%,100.000000%,100.000000%\n"));
}

TEST_F(NvprofProgram, IsWhatALinkOfThatNameMeans) {
  std::filesystem::create_symlink(WARPMETER_PROGRAM, file("nvprof"));
  const std::string line = "cd '" + folder_.string() +
                           "' && LD_LIBRARY_PATH= ./nvprof --backend model -m gst_efficiency '" +
                           square_ + "' 2>said >/dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0) << contents("said");
  EXPECT_THAT(contents("said"), HasSubstr("Metric result:"));
}

TEST_F(NvprofProgram, EndsAsTheProgramDid) {
  write("fails.sh", "#!/bin/sh\n" + square_ + "\nexit 7\n");
  std::filesystem::permissions(file("fails.sh"), std::filesystem::perms::owner_all);
  const Outcome outcome = nvprof({"./fails.sh"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.error,
            "======== Warning: No CUDA application was profiled, exiting\n"
            "======== Error: Application returned non-zero code 7\n");
  const Outcome with_children = nvprof({"--profile-child-processes", "./fails.sh"});
  EXPECT_EQ(with_children.exit_code, 7);
  EXPECT_THAT(without_numbers(with_children.error), StartsWith(program_with("")));
}

/// A name that is asked for twice is one row.
TEST_F(NvprofProgram, PrintsATableOfCountersForEachProcess) {
  std::ofstream(file("twice.sh")) << "#!/bin/sh\n" << square_ << "\n" << square_ << "\n";
  std::filesystem::permissions(file("twice.sh"), std::filesystem::perms::owner_all);
  const Outcome outcome = nvprof(
      {"--profile-child-processes", "--csv", "-m", "gst_efficiency,gst_efficiency", "./twice.sh"});
  EXPECT_EQ(outcome.exit_code, 0);
  std::size_t rows = 0;
  for (std::size_t at = 0;
       (at = outcome.error.find("\"row_row(int*)\",1,", at)) != std::string::npos; ++at) {
    ++rows;
  }
  EXPECT_EQ(rows, 2U) << outcome.error;
}

TEST_F(NvprofProgram, PrintsTheMetricsOfEachLaunchWithATrace) {
  const Outcome outcome =
      nvprof({"--csv", "--print-gpu-trace", "--kernels", "1:7:^row_column$:", "-m",
              "shared_load_transactions_per_request", square_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(without_numbers(outcome.error),
            program_with("==PID== Profiling result:\n") +
                "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"Correlation_ID\","
                "\"shared_load_transactions_per_request\"\n"
                // cudaMalloc is the first call, and two launches lie between.
                "\"model sm_90 (0)\",1,7,\"row_column(int*)\",4,32.000000\n");
  const Outcome none = nvprof({"--kernels", "1:8:row_column:", "-m", "gst_efficiency", square_});
  EXPECT_THAT(none.error, HasSubstr("No events/metrics were profiled."));
}

TEST_F(NvprofProgram, LeavesNoDatabaseUnlessOneIsNamed) {
  ASSERT_EQ(nvprof({"-m", "gst_efficiency", square_}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  ASSERT_EQ(nvprof({"--db", "warpmeter.db", "-m", "gst_efficiency", square_}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "5");
}

TEST_F(NvprofProgram, WritesAFileThatItReads) {
  const std::vector<std::string> words = {"-o", "run_%p.nvvp", "-m", "gst_efficiency", square_};
  const Outcome outcome = nvprof(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  std::string name;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    name = entry.path().filename().string();
  }
  EXPECT_TRUE(std::regex_match(name, std::regex("run_[0-9]+\\.nvvp"))) << name;
  EXPECT_EQ(without_numbers(outcome.error),
            program_with("==PID== Generated result file: " + (folder_ / name).string() + "\n"));
  const Outcome read = nvprof({"-i", name});
  EXPECT_EQ(read.exit_code, 0) << read.error;
  EXPECT_THAT(read.error, HasSubstr("    Kernel: row_row(int*)\n"
                                    "          1                            gst_efficiency"
                                    "            Global Memory Store Efficiency"
                                    "     100.00%     100.00%     100.00%\n"));
  const Outcome chosen = nvprof({"-i", name, "-m", "gst_efficiency,gld_efficiency"});
  EXPECT_THAT(chosen.error, HasSubstr(name + " has no value of gld_efficiency\n"));
  EXPECT_THAT(chosen.error, HasSubstr("gst_efficiency"));
  const Outcome again = nvprof({"-o", name, square_});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.error, HasSubstr(name + " is already there: -f writes over it"));
  const Outcome nowhere = nvprof({"-o", "no/folder.nvvp", square_});
  EXPECT_EQ(nowhere.exit_code, 5);  // before the program runs
  EXPECT_EQ(nowhere.output, "");
  EXPECT_THAT(nowhere.error, HasSubstr("there is no folder no for no/folder.nvvp"));
  const Outcome over = nvprof({"-fo", name, square_});
  EXPECT_EQ(over.exit_code, 0) << over.error;
  EXPECT_THAT(nvprof({"--print-gpu-trace", "-i", name}).error, HasSubstr("row_row(int*)"));
}

TEST_F(NvprofProgram, PrintsTheTimesOfCalls) {
  const std::string time = " *[0-9.]+(ns|us|ms|s)";
  const Outcome traced = nvprof({"--print-api-trace", square_});
  EXPECT_THAT(traced.error, Not(HasSubstr("stands for a time")));
  const std::regex launch("\n" + time + time +
                          R"(  cudaLaunchKernel \(row_column\(int\*\) \[4\]\)\n)");
  EXPECT_TRUE(std::regex_search(traced.error, launch)) << traced.error;
  ASSERT_EQ(nvprof({"-o", "calls.nvvp", square_}).exit_code, 0);
  const std::string read = nvprof({"--print-api-trace", "-i", "calls.nvvp"}).error;
  EXPECT_TRUE(std::regex_search(read, launch)) << read;
}

/// The model's activities have no start: their order is that of their launches.
TEST_F(NvprofProgram, KeepsTheOrderOfActivitiesInAFile) {
  const std::string sets_first = program("apart_lines");
  ASSERT_EQ(nvprof({"-o", "order.nvvp", sets_first}).exit_code, 0);
  const auto rows = [](const std::string& text) {
    std::vector<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with("]")) all.push_back(line.substr(line.rfind("  ") + 2));
    }
    return all;
  };
  const auto live = rows(nvprof({"--print-gpu-trace", sets_first}).error);
  ASSERT_GT(live.size(), 1U);
  EXPECT_EQ(live.front(), "[CUDA memset]");
  EXPECT_EQ(rows(nvprof({"--print-gpu-trace", "-i", "order.nvvp"}).error), live);
}

/// A call comes before the kernel that it launched, and the kernel's registers are known.
TEST_F(NvprofProgram, PrintsKernelsBehindTheirCalls) {
  const std::string text = nvprof({"--print-gpu-trace", "--print-api-trace", square_}).error;
  const std::size_t call = text.find("cudaLaunchKernel (row_column(int*) [4])"),
                    kernel = text.find("  row_column(int*) [4]\n"),
                    next = text.find("cudaLaunchKernel (row_column_padded(int*) [5])");
  ASSERT_NE(kernel, std::string::npos) << text;
  EXPECT_LT(call, kernel);
  EXPECT_LT(kernel, next);
  EXPECT_NE(next, std::string::npos);
  const std::size_t line = text.rfind('\n', kernel) + 1;
  EXPECT_TRUE(std::regex_search(text.substr(line, kernel - line),
                                std::regex(R"(\(1 1 1\) +\(32 32 1\) +[0-9]+ +4\.0000KB)")))
      << text.substr(line, kernel - line);
}

TEST_F(NvprofProgram, WaitsForTheProfilersStart) {
  const Outcome outcome =
      nvprof({"--profile-from-start", "off", "-m", "gst_transactions", program("start_stop")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, HasSubstr("\n         10                          gst_transactions"));
  EXPECT_THAT(nvprof({"--profile-from-start", "off", square_}).error,
              HasSubstr("the program never called cudaProfilerStart"));
}

TEST_F(NvprofProgram, ShowsContextsUnderTheirNames) {
  const Outcome traced = nvprof({"--context-name", "rank %q{RANK} of %i", "--process-name", "P%p",
                                 "--csv", "--print-gpu-trace", "-o", "named.nvvp", square_},
                                {{"RANK", "3"}});
  EXPECT_EQ(traced.exit_code, 0) << traced.error;
  EXPECT_THAT(traced.error, HasSubstr("\"rank 3 of 1 (1)\",\"7\""));
  const Outcome counted = nvprof({"--context-name", "own", "--kernels", "o.n:7:row_row:", "-m",
                                  "gst_efficiency", "--print-gpu-trace", square_});
  EXPECT_THAT(counted.error, HasSubstr("own (1)"));
  EXPECT_THAT(counted.error, HasSubstr("row_row"));
  EXPECT_THAT(
      nvprof({"--context-name", "own", "--kernels", "other:::", "-m", "gst_efficiency", square_})
          .error,
      HasSubstr("No events/metrics were profiled."));
  EXPECT_THAT(nvprof({"--kernels", "own:::", "-m", "gst_efficiency", square_}).error,
              HasSubstr("No events/metrics were profiled."));
}

/// nvprof's guide: --kernels takes the ids or the NVTX names of context and stream.
TEST_F(NvprofProgram, ShowsStreamsAndContextsUnderTheNamesOfNvtx) {
  const std::string named = program("named");
  const auto has = [](const std::string& text, const char* pattern) {
    return std::regex_search(text, std::regex(pattern));
  };
  const Outcome traced = nvprof({"--csv", "--print-gpu-trace", named});
  EXPECT_EQ(traced.exit_code, 0);
  EXPECT_TRUE(has(traced.error, R"x("main context \(1\)","ahead \([0-9]+\)","fill\(int\*\))x"))
      << traced.error;
  EXPECT_TRUE(has(traced.error, R"x("main context \(1\)","7","fill\(int\*\))x")) << traced.error;
  EXPECT_TRUE(has(nvprof({"--print-gpu-trace", named}).error,
                  R"x(  main context \(1\)  ahead \([0-9]+\)  fill\(int\*\) )x"));
  EXPECT_TRUE(has(nvprof({"--csv", "--print-gpu-trace", "-m", "gst_transactions", named}).error,
                  R"x(,"main context \(1\)","ahead \([0-9]+\)","fill\(int\*\)",)x"));

  const std::vector<std::string> metric = {"-m", "gst_transactions", named};
  const auto chosen_by = [&](const std::string& path) {
    std::vector<std::string> words = {"--kernels", path};
    words.insert(words.end(), metric.begin(), metric.end());
    return nvprof(words).error;
  };
  EXPECT_THAT(chosen_by(":ahead:fill:"), HasSubstr("\n          1      "));
  EXPECT_THAT(chosen_by("main.*:::"), HasSubstr("\n          3      "));
  EXPECT_THAT(chosen_by(":behind::"), HasSubstr("No events/metrics were profiled."));
}

/// By CUPTI's objects: a thread is its process and number, a stream its device, context and number.
TEST_F(NvprofProgram, WritesTheNamesOfNvtxIntoItsFile) {
  ASSERT_EQ(nvprof({"-o", "names.nvvp", program("named")}).exit_code, 0);
  const std::vector<std::string> names =
      rows_of("names.nvvp",
              "SELECT n.objectKind, substr(hex(n.objectId), iif(n.objectKind = 2, 9, 1), 16), "
              "s.value FROM CUPTI_ACTIVITY_KIND_NAME n JOIN StringTable s ON s._id_ = n.name WHERE "
              "n.objectKind > 0 ORDER BY n.objectKind");
  EXPECT_THAT(names,
              testing::ElementsAre("2|6712000000000000|reader", "3|0000000000000000|first device",
                                   "4|0000000001000000|main context", "5|0000000001000000|ahead"));
}

/// nvprof printed a "Trace result:" below the metrics.
TEST_F(NvprofProgram, SaysThatCountersDisturbTimes) {
  const std::vector<std::vector<std::string>> cases = {
      {"--trace", "gpu"}, {"--print-gpu-summary"}, {"--print-api-trace"}, {"-s"}};
  for (std::vector<std::string> words : cases) {
    words.insert(words.end(), {"-m", "gst_efficiency", square_});
    EXPECT_THAT(nvprof(words).error, HasSubstr("Warning: reading counters disturbs times"))
        << words.front();
  }
  EXPECT_THAT(nvprof({"-m", "gst_efficiency", square_}).error, Not(HasSubstr("disturbs times")));
}

TEST_F(NvprofProgram, ReadsNamesInItsFile) {
  ASSERT_EQ(nvprof({"-o", "read.nvvp", program("named")}).exit_code, 0);
  const std::string trace = nvprof({"--csv", "--print-gpu-trace", "-i", "read.nvvp"}).error;
  EXPECT_THAT(trace, HasSubstr("\"main context (1)\",\"ahead ("));
  EXPECT_THAT(
      nvprof({"--context-name", "own", "--csv", "--print-gpu-trace", "-i", "read.nvvp"}).error,
      HasSubstr("\"own (1)\",\"ahead ("));
}

TEST_F(NvprofProgram, HasNoLinksOnTheModel) {
  const Outcome outcome = nvprof({"--print-nvlink-topology", "--print-gpu-summary", square_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(without_numbers(outcome.error),
              HasSubstr("==PID== NVLink topology:\nNo device has NVLink.\n"));
}

TEST_F(NvprofProgram, MeasuresWhatTheAnalysisNeeds) {
  const Outcome outcome = nvprof({"--analysis-metrics", "--csv", square_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  for (const char* name :
       {"inst_executed", "flop_count_sp_special", "shared_load_transactions_per_request",
        "gld_transactions_per_request", "warp_execution_efficiency"}) {
    EXPECT_THAT(outcome.error, HasSubstr(std::string(",\"") + name + "\","));
  }
  EXPECT_THAT(outcome.error, Not(HasSubstr("duration_profiled")));
}

/// A public script reads these columns, and plots how much memory is allocated when. An end of 0 is
/// its word for memory that was never freed, as that of shared_square is.
TEST_F(NvprofProgram, WritesAllocationsIntoItsFile) {
  const Outcome outcome = nvprof({"--track-memory-allocations", "on", "-o", "a.nvvp", square_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(rows_of("a.nvvp",
                      "SELECT bytes, end, deviceId, start > 0, memoryKind, contextId "
                      "FROM CUPTI_ACTIVITY_KIND_MEMORY"),
              testing::ElementsAre("4096|0|0|1|3|1"));
  // Memory that is freed has an end.
  ASSERT_EQ(nvprof({"--track-memory-allocations", "on", "-o", "f.nvvp", program("apart_lines")})
                .exit_code,
            0);
  EXPECT_THAT(rows_of("f.nvvp",
                      "SELECT DISTINCT end > start FROM CUPTI_ACTIVITY_KIND_MEMORY WHERE end <> 0"),
              testing::ElementsAre("1"));
  ASSERT_EQ(nvprof({"-o", "none.nvvp", square_}).exit_code, 0);
  EXPECT_THAT(rows_of("none.nvvp", "SELECT bytes FROM CUPTI_ACTIVITY_KIND_MEMORY"),
              testing::IsEmpty());
}

/// nvprof's trace had no row of an allocation.
TEST_F(NvprofProgram, KeepsAllocationsOutOfItsTables) {
  const Outcome traced = nvprof({"--track-memory-allocations", "on", "--print-gpu-trace",
                                 "--print-api-trace", "--db", "warpmeter.db", square_});
  EXPECT_EQ(traced.exit_code, 0) << traced.error;
  EXPECT_THAT(traced.error, Not(HasSubstr("allocation]")));
  EXPECT_EQ(value_of("SELECT bytes FROM activities WHERE kind = 'allocation'"), "4096");
}

/// By hand: 32 warps read a column of the tile, 32 wavefronts each, and store 4 sectors each. They
/// wrote the tile by rows, one wavefront each. Bit 8 of the flags says that it loads.
TEST_F(NvprofProgram, WritesTheAccessesOfSourceLinesIntoItsFile) {
  const Outcome outcome = nvprof({"--source-level-analysis",
                                  "global_access,shared_access,branch,instruction_execution,"
                                  "pc_sampling",
                                  "-o", "lines.nvvp", square_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error,
              HasSubstr("Warning: --source-level-analysis has no branch, instruction_execution "
                        "(which needs a GPU), pc_sampling here: "));
  const std::string of_kernel =
      " a JOIN CUPTI_ACTIVITY_KIND_KERNEL k USING (correlationId) JOIN StringTable s ON s._id_ = "
      "k.name JOIN CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR l ON l.id = a.sourceLocatorId JOIN "
      "StringTable f ON f._id_ = l.fileName WHERE s.value = '_Z10row_columnPi' "
      "AND f.value LIKE '%shared_square.cu' ORDER BY l.lineNumber";
  EXPECT_THAT(rows_of("lines.nvvp",
                      "SELECT a.executed, sharedTransactions, theoreticalSharedTransactions, "
                      "a.flags & 256 FROM CUPTI_ACTIVITY_KIND_SHARED_ACCESS" +
                          of_kernel),
              testing::ElementsAre("32|32|32|0", "32|1024|32|256"));
  EXPECT_THAT(rows_of("lines.nvvp",
                      "SELECT a.executed, l2_transactions, theoreticalL2Transactions, "
                      "a.flags & 256 FROM CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS" +
                          of_kernel),
              testing::ElementsAre("32|128|128|0"));
}

TEST_F(NvprofProgram, PrintsTheAccessesOfSourceLinesWithoutAFile) {
  const Outcome outcome = nvprof({"-a", "shared_access", square_});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(without_numbers(outcome.error), HasSubstr("==PID== Source-level result:\n"));
  EXPECT_THAT(outcome.error, HasSubstr("shared_square.cu:"));
  EXPECT_THAT(outcome.error, HasSubstr("shared load"));
  EXPECT_EQ(nvprof({"-a", "pc_samples", square_}).exit_code, 2);
}

TEST_F(NvprofProgram, RefusesWhatNvprofDidNotTake) {
  const Outcome first = nvprof({"--kernels", ":::0", "-m", "gst_efficiency", square_});
  EXPECT_EQ(first.exit_code, 2);
  EXPECT_THAT(first.error, HasSubstr("the first invocation of a kernel is 1"));
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--metrix", "a"}, "unrecognized option '--metrix'; did you mean --metrics?"},
      {{"-u", "h", "./a"},
       "invalid argument 'h' of option --normalized-time-unit: it takes s|ms|us|ns|col|auto"},
      {{"--metrics"}, "option --metrics requires an argument: <names>|all"},
      {{"--csv=1"}, "option --csv takes no argument"},
      {{"--print-gpu", "./a"},
       "option '--print-gpu' is ambiguous: --print-gpu-summary, --print-gpu-trace"},
      {{"--aggregate-mode-off", "./a"},
       "option --aggregate-mode off is not supported; instead: PerfWorks names with .min, .max or "
       ".avg over the units: profile -m NAME.max"},
      {{"--cpu-profiling", "on", "./a"},
       "option --cpu-profiling on is not supported; instead: perf record or py-spy: warpmeter "
       "looks at GPUs alone"},
      {{"--csv"}, "no application was given (nvprof --help)"},
      {{"--log-file", "%x", "./a"}, "--log-file %x: % stands before p, h, q{NAME} or %"},
      {{"--log-file", "%q{NOT_SET_HERE}", "./a"},
       "--log-file %q{NOT_SET_HERE}: the variable NOT_SET_HERE is not set"}};
  for (const auto& [words, sentence] : cases) {
    const Outcome outcome = nvprof(words);
    EXPECT_EQ(outcome.exit_code, 2) << sentence;
    EXPECT_EQ(outcome.error, "======== Error: " + std::string(sentence) + "\n");
  }
}

}  // namespace
}  // namespace warpmeter::cli
