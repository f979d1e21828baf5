// SPDX-License-Identifier: MIT
// Databases into one: each run once, with everything that belongs to it, and no source changed.
#include "schema/merge/merge.h"

#include <fstream>
#include <iterator>
#include <regex>

#include "schema/database.h"
#include "schema/upkeep/peaks.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A launch that has a row in every table.
Launch full_launch(const std::string& variant) {
  Launch launch = example_launch();
  launch.variant = variant;
  launch.counters.push_back(measured("unit__of_" + variant + ".sum", 7));
  launch.counters.push_back(
      {"shared_" + variant, std::nullopt, Grade::unavailable, "there is none on " + variant});
  launch.expectations.push_back({"gst_efficiency", "==", 25, "columns are written"});
  launch.lines.push_back({"a.cu", 1, "x", "global load", 3, 2, 1, Grade::exact});
  launch.instructions.push_back({0x80, "executed", 16});
  launch.power.push_back({0.09, 512.5, 1980, 41});
  launch.intervals.push_back({"gst_efficiency", 24.5, 25.5});
  launch.explanation = example_explanation();
  launch.explanation.findings[0].evidence += variant;
  return launch;
}

void store_full_run(const std::string& path, const std::string& variant, int launches) {
  Store store(path);
  auto record = example_run(variant);
  record.environment = {{"SLURM_JOB_ID", "17 " + variant}};
  const std::int64_t run = store.begin_run(record);
  Device device_record = example_device();
  device_record.uuid = "GPU-" + variant;
  const std::int64_t device = store.add_device(run, device_record);
  const Peak peaks[] = {{"fp32", "TFLOP/s", 60.5, 1980, ""},
                        {"tensor_fp8", "TFLOP/s", {}, {}, variant + " has none"}};
  store_peaks(path, device_record, peaks);
  DeviceState state;
  state.phase = "before";
  state.sm_clock_mhz = 1980;
  state.disturbances = {{"process", true, variant + " computed", 490, variant, 774, 88, ""},
                        {"MIG", false, "", 0, "", {}, {}, "not known"}};
  store.add_state(run, device, state);
  const auto ids =
      store.add_launches(run, device, std::vector<Launch>(launches, full_launch(variant)));
  const Completion sampled{ids[0], {}, std::nullopt, {}, {{"a.cu", 1, "x", "barrier", 3, 2}}};
  store.complete_launches(std::span(&sampled, 1));
  store.add_sources(run, std::vector<std::pair<std::string, std::string>>{{"a.cu", "x\n"}});
  const CodeText code{"a.cu", "family/" + variant, "PTX", "ret;\n"};
  store.add_codes(run, std::span(&code, 1));
  ActivityShape shape;
  shape.kind = "kernel";
  shape.name = "void reduce<4>(float*)";
  shape.device_id = device;
  shape.grid = {64, 1, 1};
  store.add_activities(run, {{{1, shape}}, {{1, 2000, 1480, {}, {}, 7, {}}}, 1});
  store.end_run(run, RunOutcome::done, "");
}

std::vector<MergedSource> merge_into(const std::string& target, std::vector<std::string> sources,
                                     bool skip = false) {
  MergeOptions options;
  options.skip_unreadable = skip;
  return merge(sources, target, options);
}

/// Everything that the views say of a run, but for the numbers that belong to one database.
std::vector<std::string> content_of(const std::string& path, const std::string& variant) {
  std::vector<std::string> all;
  for (const ViewInfo& view : views()) {
    std::string columns;
    for (const ColumnInfo& column : view.columns) {
      // A title tells a card from the others of its database.
      if (column.name.ends_with("_id") || column.name == "title" || column.name == "device") {
        continue;
      }
      columns += (columns.empty() ? "" : ", ") + column.name;
    }
    const std::string sql = fmt::format(
        "SELECT '{0}', {1} FROM {0} WHERE run_id = (SELECT run_id FROM runs WHERE label = '{2}') "
        "ORDER BY {1}",
        view.name, columns, variant);
    for (std::string& line : lines_of(path, sql)) all.push_back(std::move(line));
  }
  return all;
}

class Merge : public ::testing::Test {
 protected:
  Merge() {
    store_full_run(a, "one", 3);
    store_full_run(a, "two", 2);
    store_full_run(b, "three", 2);
  }
  Folder folder;
  std::string a = folder / "a.db", b = folder / "b.db", out = folder / "out.db";
};

TEST_F(Merge, KeepsTheLaterPeaksOfACard) {
  const auto store_peak = [](const std::string& path, double value, const char* measured) {
    store_run(path, {});
    const Peak peak{"fp32", "TFLOP/s", value, 1980, ""};
    store_peaks(path, example_device(), std::span(&peak, 1));
    Statement(open_plain(path).get(), "UPDATE t_peak SET measured = ?").execute(measured);
  };
  const std::string old = folder / "old.db", later = folder / "later.db";
  store_peak(old, 50, "2026-01-01T00:00:00.000Z");
  store_peak(later, 60, "2026-02-01T00:00:00.000Z");
  merge_into(out, {later, old});
  EXPECT_THAT(lines_of(out, "SELECT run_id, name, value FROM peaks ORDER BY run_id"),
              ElementsAre("1|fp32|60", "2|fp32|60"));
}

TEST_F(Merge, KeepsEverythingOfEveryRun) {
  const auto results = merge_into(out, {a, b});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].added, 2);
  EXPECT_EQ(results[0].launches, 5);
  EXPECT_EQ(results[1].added, 1);
  EXPECT_THAT(lines_of(out, "SELECT label, launches FROM runs ORDER BY run_id"),
              ElementsAre("one|3", "two|2", "three|2"));
  EXPECT_EQ(content_of(out, "one"), content_of(a, "one"));
  EXPECT_EQ(content_of(out, "two"), content_of(a, "two"));
  EXPECT_EQ(content_of(out, "three"), content_of(b, "three"));
  EXPECT_THAT(lines_of(out, "PRAGMA integrity_check"), ElementsAre("ok"));
  EXPECT_THAT(lines_of(out, "PRAGMA foreign_key_check"), IsEmpty());
}

TEST_F(Merge, CopiesOneRunOnce) {
  const std::string before = bytes_of(a);
  EXPECT_EQ(copy_run(b, 1, out), 1);
  EXPECT_EQ(copy_run(a, 2, out), 2);
  EXPECT_EQ(copy_run(a, 2, out), 2) << "it is there";
  EXPECT_THAT(lines_of(out, "SELECT label, launches FROM runs ORDER BY run_id"),
              ElementsAre("three|2", "two|2"));
  EXPECT_EQ(content_of(out, "two"), content_of(a, "two"));
  EXPECT_EQ(bytes_of(a), before);
  expect_failure(failure_of([&] { copy_run(a, 3, out); }), ExitCode::file, HasSubstr("no run 3"));
}

// A table that a later version adds must not be lost in silence.
TEST_F(Merge, CopiesTheRowsOfEveryTable) {
  merge_into(out, {a, b});
  for (const std::string& table :
       lines_of(out, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 't_*'")) {
    if (table == "t_counter" || table == "t_meta" || table == "t_view" || table == "t_grade" ||
        table == "t_metric" || table == "t_term" || table == "t_finding_kind" ||
        table == "t_alike") {
      continue;  // the catalogue, the views and the end of a run write these themselves
    }
    const auto rows = [&](const std::string& path) {
      return std::stoi(lines_of(path, "SELECT count(*) FROM " + table).at(0));
    };
    EXPECT_GT(rows(a), 0) << table << " has no row in this test: add one to full_launch";
    EXPECT_EQ(rows(out), rows(a) + rows(b)) << table;
  }
}

TEST_F(Merge, AgainChangesNothing) {
  merge_into(out, {a, b});
  const std::string before = bytes_of(out);
  const auto results = merge_into(out, {a, b});
  EXPECT_EQ(results[0].added + results[1].added, 0);
  EXPECT_EQ(results[0].known, 2);
  EXPECT_THAT(results[0].conflicts, IsEmpty());
  EXPECT_EQ(bytes_of(out), before);
}

TEST_F(Merge, ExtendsADatabaseThatIsAmongTheSources) {
  const auto results = merge_into(a, {a, b});
  EXPECT_TRUE(results[0].is_target);
  EXPECT_THAT(lines_of(a, "SELECT label FROM runs ORDER BY run_id"),
              ElementsAre("one", "two", "three"));
}

TEST_F(Merge, LeavesTheSourcesAsTheyAre) {
  const std::string before_a = bytes_of(a), before_b = bytes_of(b);
  merge_into(out, {a, b});
  EXPECT_EQ(bytes_of(a), before_a);
  EXPECT_EQ(bytes_of(b), before_b);
  EXPECT_FALSE(fs::exists(a + "-wal"));
  EXPECT_FALSE(fs::exists(a + "-shm"));
}

TEST_F(Merge, ReadsTheLogOfAKilledProgramAndLeavesItThere) {
  fs::create_directory(folder / "copy");
  const std::string copy = folder / "copy/a.db";
  {
    Store store(a);
    store.end_run(store.begin_run(example_run("late")), RunOutcome::done, "");
    fs::copy(a, copy);
    fs::copy(a + "-wal", copy + "-wal");
  }
  const std::string file = bytes_of(copy), log = bytes_of(copy + "-wal");
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(merge_into(out, {copy})[0].added, 3);
  EXPECT_EQ(bytes_of(copy), file);
  EXPECT_EQ(bytes_of(copy + "-wal"), log);
}

TEST_F(Merge, MigratesAnOlderSourceInACopy) {
  const std::string old = folder / "old.db";
  execute(open_plain(old).get(), fmt::format("PRAGMA application_id = {}", application_id));
  const std::string before = bytes_of(old);
  const auto results = merge_into(out, {old, a});
  EXPECT_EQ(results[0].refused, "");
  EXPECT_EQ(results[0].added, 0);
  EXPECT_EQ(results[1].added, 2);
  EXPECT_EQ(bytes_of(old), before);
}

TEST_F(Merge, TellsOfARunThatIsNotTheSameAndKeepsTheTargets) {
  merge_into(out, {a, b});
  execute(open_plain(a).get(), "UPDATE t_timing SET median_ns = 1 WHERE launch_id = 4");
  const auto results = merge_into(out, {a, b});
  ASSERT_EQ(results[0].conflicts.size(), 1U);
  EXPECT_THAT(results[0].conflicts[0],
              AllOf(HasSubstr("run 2 ("), HasSubstr("median_ns of time of "), HasSubstr(" is 8192"),
                    HasSubstr(out + " and 1 in " + a)));
  EXPECT_EQ(results[0].known, 1);
  EXPECT_THAT(results[1].conflicts, IsEmpty());
  EXPECT_THAT(lines_of(out, "SELECT count(*) FROM timings WHERE median_ns = 1"), ElementsAre("0"));
}

/// Names of files, UUIDs and what launches are called, as OUT, A, LAUNCH and COUNTER.
std::string shortened(std::string text, const std::string& out, const std::string& a) {
  text = std::regex_replace(text, std::regex(" \\([-0-9a-f]{36}\\)"), "");
  text = std::regex_replace(text, std::regex("[a-z_0-9]+/[a-z_0-9]+( at [0-9,]+)? \\(launch "),
                            "LAUNCH ");
  text = std::regex_replace(text, std::regex("the reason of [a-z_0-9]+ of "),
                            "the reason of COUNTER of ");
  for (const auto& [path, name] : {std::pair{out, "OUT"}, std::pair{a, "A"}}) {
    for (std::size_t at = 0; (at = text.find(path)) != std::string::npos;) {
      text.replace(at, path.size(), name);
    }
  }
  return text;
}

TEST_F(Merge, TellsOfEveryKindOfDifference) {
  merge_into(out, {a});
  const std::string pristine = bytes_of(a);
  const std::vector<std::pair<const char*, const char*>> changes = {
      {"DELETE FROM t_sample WHERE launch_id = 1 AND sample = 3",
       "a sample of LAUNCH 1) is in OUT and not in A"},
      {"UPDATE t_value SET value = value + 1 WHERE launch_id = 2 AND counter_id = 1",
       "shared_load_wavefronts of LAUNCH 2) is 0 in OUT and 1 in A"},
      {"UPDATE t_value SET counter_id = 999 WHERE launch_id = 2 AND counter_id = 1",
       "a value of LAUNCH 2) is in A and not in OUT"},
      {"UPDATE t_launch SET variant = 'x' WHERE launch_id = 3",
       "variant of LAUNCH 3) is one in OUT and x in A"},
      {"UPDATE t_run SET outcome = 'failed' WHERE run_id = 1",
       "its outcome is done in OUT and failed in A"},
      {"UPDATE t_device SET driver = 'x' WHERE device_id = 1",
       "the device of LAUNCH 1) is 'cupti',0,'NVIDIA "
       "H200','GH100',90,'GPU-one','580.1',132,150000000000,62914560 in OUT and 'cupti',0,'NVIDIA "
       "H200','GH100',90,'GPU-one','x',132,150000000000,62914560 in A"},
      {"UPDATE t_reason SET text = 'x' WHERE reason_id = 1",
       "the reason of COUNTER of LAUNCH 1) is there is none on one in OUT and x in A"},
      {"DELETE FROM t_launch WHERE launch_id = 1", "it has fewer launches in A than in OUT"}};
  for (const auto& [change, difference] : changes) {
    std::ofstream(a, std::ios::binary) << pristine;
    execute(open_plain(a).get(), change);
    const MergedSource result = merge_into(out, {a})[0];
    EXPECT_EQ(result.known, 1) << change;  // the other run
    ASSERT_EQ(result.conflicts.size(), 1U) << change;
    EXPECT_EQ(shortened(result.conflicts[0], out, a), std::string("run 1: ") + difference)
        << change;
  }
}

TEST_F(Merge, KeepsTheLabelThatARunHasAndSaysSo) {
  merge_into(out, {a});
  execute(open_plain(a).get(), "UPDATE t_run SET label = 'renamed' WHERE run_id = 1");
  const MergedSource result = merge_into(out, {a})[0];
  EXPECT_THAT(result.conflicts, IsEmpty());
  EXPECT_THAT(result.remarks, ElementsAre(AllOf(HasSubstr("'renamed'"), HasSubstr("'one'"))));
}

TEST_F(Merge, LeavesARunThatIsStillMeasuredForLater) {
  Store store(a);
  const std::int64_t run = store.begin_run(example_run("unfinished"));
  EXPECT_EQ(merge_into(out, {a})[0].running, 1);
  EXPECT_THAT(lines_of(out, "SELECT count(*) FROM runs"), ElementsAre("2"));
  store.end_run(run, RunOutcome::done, "");
  EXPECT_EQ(merge_into(out, {a})[0].added, 1);
}

TEST_F(Merge, TakesADeadRunAsInterruptedAndKnowsItAgain) {
  execute(open_plain(a).get(),
          "UPDATE t_run SET outcome = 'running', ended = NULL, boot_id = 'x' WHERE run_id = 1");
  EXPECT_EQ(merge_into(out, {a})[0].added, 2);
  EXPECT_THAT(lines_of(out, "SELECT outcome FROM runs ORDER BY run_id"),
              ElementsAre("interrupted", "done"));
  { const Store marks_it_there_too(a); }
  EXPECT_THAT(merge_into(out, {a})[0].conflicts, IsEmpty());
}

TEST_F(Merge, RefusesWhatItCannotReadBeforeItWrites) {
  const std::string text = folder / "text.db", broken = folder / "broken.db";
  std::ofstream(text) << std::string(5000, 'x');
  std::string bytes = bytes_of(b);
  ASSERT_GT(bytes.size(), 12 * 8192U);
  std::fill(bytes.begin() + 6 * 8192, bytes.begin() + 12 * 8192, 'x');
  std::ofstream(broken, std::ios::binary) << bytes;
  for (const auto& [wrong, reason] :
       {std::pair(text, "is not a database"), std::pair(broken, "is damaged"),
        std::pair(folder / "no.db", "there is no database")}) {
    const Failure failure = failure_of([&, path = wrong] { merge_into(out, {a, path, b}); });
    expect_failure(failure, ExitCode::file, AllOf(HasSubstr(wrong), HasSubstr(reason)));
    EXPECT_FALSE(fs::exists(out)) << wrong;
    const auto results = merge_into(folder / "rest.db", {a, wrong, b}, true);
    EXPECT_THAT(results[1].refused, HasSubstr(reason));
    EXPECT_THAT(lines_of(folder / "rest.db", "SELECT count(*) FROM runs"), ElementsAre("3"));
  }
  expect_failure(failure_of([&] { merge_into(out, {text}, true); }), ExitCode::file,
                 HasSubstr("none of the databases"));
}

TEST_F(Merge, StopsBetweenTwoRunsAndGoesOnLater) {
  int asked = 0;
  MergeOptions options;
  options.cancelled = [&] { return ++asked > 1; };
  const std::vector<std::string> sources = {a, b};
  EXPECT_EQ(merge(sources, out, options)[0].added, 1);
  const auto results = merge_into(out, sources);
  EXPECT_EQ(results[0].known, 1);
  EXPECT_THAT(lines_of(out, "SELECT count(*) FROM runs"), ElementsAre("3"));
  EXPECT_EQ(content_of(out, "two"), content_of(a, "two"));
}

TEST_F(Merge, RunsBesideAWriter) {
  Store store(out);
  const std::int64_t run = store.begin_run(example_run("other"));
  const std::int64_t device = store.add_device(run, example_device());
  merge_into(out, {a, b});
  store.add_launch(run, device, example_launch());
  store.end_run(run, RunOutcome::done, "");
  EXPECT_THAT(lines_of(out, "SELECT label, launches FROM runs ORDER BY run_id"),
              ElementsAre("other|1", "one|3", "two|2", "three|2"));
  EXPECT_EQ(content_of(out, "one"), content_of(a, "one"));
}

}  // namespace
}  // namespace warpmeter::schema
