// SPDX-License-Identifier: MIT
// The views' documentation, every column of those that tell what was stored, and how they are read
// by key. Figures derived from counters are in figures_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

class Views : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "warpmeter.db"; }

 private:
  Folder folder_;
};

TEST_F(Views, AreDocumentedColumnByColumn) {
  store_run(path(), {});
  const Reader reader(path());
  for (const ViewInfo& view : views()) {
    EXPECT_EQ(view.description.back(), '.') << view.name;
    std::vector<std::string> documented;
    for (const ColumnInfo& column : view.columns) {
      documented.push_back(column.name);
      EXPECT_FALSE(column.description.empty()) << view.name << '.' << column.name;
    }
    EXPECT_THAT(documented, ElementsAreArray(reader.query("SELECT * FROM " + view.name).columns))
        << view.name;
  }
}

TEST_F(Views, AreSortedByName) {
  std::vector<std::string> names;
  for (const ViewInfo& view : views()) names.push_back(view.name);
  EXPECT_THAT(
      names, ElementsAre("activities", "codes", "comparison", "counters", "device_states",
                         "devices", "disturbances", "environment", "expectations", "explanations",
                         "findings", "instructions", "intervals", "launches", "lines", "looked_for",
                         "peaks", "power_samples", "predictions", "remedies", "results", "runs",
                         "samples", "sources", "stalls", "timings"));
}

TEST_F(Views, JoinTheLinesOfADescription) {
  for (const ViewInfo& view : views()) {
    if (view.name != "results") continue;
    const auto grade =
        std::find_if(view.columns.begin(), view.columns.end(),
                     [](const ColumnInfo& column) { return column.name == "grade"; });
    ASSERT_NE(grade, view.columns.end());
    EXPECT_THAT(grade->description, HasSubstr("a derived value has the grade of its weakest"));
  }
}

TEST_F(Views, KeepTheColumnsThatOthersRelyOn) {
  store_run(path(), {});
  const Reader reader(path());
  const std::map<std::string, std::vector<std::string>> promised = {
      {"results",
       {"run_id", "launch_id", "device", "backend", "family", "variant", "size", "metric", "value",
        "unit", "grade", "reason"}},
      {"comparison",
       {"run_id", "launch_id", "device", "backend", "family", "variant", "size", "grid", "block",
        "duration_ns", "shared_load_transactions_per_request",
        "shared_store_transactions_per_request", "gld_efficiency", "gst_efficiency",
        "gld_transactions", "gst_transactions", "achieved_bandwidth"}},
  };
  for (const auto& [view, columns] : promised) {
    std::vector<std::string> there = reader.query("SELECT * FROM " + view).columns;
    ASSERT_GE(there.size(), columns.size());
    there.resize(columns.size());
    EXPECT_EQ(there, columns) << view;
  }
}

TEST_F(Views, RunsTellWhenWhereAndHow) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run("nightly"));
  const std::int64_t device = store.add_device(run, example_device());
  DeviceState before;
  before.phase = "before";
  before.sm_clock_mhz = 345;
  before.memory_clock_mhz = 3201;
  DeviceState after = before;
  after.phase = "after";
  after.sm_clock_mhz = 1980;
  store.add_state(run, device, before);
  store.add_state(run, device, after);
  Launch failed = example_launch();
  failed.outcome = LaunchOutcome::failed;
  failed.reason = "illegal address";
  store.add_launch(run, device, example_launch());
  store.add_launch(run, device, failed);
  store.end_run(run, RunOutcome::failed, "1 of 2 launches failed");
  EXPECT_THAT(
      lines_of(path(),
               "SELECT run_id, host, tool_version, git_revision, backend, device, driver, "
               "sm_clock_mhz, memory_clock_mhz, label, outcome, reason, cuda_version, command, "
               "launches, failed_launches FROM runs"),
      ElementsAre("1|lab7|0.1.0|abc123|cupti|NVIDIA H200|580.1|1980|3201|nightly|failed|1 of 2 "
                  "launches failed|13.0|warpmeter run transpose|2|1"));
  const std::string time = "[0-9]+-[0-9][0-9]-[0-9][0-9]T[0-9:]+[.][0-9][0-9][0-9]Z";
  EXPECT_THAT(lines_of(path(), "SELECT started, ended FROM runs"),
              ElementsAre(MatchesRegex(time + "[|]" + time)));
  EXPECT_THAT(lines_of(path(), "SELECT uuid FROM runs"),
              ElementsAre(MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                       "[0-9a-f]{12}")));
}

TEST_F(Views, RunsTellWhatIsNotThereYet) {
  Store store(path());
  store.begin_run(example_run());
  EXPECT_THAT(lines_of(path(),
                       "SELECT ended, device, driver, sm_clock_mhz, label, outcome, reason, "
                       "launches FROM runs"),
              ElementsAre("NULL|NULL|NULL|NULL|NULL|running|NULL|0"));
}

TEST_F(Views, RunsNameEachOfTheirDevices) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  Device second = example_device();
  second.ordinal = 1;
  second.uuid = "GPU-2";
  Device model;
  model.backend = "model";
  model.name = "model sm_90";
  model.ordinal = 2;
  for (const Device& device : {example_device(), second, model}) store.add_device(run, device);
  EXPECT_THAT(lines_of(path(), "SELECT device FROM runs"),
              ElementsAre("NVIDIA H200 #0, NVIDIA H200 #1, model sm_90"));
}

TEST_F(Views, LaunchesTellTheGeometryAndTheOutcome) {
  Launch launch = example_launch();
  launch.dynamic_shared_bytes = 128;
  launch.is_ceiling = true;
  launch.nvtx_range = "solve";
  launch.local_bytes = 40;
  launch.code = {1280, 24, 16, ""};
  store_run(path(), {launch});
  EXPECT_THAT(
      lines_of(path(), "SELECT * FROM launches"),
      ElementsAre("1|1|1|NVIDIA H200|cupti|transpose|naive|1024|transpose_naive|solve|64x64x1|"
                  "16x16x1|128|0|12|40|24|16|8|64|100|none|NULL|4194304|4194304|0|1|1|done|NULL"));
}

TEST_F(Views, LaunchesLeaveOpenWhatIsNotKnown) {
  Launch launch;
  launch.family = "smem_square";
  launch.variant = "set_row_read_row";
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "barrier not reached";
  store_run(path(), {launch});
  EXPECT_THAT(
      lines_of(path(),
               "SELECT size, static_shared_bytes, registers, local_bytes, useful_bytes_read, "
               "useful_bytes_written, flops, verified, is_ceiling, outcome, reason "
               "FROM launches"),
      ElementsAre("NULL|NULL|NULL|NULL|NULL|NULL|NULL|0|0|failed|barrier not reached"));
}

TEST_F(Views, TimingsSummariseTheSamples) {
  Launch launch = example_launch();
  launch.timing = Timing{{4, 1, 3, 2}, CacheState::warm, 0.25, "samples"};
  store_run(path(), {launch, example_launch()});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM timings WHERE launch_id = 1"),
              ElementsAre("1|1|4|2.5|1|2.5|1.29099444874|0.25|warm|samples"));
  EXPECT_THAT(lines_of(path(), "SELECT cache, samples FROM timings"),
              ElementsAre("warm|4", "cold|3"));
}

TEST_F(Views, TimingsHaveNoDeviationOfOneSample) {
  Launch launch = example_launch();
  launch.timing->samples_ns = {5};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(),
                       "SELECT samples, median_ns, stddev_ns, relative_confidence "
                       "FROM timings"),
              ElementsAre("1|5|NULL|NULL"));
}

TEST_F(Views, SamplesKeepTheirOrder) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM samples"),
              ElementsAre("1|1|1|9000", "1|1|2|8000", "1|1|3|8192"));
}

TEST_F(Views, LinesTellTheExcess) {
  Launch launch = example_launch();
  launch.lines = {
      {"kernels/a.cu", 12, "tile[x][y] = v;", "shared store", 32, 1024, 32, Grade::exact},
      {"kernels/a.cu", 13, "v = tile[y][x];", "shared load", 0, 0, 0, Grade::ptx}};
  store_run(path(), {launch});
  EXPECT_THAT(
      lines_of(path(), "SELECT * FROM lines"),
      ElementsAre("1|1|kernels/a.cu|12|tile[x][y] = v;|shared store|32|1024|NULL|32|992|3.125|"
                  "exact",
                  "1|1|kernels/a.cu|13|v = tile[y][x];|shared load|0|0|NULL|0|0|NULL|ptx"));
}

TEST_F(Views, LinesTellTheEfficiencyOfGlobalAccessesAsTheLaunchDoes) {
  Launch launch = example_launch();
  launch.counters = {measured("global_load_sectors", 41), measured("global_load_bytes", 164),
                     measured("global_store_sectors", 0), measured("global_store_bytes", 0)};
  launch.lines = {{"a.cu", 1, "", "global load", 2, 41, 6, Grade::exact, 164},
                  {"a.cu", 2, "", "global store", 0, 0, 0, Grade::exact, 0},
                  {"a.cu", 3, "", "global reduction", 1, 4, 4, Grade::exact, 64},
                  {"a.cu", 4, "", "global load", 2, 41, 6, Grade::exact}};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT value FROM results WHERE metric = 'gld_efficiency'"),
              ElementsAre("12.5"));
  EXPECT_THAT(lines_of(path(), "SELECT line, bytes, efficiency FROM lines"),
              ElementsAre("1|164|12.5", "2|0|NULL", "3|64|50", "4|NULL|NULL"))
      << "what was recorded without its bytes has no efficiency";
}

TEST_F(Views, DevicesAreThoseOfTheirRun) {
  store_run(path(), {});
  store_run(path(), {});
  Store store(path());
  Device model;
  model.backend = "model";
  model.name = "model sm_90";
  model.compute_capability = 90;
  store.add_device(store.begin_run(example_run()), model);
  const std::string h200 =
      "|1|cupti|0|NVIDIA H200|NVIDIA H200|GH100|90|GPU-1|580.1|132|150000000000|62914560";
  EXPECT_THAT(lines_of(path(), "SELECT * FROM devices ORDER BY run_id"),
              ElementsAre("1" + h200, "2" + h200,
                          "3|2|model|0|model sm_90|model sm_90|NULL|90|NULL|NULL|NULL|NULL|NULL"));
}

TEST_F(Views, DevicesOfAnotherDriverAreOtherDevices) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  Device newer = example_device();
  newer.driver = "590";
  EXPECT_NE(store.add_device(run, example_device()), store.add_device(run, newer));
  EXPECT_EQ(store.add_device(run, newer), store.add_device(run, newer));
}

TEST_F(Views, DeviceStatesTellWhatIsKnown) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  const std::int64_t device = store.add_device(run, example_device());
  DeviceState before;
  before.phase = "before";
  before.sm_clock_mhz = 1980;
  before.memory_clock_mhz = 3201;
  before.temperature_c = 41;
  before.power_w = 120.5;
  before.throttle_reasons = "power cap";
  before.ecc = true;
  before.mig = false;
  DeviceState after;
  after.phase = "after";
  after.unavailable = "no NVML";
  store.add_state(run, device, before);
  store.add_state(run, device, after);
  EXPECT_THAT(lines_of(path(), "SELECT * FROM device_states ORDER BY phase DESC"),
              ElementsAre("1|1|NVIDIA H200|before|1980|3201|41|120.5|power cap|1|0|NULL|NULL",
                          "1|1|NVIDIA H200|after|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|no NVML"));
}

TEST_F(Views, DisturbancesTellWhatWasFoundAndWhatCouldNotBe) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  const std::int64_t device = store.add_device(run, example_device());
  DeviceState before;
  before.phase = "before";
  before.disturbances = {{"process", true, "python3 computed", 490, "python3", 774, 88, ""},
                         {"MIG", false, "an instance", 0, "", {}, {}, ""}};
  DeviceState after;
  after.phase = "after";
  after.disturbances = {{"process", false, "", 0, "", {}, {}, "no NVML"}};
  store.add_state(run, device, before);
  store.add_state(run, device, after);
  store.add_state(run, device, before);  // again: in its place
  EXPECT_THAT(
      lines_of(path(), "SELECT * FROM disturbances ORDER BY phase DESC, kind"),
      ElementsAre("1|1|NVIDIA H200|before|MIG|0|an instance|NULL|NULL|NULL|NULL|NULL",
                  "1|1|NVIDIA H200|before|process|1|python3 computed|490|python3|774|88|NULL",
                  "1|1|NVIDIA H200|after|process|0|NULL|NULL|NULL|NULL|NULL|no NVML"));
}

TEST_F(Views, EnvironmentTellsTheJobAndItsDevices) {
  Store store(path());
  auto run = example_run();
  run.environment = {{"SLURM_JOB_ID", "17"}};
  const std::int64_t id = store.begin_run(run);
  run.environment = {{"SLURM_JOB_ID", "17"}, {"CUDA_VISIBLE_DEVICES", "2"}};
  store.add_environment(id, run);  // another process goes on with it
  EXPECT_THAT(lines_of(path(), "SELECT * FROM environment ORDER BY name"),
              ElementsAre("1|CUDA_VISIBLE_DEVICES|2", "1|SLURM_JOB_ID|17"));
}

TEST_F(Views, TellTwoCardsOfOneNameApart) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  Device second = example_device();
  second.ordinal = 1;
  second.uuid = "GPU-2";
  const std::int64_t first_id = store.add_device(run, example_device());
  store.add_launch(run, first_id, example_launch());
  const auto devices_in = [&](const char* view) {
    return lines_of(path(), fmt::format("SELECT DISTINCT device FROM {} ORDER BY 1", view));
  };
  for (const char* view : {"launches", "results", "comparison", "runs"}) {
    EXPECT_THAT(devices_in(view), ElementsAre("NVIDIA H200")) << view;
  }
  const std::int64_t second_id = store.add_device(run, second);
  store.add_launch(run, second_id, example_launch());
  for (const std::int64_t device : {first_id, second_id}) {
    DeviceState state;
    state.phase = "after";
    state.disturbances = {{"MIG", false, "an instance", 0, "", {}, {}, ""}};
    store.add_state(run, device, state);
  }
  for (const char* view : {"launches", "results", "comparison", "device_states", "disturbances"}) {
    EXPECT_THAT(devices_in(view), ElementsAre("NVIDIA H200 #0", "NVIDIA H200 #1")) << view;
  }
  EXPECT_THAT(devices_in("runs"), ElementsAre("NVIDIA H200 #0, NVIDIA H200 #1"));
}

// A report on one run in a database of many must not read the others.
class Plans : public ::testing::TestWithParam<std::string> {};

TEST_P(Plans, FindRowsOfARunByKey) {
  const Folder folder;
  store_run(folder / "a.db", {example_launch()});
  const Reader reader(folder / "a.db");
  for (const std::string key : {"run_id", "launch_id"}) {
    const std::vector<std::string> columns = reader.query("SELECT * FROM " + GetParam()).columns;
    if (std::find(columns.begin(), columns.end(), key) == columns.end()) continue;
    const Rows plan =
        reader.query("EXPLAIN QUERY PLAN SELECT * FROM " + GetParam() + " WHERE " + key + " = 1");
    std::vector<std::string> steps;
    for (const auto& row : plan.rows) steps.push_back(text_of(row.back()));
    // The catalogue's metrics and a query's own results are small.
    for (const char* alias : {"l", "a", "v", "t", "x", "n", "s", "r", "rd"}) {
      EXPECT_THAT(steps, Not(Contains(std::string("SCAN ") + alias))) << key;
    }
    EXPECT_THAT(steps, Not(Contains(HasSubstr("MATERIALIZE")))) << key;
    EXPECT_THAT(steps, Not(Contains(HasSubstr("AUTOMATIC")))) << key;
  }
}

TEST_F(Views, AConditionOnAMetricDoesNotReadEveryCounter) {
  store_run(path(), {example_launch()});
  const Rows plan = Reader(path()).query(
      "EXPLAIN QUERY PLAN SELECT * FROM comparison WHERE gld_transactions > 1 AND gst_efficiency < "
      "50");
  for (const auto& row : plan.rows) {
    const std::string step = text_of(row.back());
    EXPECT_TRUE(!step.starts_with("SCAN") || step.starts_with("SCAN l")) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Views, Plans,
                         ::testing::Values("comparison", "counters", "device_states", "devices",
                                           "disturbances", "environment", "expectations",
                                           "explanations", "findings", "launches", "lines",
                                           "looked_for", "predictions", "remedies", "results",
                                           "runs", "samples", "timings"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace warpmeter::schema
