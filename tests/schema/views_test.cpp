// Every view and every column of it, on small records whose figures can be worked out by hand.
#include <algorithm>
#include <map>

#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

class Views : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "warpmeter.db"; }

  /// "value|unit|grade|reason" of one figure of the only launch.
  std::vector<std::string> result(const std::string& metric) const {
    return lines_of(Reader(path()),
                    "SELECT value, unit, grade, reason FROM results WHERE metric = :m",
                    {{":m", metric}});
  }

  std::vector<std::string> expectation(const Launch& launch) const {
    store_run(path(), {launch});
    return lines_of(path(), "SELECT measured, grade, verdict, verdict_reason FROM expectations");
  }

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
  EXPECT_THAT(names, ElementsAre("comparison", "device_states", "devices", "expectations",
                                 "launches", "lines", "results", "runs", "samples", "timings"));
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

TEST_F(Views, RunsNameEachKindOfDeviceOnce) {
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
  EXPECT_THAT(lines_of(path(), "SELECT device FROM runs"), ElementsAre("NVIDIA H200, model sm_90"));
}

TEST_F(Views, LaunchesTellTheGeometryAndTheOutcome) {
  Launch launch = example_launch();
  launch.dynamic_shared_bytes = 128;
  launch.is_ceiling = true;
  store_run(path(), {launch});
  EXPECT_THAT(
      lines_of(path(), "SELECT * FROM launches"),
      ElementsAre("1|1|1|NVIDIA H200|cupti|transpose|naive|1024|transpose_naive|64x64x1|16x16x1|"
                  "128|0|12|4194304|4194304|0|1|1|done|NULL"));
}

TEST_F(Views, LaunchesLeaveOpenWhatIsNotKnown) {
  Launch launch;
  launch.family = "smem_square";
  launch.variant = "set_row_read_row";
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "barrier not reached";
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(),
                       "SELECT size, static_shared_bytes, registers, useful_bytes_read, "
                       "useful_bytes_written, flops, verified, is_ceiling, outcome, reason "
                       "FROM launches"),
              ElementsAre("NULL|NULL|NULL|NULL|NULL|NULL|0|0|failed|barrier not reached"));
}

TEST_F(Views, ResultsHoldCountersAsMeasured) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM results WHERE metric = 'global_store_sectors'"),
              ElementsAre("1|1|NVIDIA H200|cupti|transpose|naive|1024|global_store_sectors|524288|"
                          "sectors|measured|NULL"));
}

TEST_F(Views, ResultsHoldPerfWorksNamesWithoutUnit) {
  Launch launch = example_launch();
  launch.counters = {measured("l1tex__t_bytes.sum", 12.5)};
  store_run(path(), {launch});
  EXPECT_THAT(result("l1tex__t_bytes.sum"), ElementsAre("12.5|NULL|measured|NULL"));
}

TEST_F(Views, ResultsDeriveMetricsFromCounters) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(result("gld_efficiency"), ElementsAre("100|%|measured|NULL"));
  EXPECT_THAT(result("gst_efficiency"), ElementsAre("25|%|measured|NULL"));
  EXPECT_THAT(result("gst_transactions"), ElementsAre("524288|transactions|measured|NULL"));
  EXPECT_THAT(result("gst_transactions_per_request"),
              ElementsAre("16|transactions/request|measured|NULL"));
}

struct Derivation {
  const char* metric;
  std::vector<Counter> counters;
  const char* value;
};

class EveryMetric : public ::testing::TestWithParam<Derivation> {};

TEST_P(EveryMetric, IsDerivedAsDefined) {
  const Folder folder;
  Launch launch = example_launch();
  launch.counters = GetParam().counters;
  store_run(folder / "a.db", {launch});
  EXPECT_THAT(lines_of(Reader(folder / "a.db"), "SELECT value FROM results WHERE metric = :m",
                       {{":m", GetParam().metric}}),
              ElementsAre(GetParam().value));
}

INSTANTIATE_TEST_SUITE_P(
    Catalogue, EveryMetric,
    ::testing::Values(
        Derivation{"shared_load_transactions", {measured("shared_load_wavefronts", 7)}, "7"},
        Derivation{"shared_store_transactions", {measured("shared_store_wavefronts", 8)}, "8"},
        Derivation{
            "shared_load_transactions_per_request",
            {measured("shared_load_wavefronts", 786432), measured("shared_load_requests", 655360)},
            "1.2"},
        Derivation{"shared_store_transactions_per_request",
                   {measured("shared_store_wavefronts", 64), measured("shared_store_requests", 2)},
                   "32"},
        Derivation{"gld_transactions", {measured("global_load_sectors", 9)}, "9"},
        Derivation{"gst_transactions", {measured("global_store_sectors", 10)}, "10"},
        Derivation{"gld_transactions_per_request",
                   {measured("global_load_sectors", 9), measured("global_load_requests", 4)},
                   "2.25"},
        Derivation{"gst_transactions_per_request",
                   {measured("global_store_sectors", 8), measured("global_store_requests", 2)},
                   "4"},
        Derivation{
            "gld_efficiency",
            {measured("global_load_bytes", 37748736), measured("global_load_sectors", 2097152)},
            "56.25"},
        Derivation{"gst_efficiency",
                   {measured("global_store_bytes", 8), measured("global_store_sectors", 1)},
                   "25"},
        Derivation{"gld_throughput", {measured("global_load_bytes_per_second", 2.5e12)}, "2500"},
        Derivation{"gst_throughput", {measured("global_store_bytes_per_second", 1e9)}, "1"},
        Derivation{"gld_requested_throughput",
                   {measured("global_load_bytes", 1000), measured("duration_profiled", 500)},
                   "2"},
        Derivation{"gst_requested_throughput",
                   {measured("global_store_bytes", 1000), measured("duration_profiled", 250)},
                   "4"},
        Derivation{"dram_read_throughput", {measured("dram_read_bytes_per_second", 3e9)}, "3"},
        Derivation{"dram_write_throughput", {measured("dram_write_bytes_per_second", 4e9)}, "4"},
        Derivation{"inst_executed", {measured("warp_instructions", 753664)}, "753664"},
        Derivation{"warp_execution_efficiency",
                   {measured("thread_instructions", 24), measured("warp_instructions", 1)},
                   "75"},
        Derivation{
            "flop_count_sp",
            {measured("flop_sp_add", 1), measured("flop_sp_mul", 10), measured("flop_sp_fma", 100)},
            "211"},
        Derivation{
            "flop_count_dp",
            {measured("flop_dp_add", 1), measured("flop_dp_mul", 10), measured("flop_dp_fma", 100)},
            "211"},
        Derivation{"stall_constant_memory_dependency", {measured("stalled_imc_miss", 3)}, "3"},
        Derivation{"stall_exec_dependency",
                   {measured("stalled_short_scoreboard", 3), measured("stalled_wait", 4)},
                   "7"},
        Derivation{"stall_inst_fetch", {measured("stalled_no_instruction", 3)}, "3"},
        Derivation{"stall_memory_dependency", {measured("stalled_long_scoreboard", 3)}, "3"},
        Derivation{"stall_memory_throttle",
                   {measured("stalled_drain", 3), measured("stalled_lg_throttle", 4)},
                   "7"},
        Derivation{"stall_not_selected", {measured("stalled_not_selected", 3)}, "3"},
        Derivation{"stall_other",
                   {measured("stalled_branch_resolving", 1), measured("stalled_dispatch_stall", 2),
                    measured("stalled_misc", 4)},
                   "7"},
        Derivation{"stall_pipe_busy",
                   {measured("stalled_math_pipe_throttle", 3), measured("stalled_mio_throttle", 4)},
                   "7"},
        Derivation{"stall_sleeping", {measured("stalled_sleeping", 3)}, "3"},
        Derivation{
            "stall_sync", {measured("stalled_barrier", 3), measured("stalled_membar", 4)}, "7"},
        Derivation{"stall_texture", {measured("stalled_tex_throttle", 3)}, "3"}),
    [](const auto& test) { return test.param.metric; });

TEST_F(Views, ResultsShowAMetricOnlyWithAllItsCounters) {
  Launch launch = example_launch();
  launch.counters = {measured("global_load_bytes", 32), measured("flop_sp_add", 1),
                     measured("flop_sp_mul", 1)};
  store_run(path(), {launch});
  EXPECT_THAT(result("gld_efficiency"), IsEmpty());
  EXPECT_THAT(result("flop_count_sp"), IsEmpty());
}

TEST_F(Views, ResultsSayWhyAQuotientIsUndefined) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(result("shared_load_transactions_per_request"),
              ElementsAre("NULL|transactions/request|unavailable|no shared load requests"));
}

TEST_F(Views, ResultsGradeAMetricByItsWeakestCounter) {
  Launch launch = example_launch();
  launch.counters = {{"shared_load_wavefronts", 786432.0, Grade::ptx, "loads may be merged"},
                     {"shared_load_requests", 655360.0, Grade::exact, ""},
                     {"global_load_bytes", 8.0, Grade::exact, ""},
                     {"global_load_sectors", 1.0, Grade::modelled, ""}};
  store_run(path(), {launch});
  EXPECT_THAT(result("shared_load_transactions_per_request"),
              ElementsAre("1.2|transactions/request|ptx|loads may be merged"));
  EXPECT_THAT(result("gld_efficiency"), ElementsAre("25|%|modelled|NULL"));
}

TEST_F(Views, ResultsPassOnWhyACounterIsUnavailable) {
  Launch launch = example_launch();
  launch.counters = {{"global_load_bytes", std::nullopt, Grade::unavailable, "no permission"},
                     measured("global_load_sectors", 0)};
  store_run(path(), {launch});
  EXPECT_THAT(result("global_load_bytes"), ElementsAre("NULL|bytes|unavailable|no permission"));
  EXPECT_THAT(result("gld_efficiency"), ElementsAre("NULL|%|unavailable|no permission"));
}

TEST_F(Views, ResultsPreferTheDenominatorsZeroToARemarkOnTheGrade) {
  Launch launch = example_launch();
  launch.counters = {{"shared_load_wavefronts", 0.0, Grade::ptx, "loads may be merged"},
                     {"shared_load_requests", 0.0, Grade::exact, ""}};
  store_run(path(), {launch});
  EXPECT_THAT(result("shared_load_transactions_per_request"),
              ElementsAre("NULL|transactions/request|unavailable|no shared load requests"));
}

TEST_F(Views, ResultsNeverCallAMissingValueAnythingButUnavailable) {
  Launch launch = example_launch();
  launch.counters = {{"global_load_bytes", std::nullopt, Grade::measured, "not read"}};
  store_run(path(), {launch});
  EXPECT_THAT(result("global_load_bytes"), ElementsAre("NULL|bytes|unavailable|not read"));
}

TEST_F(Views, ResultsTakeDurationAndBandwidthFromTheTiming) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(result("duration"), ElementsAre("8192|ns|measured|NULL"));
  EXPECT_THAT(result("achieved_bandwidth"), ElementsAre("1024|GB/s|measured|NULL"));
}

TEST_F(Views, ResultsSayWhyThereIsNoTime) {
  Launch launch = example_launch();
  launch.timing.reset();
  launch.timing_reason = "the model has no clock";
  store_run(path(), {launch});
  EXPECT_THAT(result("duration"), ElementsAre("NULL|ns|unavailable|the model has no clock"));
  EXPECT_THAT(result("achieved_bandwidth"),
              ElementsAre("NULL|GB/s|unavailable|the model has no clock"));
}

TEST_F(Views, ResultsSayWhyThereIsNoBandwidth) {
  Launch launch = example_launch();
  launch.useful_bytes_read.reset();
  store_run(path(), {launch});
  EXPECT_THAT(result("duration"), ElementsAre("8192|ns|measured|NULL"));
  EXPECT_THAT(result("achieved_bandwidth"),
              ElementsAre("NULL|GB/s|unavailable|its useful bytes are not known"));
}

TEST_F(Views, ResultsDoNotDivideByAClockThatStoodStill) {
  Launch launch = example_launch();
  launch.timing->samples_ns = {0, 0};
  store_run(path(), {launch});
  EXPECT_THAT(result("achieved_bandwidth"),
              ElementsAre("NULL|GB/s|unavailable|it took no time that the clock could show"));
}

TEST_F(Views, ResultsHoldNothingOfAFailedLaunch) {
  Launch launch = example_launch();
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "wrong answer at 17";
  launch.lines.push_back({"a.cu", 1, "", "global load", 1, 1, 1, Grade::exact});
  store_run(path(), {launch});
  for (const char* view : {"results", "timings", "samples", "lines"}) {
    EXPECT_THAT(lines_of(path(), std::string("SELECT * FROM ") + view), IsEmpty()) << view;
  }
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
  EXPECT_THAT(lines_of(path(), "SELECT samples, median_ns, stddev_ns FROM timings"),
              ElementsAre("1|5|NULL"));
}

TEST_F(Views, SamplesKeepTheirOrder) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM samples"),
              ElementsAre("1|1|1|9000", "1|1|2|8000", "1|1|3|8192"));
}

TEST_F(Views, ComparisonPutsTheStandardMetricsSideBySide) {
  Launch launch = example_launch();
  launch.counters[0].value = 64;
  launch.counters[1].value = 2;
  launch.counters[2].value = 2;
  launch.counters[3].value = 2;
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM comparison"),
              ElementsAre("1|1|NVIDIA H200|cupti|transpose|naive|1024|64x64x1|16x16x1|8192|32|1|"
                          "100|25|131072|524288|1024|done|NULL"));
}

TEST_F(Views, ComparisonShowsFailedLaunchesWithoutFigures) {
  Launch launch = example_launch();
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "wrong answer at 17";
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM comparison"),
              ElementsAre("1|1|NVIDIA H200|cupti|transpose|naive|1024|64x64x1|16x16x1|NULL|NULL|"
                          "NULL|NULL|NULL|NULL|NULL|NULL|failed|wrong answer at 17"));
}

TEST_F(Views, ComparisonIgnoresAQuotientWithAMissingCounter) {
  Launch launch = example_launch();
  launch.counters = {measured("global_load_bytes", 32)};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT gld_efficiency FROM comparison"), ElementsAre("NULL"));
}

TEST_F(Views, LinesTellTheExcess) {
  Launch launch = example_launch();
  launch.lines = {
      {"kernels/a.cu", 12, "tile[x][y] = v;", "shared store", 32, 1024, 32, Grade::exact},
      {"kernels/a.cu", 13, "v = tile[y][x];", "shared load", 0, 0, 0, Grade::ptx}};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM lines"),
              ElementsAre("1|1|kernels/a.cu|12|tile[x][y] = v;|shared store|32|1024|32|992|3.125|"
                          "exact",
                          "1|1|kernels/a.cu|13|v = tile[y][x];|shared load|0|0|0|0|NULL|ptx"));
}

TEST_F(Views, ExpectationsCompareByTheirRelation) {
  Launch launch = example_launch();
  launch.expectations = {
      {"gst_efficiency", "==", 25, "a column"}, {"gst_efficiency", "==", 26, "a column"},
      {"gst_efficiency", "<=", 25, "a column"}, {"gst_efficiency", "<=", 24, "a column"},
      {"gst_efficiency", ">=", 25, "a column"}, {"gst_efficiency", ">=", 26, "a column"}};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM expectations WHERE relation = '=='"),
              ElementsAre("1|1|transpose|naive|1024|gst_efficiency|==|25|25|measured|holds|"
                          "a column|NULL",
                          "1|1|transpose|naive|1024|gst_efficiency|==|26|25|measured|broken|"
                          "a column|NULL"));
  EXPECT_THAT(lines_of(path(), "SELECT verdict FROM expectations"),
              ElementsAre("holds", "broken", "holds", "broken", "holds", "broken"));
}

TEST_F(Views, ExpectationsForgiveTheLastDigitOfAQuotient) {
  Launch launch = example_launch();
  launch.counters = {measured("shared_load_wavefronts", 1), measured("shared_load_requests", 3)};
  launch.expectations = {{"shared_load_transactions_per_request", "==", 0.33333333333, ""},
                         {"shared_load_transactions_per_request", "==", 0.333333, ""}};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT verdict FROM expectations"), ElementsAre("holds", "broken"));
}

TEST_F(Views, ExpectationsMayBeOfCountersAndTimes) {
  Launch launch = example_launch();
  launch.expectations = {{"global_load_sectors", "==", 131072, ""},
                         {"duration", "<=", 9000, ""},
                         {"achieved_bandwidth", ">=", 2000, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("131072|measured|holds|NULL", "8192|measured|holds|NULL",
                          "1024|measured|broken|NULL"));
}

TEST_F(Views, ExpectationsOfPtxCountsAreNeverBroken) {
  Launch launch = example_launch();
  launch.counters = {{"shared_load_wavefronts", 64.0, Grade::ptx, ""}};
  launch.expectations = {{"shared_load_transactions", "==", 64, ""},
                         {"shared_load_transactions", "==", 32, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("64|ptx|holds|NULL",
                          "64|ptx|inconclusive|it was counted from PTX: the machine code may "
                          "differ"));
}

TEST_F(Views, ExpectationsOfUnavailableValuesAreInconclusive) {
  Launch launch = example_launch();
  launch.counters = {{"global_load_bytes", std::nullopt, Grade::unavailable, "no permission"},
                     measured("global_load_sectors", 1),
                     measured("shared_load_wavefronts", 0),
                     measured("shared_load_requests", 0)};
  launch.expectations = {{"gld_efficiency", "==", 100, ""},
                         {"shared_load_transactions_per_request", "==", 1, ""},
                         {"gst_efficiency", "==", 100, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("NULL|unavailable|inconclusive|no permission",
                          "NULL|unavailable|inconclusive|no shared load requests",
                          "NULL|unavailable|inconclusive|it was not measured"));
}

TEST_F(Views, ExpectationsOfAFailedLaunchAreInconclusive) {
  Launch launch = example_launch();
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "wrong answer at 17";
  launch.expectations = {{"gld_efficiency", "==", 100, ""}};
  EXPECT_THAT(expectation(launch),
              ElementsAre("NULL|unavailable|inconclusive|the launch failed: wrong answer at 17"));
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
  const std::string h200 = "|1|cupti|0|NVIDIA H200|GH100|90|GPU-1|580.1|132|150000000000|62914560";
  EXPECT_THAT(lines_of(path(), "SELECT * FROM devices ORDER BY run_id"),
              ElementsAre("1" + h200, "2" + h200,
                          "3|2|model|0|model sm_90|NULL|90|NULL|NULL|NULL|NULL|NULL"));
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

INSTANTIATE_TEST_SUITE_P(Views, Plans,
                         ::testing::Values("comparison", "device_states", "devices", "expectations",
                                           "launches", "lines", "results", "runs", "samples",
                                           "timings"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace warpmeter::schema
