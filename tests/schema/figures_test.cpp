// SPDX-License-Identifier: MIT
// The results of `results` and `comparison` for counters and timings, on figures that can be worked
// out by hand.
#include "schema/figures/figures.h"

#include <map>

#include "schema/catalogue.h"
#include "schema/view_sql.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Results : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "warpmeter.db"; }

  /// "value|unit|grade|reason" of one figure of the only launch.
  std::vector<std::string> result(const std::string& metric) const {
    return lines_of(Reader(path()),
                    "SELECT value, unit, grade, reason FROM results WHERE metric = :m",
                    {{":m", metric}});
  }

 private:
  Folder folder_;
};

TEST_F(Results, HoldCountersAsMeasured) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM results WHERE metric = 'global_store_sectors'"),
              ElementsAre("1|1|NVIDIA H200|cupti|transpose|naive|1024|global_store_sectors|524288|"
                          "sectors|measured|NULL"));
}

TEST_F(Results, HoldPerfWorksNamesWithoutUnit) {
  Launch launch = example_launch();
  launch.counters = {measured("l1tex__t_bytes.sum", 12.5)};
  store_run(path(), {launch});
  EXPECT_THAT(result("l1tex__t_bytes.sum"), ElementsAre("12.5|NULL|measured|NULL"));
}

TEST_F(Results, DeriveMetricsFromCounters) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(result("gld_efficiency"), ElementsAre("100|%|measured|NULL"));
  EXPECT_THAT(result("gst_efficiency"), ElementsAre("25|%|measured|NULL"));
  EXPECT_THAT(result("gst_transactions"), ElementsAre("524288|transactions|measured|NULL"));
  EXPECT_THAT(result("gst_transactions_per_request"),
              ElementsAre("16|transactions/request|measured|NULL"));
}

TEST_F(Results, DeriveTheEnergyOfAByteAndTheOperationsOfAJoule) {
  Launch launch = example_launch();
  launch.counters = {measured("energy", 0.001), measured("dram_read_bytes", 1'500'000),
                     measured("dram_write_bytes", 500'000)};
  for (const char* kind : {"sp", "dp", "hp"}) {
    for (const char* operation : {"add", "mul", "fma"}) {
      launch.counters.push_back(measured(fmt::format("flop_{}_{}", kind, operation), 1'000'000));
    }
  }
  store_run(path(), {launch});
  EXPECT_THAT(result("energy_per_byte"), ElementsAre("500|pJ/byte|measured|NULL"));
  // Two operations for each fused one: 12 million over a thousandth of a joule.
  EXPECT_THAT(result("flops_per_joule"), ElementsAre("12|GFLOP/J|measured|NULL"));
}

TEST_F(Results, ShowAMetricOnlyWithAllItsCounters) {
  Launch launch = example_launch();
  launch.counters = {measured("global_load_bytes", 32), measured("flop_sp_add", 1),
                     measured("flop_sp_mul", 1)};
  store_run(path(), {launch});
  EXPECT_THAT(result("gld_efficiency"), IsEmpty());
  EXPECT_THAT(result("flop_count_sp"), IsEmpty());
}

TEST_F(Results, RefuseAGradeThatThereIsNot) {
  store_run(path(), {example_launch()});
  for (const std::int64_t grade : {std::int64_t{-1}, std::int64_t{6}, std::int64_t{2147483647}}) {
    const Handle db = open_plain(path());
    execute(db.get(), "PRAGMA ignore_check_constraints = ON");
    Statement(db.get(), "UPDATE t_value SET grade = ?").execute(grade);
    const Failure failure =
        failure_of([&] { each_figure(Reader(path()), 1, [](const Figure&) {}); });
    EXPECT_EQ(failure.code, ExitCode::file);
    EXPECT_THAT(failure.message, ::testing::HasSubstr("that there is not"));
  }
}

TEST_F(Results, SayWhyAQuotientIsUndefined) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(result("shared_load_transactions_per_request"),
              ElementsAre("NULL|transactions/request|unavailable|no shared load requests"));
}

TEST_F(Results, GradeAMetricByItsWeakestCounter) {
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

TEST_F(Results, PassOnWhyACounterIsUnavailable) {
  Launch launch = example_launch();
  launch.counters = {{"global_load_bytes", std::nullopt, Grade::unavailable, "no permission"},
                     measured("global_load_sectors", 0)};
  store_run(path(), {launch});
  EXPECT_THAT(result("global_load_bytes"), ElementsAre("NULL|bytes|unavailable|no permission"));
  EXPECT_THAT(result("gld_efficiency"), ElementsAre("NULL|%|unavailable|no permission"));
}

TEST_F(Results, PreferTheDenominatorsZeroToARemarkOnTheGrade) {
  Launch launch = example_launch();
  launch.counters = {{"shared_load_wavefronts", 0.0, Grade::ptx, "loads may be merged"},
                     {"shared_load_requests", 0.0, Grade::exact, ""}};
  store_run(path(), {launch});
  EXPECT_THAT(result("shared_load_transactions_per_request"),
              ElementsAre("NULL|transactions/request|unavailable|no shared load requests"));
}

TEST_F(Results, NeverCallAMissingValueAnythingButUnavailable) {
  Launch launch = example_launch();
  launch.counters = {{"global_load_bytes", std::nullopt, Grade::measured, "not read"}};
  store_run(path(), {launch});
  EXPECT_THAT(result("global_load_bytes"), ElementsAre("NULL|bytes|unavailable|not read"));
}

TEST_F(Results, TakeDurationAndBandwidthFromTheTiming) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(result("duration"), ElementsAre("8192|ns|measured|NULL"));
  EXPECT_THAT(result("achieved_bandwidth"), ElementsAre("1024|GB/s|measured|NULL"));
}

TEST_F(Results, SayWhyThereIsNoTime) {
  Launch launch = example_launch();
  launch.timing.reset();
  launch.timing_reason = "the model has no clock";
  store_run(path(), {launch});
  EXPECT_THAT(result("duration"), ElementsAre("NULL|ns|unavailable|the model has no clock"));
  EXPECT_THAT(result("achieved_bandwidth"),
              ElementsAre("NULL|GB/s|unavailable|the model has no clock"));
}

TEST_F(Results, SayWhyThereIsNoBandwidth) {
  Launch launch = example_launch();
  launch.useful_bytes_read.reset();
  store_run(path(), {launch});
  EXPECT_THAT(result("duration"), ElementsAre("8192|ns|measured|NULL"));
  EXPECT_THAT(result("achieved_bandwidth"),
              ElementsAre("NULL|GB/s|unavailable|its useful bytes are not known"));
}

TEST_F(Results, DoNotDivideByAClockThatStoodStill) {
  Launch launch = example_launch();
  launch.timing->samples_ns = {0, 0};
  store_run(path(), {launch});
  EXPECT_THAT(result("achieved_bandwidth"),
              ElementsAre("NULL|GB/s|unavailable|it took no time that the clock could show"));
}

TEST_F(Results, HoldNothingOfAFailedLaunch) {
  Launch launch = example_launch();
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "wrong answer at 17";
  launch.lines.push_back({"a.cu", 1, "", "global load", 1, 1, 1, Grade::exact});
  store_run(path(), {launch});
  for (const char* view : {"results", "timings", "samples", "lines"}) {
    EXPECT_THAT(lines_of(path(), std::string("SELECT * FROM ") + view), IsEmpty()) << view;
  }
}

TEST_F(Results, ALaterRunOfTheProgramCompletesALaunch) {
  Launch launch = example_launch();
  launch.counters = {measured("shared_load_wavefronts", 64)};
  launch.timing.reset();
  launch.timing_reason = "the timing run has not come to it";
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  const std::int64_t device = store.add_device(run, example_device());
  const std::vector<std::int64_t> ids =
      store.add_launches(run, device, std::vector<Launch>(2, launch));
  ASSERT_THAT(ids, ElementsAre(1, 2));
  store.complete_launches(std::vector<Completion>{
      {ids[1],
       {measured("shared_load_requests", 2), {"x__y.sum", {}, Grade::unavailable, "no run"}},
       Timing{{700}, CacheState::warm, 0, "the program's own launch"}}});
  const std::string of_launch =
      "SELECT metric, value, reason FROM results WHERE metric IN ('duration', 'x__y.sum', "
      "'shared_load_transactions_per_request') AND launch_id = ";
  EXPECT_THAT(lines_of(path(), of_launch + "1"),
              ElementsAre("duration|NULL|the timing run has not come to it"));
  EXPECT_THAT(lines_of(path(), of_launch + "2"),
              UnorderedElementsAre("duration|700|NULL", "x__y.sum|NULL|no run",
                                   "shared_load_transactions_per_request|32|NULL"));
}

TEST_F(Results, ALaterRunOfTheProgramAddsTheLinesOfALaunch) {
  Launch launch = example_launch();
  launch.lines.clear();
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  const std::int64_t device = store.add_device(run, example_device());
  const std::int64_t id = store.add_launch(run, device, launch);
  const Line line{"a.cu", 7, "x = t[i];", "shared load", 32, 256, 32, Grade::measured};
  store.complete_launches(std::vector<Completion>{{id, {}, std::nullopt, {line}}});
  EXPECT_THAT(lines_of(path(),
                       "SELECT file, line, text, transactions, excess, efficiency, grade "
                       "FROM lines"),
              ElementsAre("a.cu|7|x = t[i];|256|224|12.5|measured"));
}

TEST_F(Results, ALaterRunOfTheProgramAddsWhatItsWarpsWaitedFor) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  const std::int64_t device = store.add_device(run, example_device());
  const std::int64_t id = store.add_launch(run, device, example_launch());
  store.complete_launches(std::vector<Completion>{
      {id,
       {},
       std::nullopt,
       {},
       {{"a.cu", 7, "x = t[i];", "barrier", 30, 10}, {"", 0, "", "selected", 10, 0}}}});
  EXPECT_THAT(
      lines_of(path(), "SELECT * FROM stalls ORDER BY line"),
      ElementsAre("1|1|NULL|NULL||selected|10|0|25", "1|1|a.cu|7|x = t[i];|barrier|30|10|75"));
}

TEST_F(Results, ALaterRunOfTheProgramAddsCountsOfItsInstructions) {
  Store store(path());
  const std::int64_t run = store.begin_run(example_run());
  const std::int64_t device = store.add_device(run, example_device());
  Completion completion;
  completion.launch_id = store.add_launch(run, device, example_launch());
  completion.instructions = {{32, "barrier", 7}, {16, "executed", 128}};
  store.complete_launches(std::vector<Completion>{completion});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM instructions"),
              ElementsAre("1|1|16|executed|128", "1|1|32|barrier|7"));
}

using Comparison = Results;

/// Every kind of figure: measured, approximate with a reason, unavailable, of a denominator that is
/// 0, incomplete, timed and not.
std::vector<Launch> launches_of_every_kind() {
  const Launch whole = example_launch();
  Launch untimed = whole, approximate = whole, gaps = whole, zeros = whole, half = whole;
  untimed.timing.reset();
  untimed.timing_reason = "the model has no clock";
  for (Counter& counter : approximate.counters) {
    counter.grade = counter.name.ends_with("sectors") ? Grade::ptx : Grade::modelled;
    counter.reason = counter.name + " is approximate";
  }
  for (Counter& counter : gaps.counters) {
    if (counter.name.find("load") == std::string::npos) continue;
    counter = {counter.name, std::nullopt, Grade::unavailable, "no " + counter.name};
  }
  for (Counter& counter : zeros.counters) counter.value = 0;
  for (std::size_t i = half.counters.size(); i-- > 0;) {
    if (i % 2 == 0) half.counters.erase(half.counters.begin() + static_cast<std::ptrdiff_t>(i));
  }
  half.counters.push_back(measured("l1tex__t_bytes.sum", 12.5));
  Launch failed = whole;
  failed.outcome = LaunchOutcome::failed;
  failed.reason = "wrong";
  failed.counters.clear();
  failed.timing.reset();
  Launch only_timed = whole;
  only_timed.counters.clear();
  return {whole, untimed, approximate, gaps, zeros, half, failed, only_timed};
}

TEST_F(Results, AreTheSameInOnePass) {
  store_run(path(), {example_launch()});
  store_run(path(), launches_of_every_kind());
  const Reader reader(path());
  std::vector<std::string> passed;
  std::int64_t last = 0;
  each_figure(reader, 2, [&](const Figure& figure) {
    EXPECT_GE(figure.launch_id, last);
    last = figure.launch_id;
    passed.push_back(fmt::format("{}|{}|{}|{}|{}", figure.launch_id, figure.metric,
                                 figure.value ? fmt::format("{}", *figure.value) : "NULL",
                                 to_string(figure.grade),
                                 figure.reason.empty() ? "NULL" : figure.reason));
  });
  std::vector<std::string> expected;
  reader.each(
      "SELECT launch_id, metric, value, grade, reason FROM results r WHERE run_id = 2 "
      "AND NOT EXISTS (SELECT 1 FROM v_resources s WHERE s.launch_id = r.launch_id AND "
      "s.metric = r.metric)",
      {}, [&](std::span<const Value> row) {
        const auto* value = std::get_if<double>(&row[2]);
        const auto* reason = std::get_if<std::string>(&row[4]);
        expected.push_back(fmt::format(
            "{}|{}|{}|{}|{}", std::get<std::int64_t>(row[0]), std::get<std::string>(row[1]),
            value != nullptr ? fmt::format("{}", *value) : "NULL", std::get<std::string>(row[3]),
            reason != nullptr ? *reason : "NULL"));
      });
  EXPECT_THAT(passed, ::testing::UnorderedElementsAreArray(expected));
}

TEST_F(Comparison, ShowsTheValuesOfResults) {
  store_run(path(), launches_of_every_kind());
  const Reader reader(path());
  std::size_t compared = 0;
  for (const std::string& column : reader.query("SELECT * FROM comparison").columns) {
    if (Catalogue::get().find_metric(column) == nullptr) continue;
    ++compared;
    EXPECT_THAT(lines_of(reader, "SELECT launch_id, " + column + " FROM comparison"),
                ::testing::ElementsAreArray(
                    lines_of(reader,
                             "SELECT l.launch_id, (SELECT x.value FROM results x WHERE x.launch_id "
                             "= l.launch_id AND x.metric = :m) FROM launches l",
                             {{":m", column}})));
  }
  EXPECT_EQ(compared, 7U);
}

TEST(ViewSql, HasNoMetricThatIsNot) {
  EXPECT_EQ(view_sql("SELECT 1"), "SELECT 1");
  EXPECT_THROW(view_sql("SELECT {gld_eficiency}"), std::logic_error);
  EXPECT_THROW(view_sql("SELECT {gld_efficiency"), std::logic_error);
  EXPECT_THROW(view_sql("SELECT {gld_efficiency(n.bytes)}"), std::logic_error);
  EXPECT_THROW(view_sql("SELECT {gld_efficiency(a, b}"), std::logic_error);
  EXPECT_THROW(view_sql("SELECT {grade perfect}"), std::logic_error);
}

TEST(ViewSql, FillsInFormulasAndGrades) {
  EXPECT_EQ(view_sql("{duration}, {achieved_bandwidth}"),
            "t.median_ns, ((l.useful_bytes_read + l.useful_bytes_written) / t.median_ns)");
  EXPECT_EQ(view_sql("{gld_efficiency(n.bytes, n.transactions)}"),
            "100.0 * (n.bytes / (32.0 * n.transactions))");
  EXPECT_EQ(view_sql("{flop_count_sp(a, b, c)}"), "(a + b + 2.0 * c)");
  EXPECT_EQ(view_sql("{grade measured} {grade ptx} {grade unavailable}"), "0 4 5");
  EXPECT_EQ(view_sql("-- {grades}"), "-- measured, exact, modelled, sampled, ptx or unavailable");
}

/// The views show what the catalogue says, computed here once more from its terms.
TEST_F(Results, AreWhatTheCatalogueSays) {
  Launch launch = example_launch();
  launch.counters.clear();
  std::map<std::string, double> inputs = {{"median_ns", 700},
                                          {"useful_bytes_read", *launch.useful_bytes_read},
                                          {"useful_bytes_written", *launch.useful_bytes_written}};
  for (const CounterInfo& counter : Catalogue::get().counters()) {
    const auto value = static_cast<double>(7 + 13 * launch.counters.size());
    launch.counters.push_back(measured(counter.name, value));
    inputs[counter.name] = value;
  }
  launch.timing->samples_ns = {700};
  store_run(path(), {launch});
  const auto sum = [&](const std::vector<Term>& terms) {
    double total = 0;
    for (const Term& term : terms) total += term.factor * inputs.at(term.name);
    return total;
  };
  const Reader reader(path());
  std::map<std::string, double> passed;
  each_figure(reader, 1, [&](const Figure& figure) {
    if (figure.value) passed[std::string(figure.metric)] = *figure.value;
  });
  const Rows compared = reader.query("SELECT * FROM comparison");
  for (const MetricInfo& metric : Catalogue::get().metrics()) {
    if (metric.is_resource) continue;  // resources_test.cpp
    const double expected =
        metric.scale *
        (sum(metric.numerator) / (metric.denominator.empty() ? 1 : sum(metric.denominator)));
    const Rows rows =
        reader.query("SELECT value FROM results WHERE metric = :m", {{":m", metric.name}});
    ASSERT_EQ(rows.rows.size(), 1U) << metric.name;
    EXPECT_EQ(std::get<double>(rows.rows[0][0]), expected) << metric.name;
    EXPECT_EQ(passed[metric.name], expected) << metric.name;
    for (std::size_t i = 0; i < compared.columns.size(); ++i) {
      const std::string& column = compared.columns[i];
      if (column != metric.name && column != metric.name + "_" + metric.unit) continue;
      EXPECT_EQ(std::get<double>(compared.rows[0][i]), expected) << column;
    }
  }
}

TEST_F(Comparison, PutsTheStandardMetricsSideBySide) {
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

TEST_F(Comparison, ShowsFailedLaunchesWithoutFigures) {
  Launch launch = example_launch();
  launch.outcome = LaunchOutcome::failed;
  launch.reason = "wrong answer at 17";
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT * FROM comparison"),
              ElementsAre("1|1|NVIDIA H200|cupti|transpose|naive|1024|64x64x1|16x16x1|NULL|NULL|"
                          "NULL|NULL|NULL|NULL|NULL|NULL|failed|wrong answer at 17"));
}

TEST_F(Comparison, IgnoresAQuotientWithAMissingCounter) {
  Launch launch = example_launch();
  launch.counters = {measured("global_load_bytes", 32)};
  store_run(path(), {launch});
  EXPECT_THAT(lines_of(path(), "SELECT gld_efficiency FROM comparison"), ElementsAre("NULL"));
}

}  // namespace
}  // namespace warpmeter::schema
