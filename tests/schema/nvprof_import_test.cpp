// SPDX-License-Identifier: MIT
// nvprof's files as sources of merge: what they held, with the date of then; and files that are
// none.
#include "schema/nvprof_file/import.h"

#include <utime.h>

#include <fstream>
#include <utility>

#include "schema/merge/merge.h"
#include "schema/nvprof_file/ids.h"
#include "tests/schema/nvprof_database.h"

namespace warpmeter::schema {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MergedSource merged(const std::string& file, const std::string& target,
                    const std::string& program = "") {
  MergeOptions options;
  options.nvprof_program = program;
  return merge(std::vector{file}, target, options).front();
}

class NvprofImport : public ::testing::Test {
 protected:
  NvprofImport() { write_nvprof_file(file); }
  void change(const std::string& sql) const { execute(open_plain(file).get(), sql); }
  void expect_refused(const ::testing::Matcher<std::string>& message) const {
    expect_failure(failure_of([&] { merged(file, out); }), ExitCode::file, message);
    EXPECT_FALSE(std::filesystem::exists(out));
  }
  Folder folder;
  std::string file = folder / "square.nvvp", out = folder / "lab.db";
};

TEST_F(NvprofImport, KeepsTheDateTheDeviceAndTheKernels) {
  const MergedSource source = merged(file, out);
  EXPECT_EQ(source.added, 1);
  EXPECT_EQ(source.launches, 2);
  EXPECT_THAT(source.remarks, ElementsAre("its run has the date 2017-06-07T14:13:26.032Z, of its "
                                          "first activity"));
  EXPECT_THAT(
      lines_of(out, "SELECT started, ended, backend, outcome, device, tool_version FROM runs"),
      ElementsAre(
          "2017-06-07T14:13:26.032Z|2017-06-07T14:13:26.033Z|cupti|done|Quadro P2000|nvprof"));
  EXPECT_THAT(lines_of(out,
                       "SELECT name, compute_capability, multiprocessors, memory_bytes, l2_bytes, "
                       "uuid FROM devices"),
              ElementsAre("Quadro P2000|61|8|5368709120|1310720|"
                          "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"));
  EXPECT_THAT(
      lines_of(out,
               "SELECT family, variant, kernel, grid, block, dynamic_shared_bytes, "
               "static_shared_bytes, registers, local_bytes FROM launches ORDER BY variant DESC"),
      ElementsAre("square|setRowReadRow|_Z13setRowReadRowPi|4x1x1|32x32x1|128|4096|12|16",
                  "square|setColReadCol|_Z13setColReadColPi|4x1x1|32x32x1|128|4096|12|16"));
}

TEST_F(NvprofImport, GivesMetricsAndEventsTheirNamesAndUnits) {
  merged(file, out);
  EXPECT_THAT(
      lines_of(out,
               "SELECT counter, value, unit, grade FROM counters JOIN launches USING (launch_id) "
               "WHERE variant = 'setColReadCol' ORDER BY counter"),
      ElementsAre("achieved_occupancy|50|%|measured", "active_warps|4711|warps|measured",
                  "dram_utilization|20|%|measured", "dram_write_throughput|1.1655|GB/s|measured",
                  "duration_profiled|1256|ns|measured", "gld_transactions|96|transactions|measured",
                  "shared_load_transactions_per_request|32|transactions/request|measured"));
  EXPECT_THAT(lines_of(out, "SELECT reason FROM results WHERE metric = 'dram_utilization'"),
              ElementsAre("nvprof gave the level 2 of 10"));
}

TEST_F(NvprofImport, TakesADurationOnlyWhereNothingWasCounted) {
  merged(file, out);
  EXPECT_THAT(
      lines_of(
          out,
          "SELECT variant, value, reason FROM results WHERE metric = 'duration' ORDER BY 1 DESC"),
      ElementsAre("setRowReadRow|1256|NULL",
                  "setColReadCol|NULL|nvprof timed it while it counted: see duration_profiled"));
}

/// As in a traced run: launches that are alike are one, with a sample each.
TEST_F(NvprofImport, MakesAlikeLaunchesOne) {
  change(kernel_row("CONCURRENT_KERNEL", june_2017 + 5'000, 489, 2));
  merged(file, out);
  EXPECT_THAT(lines_of(out,
                       "SELECT variant, samples, median_ns FROM launches JOIN timings USING "
                       "(launch_id)"),
              ElementsAre("setRowReadRow|2|1256"));
  EXPECT_THAT(lines_of(out,
                       "SELECT name, start_ns, duration_ns, stream, correlation FROM "
                       "activities ORDER BY start_ns"),
              ElementsAre("setRowReadRow(int*)|0|1256|7|487", "setRowReadRow(int*)|5000|1256|7|489",
                          "setColReadCol(int*)|1000000|1256|7|488"));
}

/// A file that warpmeter wrote of a run on the model is no measurement of hardware.
TEST_F(NvprofImport, NeverCallsTheModelsCountsMeasured) {
  change("UPDATE StringTable SET value = 'model sm_90' WHERE value = 'Quadro P2000'");
  merged(file, out);
  EXPECT_THAT(lines_of(out, "SELECT backend, device FROM runs"), ElementsAre("model|model sm_90"));
  EXPECT_THAT(lines_of(out,
                       "SELECT DISTINCT d.backend, x.grade FROM counters x JOIN devices d USING "
                       "(run_id) WHERE x.counter NOT GLOB 'duration*'"),
              ElementsAre("model|ptx"));
}

TEST_F(NvprofImport, IsTheSameRunEachTime) {
  merged(file, out);
  const MergedSource again = merged(file, out);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.known, 1);
  EXPECT_THAT(again.conflicts, IsEmpty());
}

TEST_F(NvprofImport, TakesTheProgramsName) {
  merged(file, out, "checkSmemSquare");
  EXPECT_THAT(lines_of(out, "SELECT DISTINCT family FROM launches"),
              ElementsAre("checkSmemSquare"));
}

TEST_F(NvprofImport, JoinsDatabasesOfToday) {
  store_run(folder / "today.db", {example_launch()});
  merge(std::vector{folder / "today.db", file}, out, {});
  EXPECT_THAT(lines_of(out, "SELECT tool_version, launches FROM runs ORDER BY started"),
              ElementsAre("nvprof|2", "0.1.0|1"));
}

TEST_F(NvprofImport, DatesAFileWithoutDatesByItself) {
  change(
      "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 5, end = 9;"
      "UPDATE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SET start = 0, end = 0");
  const utimbuf times{1'300'000'000, 1'300'000'000};
  ASSERT_EQ(utime(file.c_str(), &times), 0);
  EXPECT_THAT(merged(file, out).remarks,
              ElementsAre(HasSubstr("2011-03-13T07:06:40.000Z, of the file's last change")));
  EXPECT_THAT(lines_of(out,
                       "SELECT reason FROM results WHERE variant = 'setRowReadRow' AND metric IN "
                       "('duration', 'achieved_bandwidth')"),
              ElementsAre("nvprof recorded no time", "nvprof recorded no time"));
}

TEST_F(NvprofImport, SumsEventsOverInstancesAndSaysWhyAMetricHasNoValue) {
  change(fmt::format(
      "DELETE FROM CUPTI_ACTIVITY_KIND_METRIC; DELETE FROM CUPTI_ACTIVITY_KIND_EVENT;"
      "INSERT INTO CUPTI_ACTIVITY_KIND_EVENT_INSTANCE (id, domain, instance, value, correlationId) "
      "VALUES (83886184, 3, 0, 40, 488), (83886184, 3, 1, 2, 488), (999999999, 3, 0, 1, 488);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_METRIC_INSTANCE (id, value, instance, correlationId, flags) "
      "VALUES (19923062, {0}, 0, 488, 0), (19923062, {0}, 1, 488, 0);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_METRIC (id, value, correlationId, flags) "
      "VALUES (1125, {0}, 488, 2), (7, {0}, 488, 0), (1129, 'x', 488, 0)",
      blob_of(1.0)));
  merged(file, out);
  EXPECT_THAT(
      lines_of(out,
               "SELECT x.metric, x.value, x.reason FROM results x JOIN counters c ON "
               "c.launch_id = x.launch_id AND c.counter = x.metric WHERE x.variant = "
               "'setColReadCol' AND x.metric <> 'duration_profiled' ORDER BY 1"),
      ElementsAre(
          "achieved_occupancy|NULL|nvprof stored it for each multiprocessor (--aggregate-mode off)",
          "active_warps|42|NULL", "local_load_transactions|NULL|nvprof's file has no number for it",
          "nvprof_event_999999999|NULL|no chip that CUPTI 11.8 knows has an event of this number",
          "nvprof_metric_7|NULL|no chip that CUPTI 11.8 knows has a metric of this number",
          "shared_load_transactions_per_request|NULL|nvprof called it invalid"));
}

TEST_F(NvprofImport, ReadsTheTablesOfCuda5) {
  // Before 5.5 a kernel had the cache's two configurations and its API call's correlation.
  change(
      "DROP TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
      "DROP TABLE CUPTI_ACTIVITY_KIND_METRIC_INSTANCE; UPDATE Version SET version = 2;"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(_id_ INTEGER PRIMARY KEY AUTOINCREMENT,"
      "cacheConfigRequested INT NOT NULL, cacheConfigExecuted INT NOT NULL,"
      "registersPerThread INT NOT NULL, start INT NOT NULL, end INT NOT NULL,"
      "deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL,"
      "gridX INT NOT NULL, gridY INT NOT NULL, gridZ INT NOT NULL, blockX INT NOT NULL,"
      "blockY INT NOT NULL, blockZ INT NOT NULL, staticSharedMemory INT NOT NULL,"
      "dynamicSharedMemory INT NOT NULL, localMemoryPerThread INT NOT NULL,"
      "localMemoryTotal INT NOT NULL, correlationId INT NOT NULL,"
      "runtimeCorrelationId INT NOT NULL, name INT NOT NULL);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (NULL, 0, 0, 21, 1362000000000000000, "
      "1362000000000000480, 0, 1, 2, 8, 4, 1, 16, 16, 1, 0, 0, 0, 0, 77, 76, 2)");
  merged(file, out);
  EXPECT_THAT(lines_of(out, "SELECT started FROM runs"), ElementsAre("2013-02-27T21:20:00.000Z"));
  EXPECT_THAT(lines_of(out,
                       "SELECT variant, grid, value FROM launches JOIN results USING "
                       "(launch_id, variant) WHERE metric = 'duration'"),
              ElementsAre("setRowReadRow|8x4x1|480"));
}

TEST_F(NvprofImport, RefusesVersionsThatNobodyKnows) {
  change("UPDATE Version SET version = 99");
  expect_refused(HasSubstr("has nvprof's tables in version 99, which nobody knows"));
  change("DELETE FROM Version");
  expect_refused(HasSubstr("version 0, which nobody knows"));
}

TEST_F(NvprofImport, RefusesTablesThatLackWhatAKernelIs) {
  change("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN gridX TO gridWidth");
  expect_refused(AllOf(HasSubstr("in a form that nobody knows"), HasSubstr("without gridX")));
}

TEST_F(NvprofImport, RefusesFilesOfOthers) {
  change("DROP TABLE StringTable; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
  expect_refused(HasSubstr("is an export of Nsight Systems and not nvprof's"));
  std::ofstream(file) << "==17== NVPROF is profiling process 17";
  expect_refused(HasSubstr("is not a database"));
}

/// A hostile file may hold anything in place of rows.
TEST_F(NvprofImport, RefusesRowsThatNvprofNeverWrote) {
  const std::pair<const char*, const char*> cases[] = {
      {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = -1", "a row has a gridX that is no whole"},
      {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockY = 1 << 40", "blockY"},
      {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon'", "start"},
      {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET deviceId = 100000", "deviceId"},
      {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET name = 77", "text 77, which StringTable lacks"},
      {"UPDATE CUPTI_ACTIVITY_KIND_METRIC SET correlationId = 'x'", "correlationId"},
      {"UPDATE StringTable SET value = zeroblob(2000000) WHERE _id_ = 3", "more than 1 MiB"},
  };
  for (const auto& [sql, message] : cases) {
    std::filesystem::remove(file);
    write_nvprof_file(file);
    change(sql);
    expect_refused(HasSubstr(message));
  }
}

/// A file of some megabytes that would become a database of many gigabytes.
TEST_F(NvprofImport, RefusesALongNameInVeryManyShapes) {
  change(
      "UPDATE StringTable SET value = hex(zeroblob(500000)) WHERE _id_ = 2;"
      "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3000) "
      "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SELECT NULL, cacheConfig, "
      "sharedMemoryConfig, registersPerThread, 2, 2, start, end, completed, deviceId, contextId, "
      "streamId, n, 1, 1, 1, 1, 1, 0, 0, 0, 0, 487, 5, name FROM r, "
      "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
  expect_refused(HasSubstr("the names of its kernels take more than 1 GiB"));
}

/// A view or a virtual table in a table's place could compute for ever: it is not read.
TEST_F(NvprofImport, ReadsNoViews) {
  change(
      "DROP TABLE CUPTI_ACTIVITY_KIND_EVENT; CREATE VIEW CUPTI_ACTIVITY_KIND_EVENT AS WITH "
      "RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS id, n AS value, "
      "n AS domain, 488 AS correlationId FROM r");
  EXPECT_EQ(merged(file, out).launches, 2);
  EXPECT_THAT(lines_of(out, "SELECT count(*) FROM results WHERE metric = 'active_warps'"),
              ElementsAre("0"));
}

TEST_F(NvprofImport, LeavesTheFileAsItIs) {
  const auto bytes = [&] {
    std::ifstream stream(file, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  };
  const std::string before = bytes();
  merged(file, out);
  EXPECT_EQ(bytes(), before);
  EXPECT_FALSE(std::filesystem::exists(file + "-wal"));
}

/// Numbers that a public reader of nvprof's files names too (ipc by its title, executed_ipc).
TEST(NvprofIds, NamesNumbersAsCuptiDoes) {
  EXPECT_EQ(nvprof_metric(19923062)->name, "achieved_occupancy");
  EXPECT_EQ(nvprof_metric(19923058)->name, "ipc");
  EXPECT_EQ(nvprof_event(83886184), "active_warps");
  EXPECT_EQ(nvprof_event(83886182), "active_cycles");
  EXPECT_EQ(nvprof_event(83886183), "elapsed_cycles_sm");
  EXPECT_FALSE(nvprof_metric(1));
  EXPECT_EQ(nvprof_event(999'999'999), "");
}

TEST(NvprofIds, FindNumbersOfNames) {
  const auto number = nvprof_metric_number("gld_efficiency");
  ASSERT_TRUE(number);
  EXPECT_EQ(nvprof_metric(number->id)->name, "gld_efficiency");
  EXPECT_EQ(number->form, NvprofForm::percent);
  EXPECT_FALSE(nvprof_metric_number("no_such_metric"));
  EXPECT_EQ(nvprof_event(*nvprof_event_number("active_warps")), "active_warps");
}

}  // namespace
}  // namespace warpmeter::schema
