// SPDX-License-Identifier: MIT
// Programs without a GPU under --trace, and what their calls of cudaProfilerStart and Stop choose.
#include <filesystem>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;

class TracedProgram : public RuntimeProgram {
 protected:
  Outcome run(const std::string& name, std::vector<std::string> options) const {
    options.insert(options.begin(), {"profile", "-b", "model"});
    options.push_back(program(name));
    return run_program({options, folder_, {{"LD_LIBRARY_PATH", ""}}});
  }
};

TEST_F(TracedProgram, IsMeasuredFromItsFirstCallOfTheProfilerOn) {
  EXPECT_EQ(run("start_stop", {"--from-start", "off", "-m", "gst_transactions"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) || ' ' || group_concat(DISTINCT grid) FROM launches"),
            "10 2x1x1");
  EXPECT_EQ(run("start_stop", {"--from-start", "off", "--trace"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) || ' ' || group_concat(DISTINCT kind || grid_x) FROM "
                     "activities"),
            "10 kernel2");
}

TEST_F(TracedProgram, IsMeasuredUntilItStopsTheProfiler) {
  EXPECT_EQ(run("start_stop", {"-m", "gst_transactions"}).exit_code, 0);
  EXPECT_EQ(
      value_of("SELECT group_concat(grid || '=' || n, ' ') FROM (SELECT grid, count(*) AS n FROM "
               "launches GROUP BY grid ORDER BY grid)"),
      "1x1x1=5 2x1x1=10");
}

TEST_F(TracedProgram, SaysSoWhereTheProfilerIsNeverStarted) {
  const Outcome outcome = run("shared_square", {"--from-start", "off", "-m", "gst_transactions"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("never called cudaProfilerStart"));
}

TEST_F(TracedProgram, HasEachActivityInItsOrderWithoutTimes) {
  const Outcome outcome = run("trace", {"--trace", "--csv", "-o", "trace.csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT group_concat(replace(name, ',', ';') || coalesce(' ' || bytes, '') || "
                     "coalesce(' ' || source_memory, '') || coalesce(' ' || target_memory, ''), "
                     "' + ') FROM (SELECT * FROM activities ORDER BY activity_id)"),
            "[CUDA memcpy HtoD] 1048576 Pageable Device + "
            "[CUDA memcpy HtoD] 524288 Pinned Device + "
            "[CUDA memcpy DtoD] 262144 Device Device + "
            "[CUDA memset] 131072 Device + "
            "spin(int; unsigned long long) + spin(int; unsigned long long) + "
            "[CUDA memcpy DtoH] 65536 Device Pinned + "
            "touch(char*; unsigned long) + "
            "[CUDA memcpy DtoH] 512 Device Pageable");
  EXPECT_EQ(value_of("SELECT count(start_ns) + count(duration_ns) FROM activities"), "0");
  EXPECT_EQ(
      value_of("SELECT group_concat(dynamic_shared_bytes, ' ') FROM activities WHERE name LIKE "
               "'spin%'"),
      "0 256");
  EXPECT_THAT(text_of(file("trace.csv")),
              HasSubstr("start_ns,duration_ns,bytes,faults,throughput,correlation,kind,name,"));
}

TEST_F(TracedProgram, HasItsCallsWithTheirThread) {
  EXPECT_EQ(run("start_stop", {"--trace-api"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) || ' ' || count(DISTINCT thread_id) || ' ' || count(device) "
                     "FROM activities WHERE kind = 'call' AND name = 'cudaLaunchKernel'"),
            "15 1 0");
  EXPECT_EQ(value_of("SELECT count(*) FROM activities WHERE kind <> 'call'"), "0");
}

/// One thread calls: a call begins after the one before it has ended, and none is before the run.
TEST_F(TracedProgram, HasItsCallsWithTheTimeOfTheCpu) {
  EXPECT_EQ(run("start_stop", {"--trace-api"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT min(start_ns) >= 0 AND min(duration_ns) >= 0 AND count(start_ns) = "
                     "count(*) AND count(duration_ns) = count(*) FROM activities"),
            "1");
  EXPECT_EQ(value_of("SELECT count(*) FROM (SELECT start_ns, lag(start_ns + duration_ns) OVER "
                     "(ORDER BY activity_id) AS before FROM activities) WHERE start_ns < before"),
            "0");
  EXPECT_EQ(value_of("SELECT max(start_ns) < 600e9 AND max(duration_ns) < 600e9 FROM activities"),
            "1");
}

TEST_F(TracedProgram, HasTheCallOfEachKernelAndCopyByItsNumber) {
  EXPECT_EQ(run("trace", {"--trace", "--trace-api"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT group_concat(DISTINCT c.name) FROM activities k JOIN activities c ON "
                     "c.correlation = k.correlation AND c.kind = 'call' WHERE k.kind = 'kernel'"),
            "cudaLaunchKernel");
  EXPECT_EQ(value_of("SELECT count(*) = count(DISTINCT correlation) FROM activities WHERE kind = "
                     "'call'"),
            "1");
  EXPECT_EQ(
      value_of("SELECT count(*) FROM activities k WHERE kind IN ('copy', 'set', 'kernel') AND "
               "NOT EXISTS (SELECT * FROM activities c WHERE c.kind = 'call' AND "
               "c.correlation = k.correlation)"),
      "0");
}

TEST_F(TracedProgram, HasItsRanges) {
  EXPECT_EQ(run("ranges", {"--trace"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT group_concat(name, ' ') FROM (SELECT name FROM activities WHERE "
                     "kind = 'range' ORDER BY activity_id)"),
            "solve whole");
  // "solve" lies within "whole".
  EXPECT_EQ(value_of("SELECT max(start_ns) = max(CASE name WHEN 'solve' THEN start_ns END) AND "
                     "max(start_ns + duration_ns) = max(CASE name WHEN 'whole' THEN start_ns + "
                     "duration_ns END) FROM activities WHERE kind = 'range'"),
            "1");
}

/// Machine code for sm_90 lies in the first program; ptxas makes it for the second.
TEST_F(TracedProgram, HasItsKernelsResources) {
  for (const char* name : {"shared_square", "fresh_heap"}) {
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--trace"}}) {
      SCOPED_TRACE(name);
      std::filesystem::remove(file("warpmeter.db"));
      EXPECT_EQ(run(name, options).exit_code, 0);
      EXPECT_EQ(
          value_of("SELECT count(*) > 0 AND count(*) = count(registers) AND min(registers) > 0 "
                   "FROM launches"),
          "1");
      EXPECT_EQ(value_of("SELECT count(*) = count(value) AND max(grade) <> 'unavailable' FROM "
                         "results WHERE metric IN ('registers_per_thread', 'spill_stores', "
                         "'code_bytes', 'theoretical_occupancy')"),
                "1");
      EXPECT_EQ(value_of("SELECT count(*) FROM activities WHERE kind = 'kernel' AND registers IS "
                         "NULL"),
                "0");
      EXPECT_EQ(warpmeter({"check", "--gate", "registers_per_thread <= 255"}).exit_code, 0);
      EXPECT_EQ(warpmeter({"check", "--gate", "registers_per_thread <= 1"}).exit_code, 1);
    }
  }
}

TEST_F(TracedProgram, RefusesCountersBesideATrace) {
  const Outcome outcome = run("start_stop", {"--trace", "-m", "gst_transactions"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("leave one out"));
}

}  // namespace
}  // namespace warpmeter::cli
