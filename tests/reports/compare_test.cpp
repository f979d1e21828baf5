// SPDX-License-Identifier: MIT
// The results of comparisons of runs whose truth is known.
#include "reports/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "reports/page.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using schema::Grade;
using schema::Launch;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// ---- times

TEST_F(CompareTest, CallsThreePercentOfTwentyMicrosecondsSlower) {
  const Comparison comparison = times(readings(1, 20000, 150), readings(2, 20600, 150));
  ASSERT_EQ(comparison.times.size(), 1U);
  EXPECT_EQ(comparison.times[0].verdict, Verdict::slower);
  EXPECT_NEAR(comparison.times[0].time.ratio, 1.03, 0.005);
  EXPECT_LT(comparison.times[0].time.interval.low, 1.03);
  EXPECT_GT(comparison.times[0].time.interval.high, 1.03);
  EXPECT_TRUE(comparison.has_slower());
}

TEST_F(CompareTest, CallsTheOtherDirectionFaster) {
  const Comparison comparison = times(readings(1, 20000, 150), readings(2, 19000, 150));
  EXPECT_EQ(comparison.times[0].verdict, Verdict::faster);
  EXPECT_FALSE(comparison.has_slower());
  EXPECT_TRUE(comparison.has_changed());
}

TEST_F(CompareTest, ACertainButSmallDifferenceIsTheSame) {
  const Comparison comparison = times(readings(1, 200000, 100, 200), readings(2, 201000, 100, 200));
  EXPECT_LT(comparison.times[0].time.p_value, 0.001);
  EXPECT_EQ(comparison.times[0].verdict, Verdict::same);
}

TEST_F(CompareTest, WhatCountsAsAChangeCanBeChosen) {
  times(readings(1, 200000, 100, 200), readings(2, 201000, 100, 200));
  const Comparison comparison =
      compare(schema::Reader(database_.path()), {}, {.significance = 0.01, .least_effect = 0.002});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::slower);
  EXPECT_THAT(render(comparison, Format::markdown), HasSubstr("at most 0.01 (Mann–Whitney"));
  EXPECT_THAT(render(comparison, Format::markdown), HasSubstr("and 0.2 % or a tick"));
}

TEST_F(CompareTest, FewNoisySamplesAreUnclearAndSayHowManyWouldDo) {
  const Comparison comparison = times(readings(1, 20000, 1500, 8), readings(2, 20900, 1500, 8));
  EXPECT_EQ(comparison.times[0].verdict, Verdict::unclear);
  ASSERT_TRUE(comparison.times[0].samples_needed);
  EXPECT_GT(*comparison.times[0].samples_needed, 8U);
  EXPECT_THAT(comparison.times[0].note, HasSubstr("samples"));
}

TEST_F(CompareTest, OneSampleDecidesNothing) {
  const Comparison comparison = times({20000}, {20000});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::unclear);
  EXPECT_THAT(comparison.times[0].note, HasSubstr("about 7 samples a side"));
}

TEST_F(CompareTest, CorrectsForTheNumberOfRows) {
  std::vector<Launch> base, contender;
  for (unsigned i = 0; i < 40; ++i) {
    base.push_back(launch("v" + std::to_string(i), readings(2 * i, 20000, 100, 6)));
    // Six against six has p = 0.002 at best; with one row seven would do.
    contender.push_back(launch("v" + std::to_string(i), readings(2 * i + 1, 22000, 100, 7)));
  }
  add_run(store_, base);
  add_run(store_, contender);
  const Comparison comparison = compared();
  EXPECT_EQ(comparison.count(Verdict::unclear), 40U);
  EXPECT_THAT(comparison.times[0].note, HasSubstr("10 samples a side"));
}

TEST_F(CompareTest, AChangeThatTheClockExplainsIsUnclear) {
  const Comparison comparison = times(readings(1, 20000, 60), readings(2, 20000 * 1980 / 1755, 60),
                                      {.label = "a"}, {.label = "b", .sm_clock_mhz = 1755});
  const TimePair& pair = comparison.times[0];
  EXPECT_EQ(pair.time.verdict, Verdict::slower);
  ASSERT_TRUE(pair.cycles);
  EXPECT_EQ(pair.cycles->verdict, Verdict::same);
  EXPECT_NEAR(pair.cycles->base, 20000 * 1.98, 60);
  EXPECT_EQ(pair.verdict, Verdict::unclear);
  EXPECT_THAT(pair.note, HasSubstr("1,755 MHz against 1,980 MHz"));
  EXPECT_THAT(pair.note, HasSubstr("in cycles: same"));
  EXPECT_THAT(render(comparison, Format::markdown), HasSubstr("compared in cycles as well"));
}

TEST_F(CompareTest, AChangeInTimeAndCyclesStandsAtDifferentClocks) {
  const Comparison comparison = times(readings(1, 20000, 60), readings(2, 30000, 60), {},
                                      {.label = "b", .sm_clock_mhz = 1755});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::slower);
}

TEST_F(CompareTest, OneStepOfTheClockIsNoDifference) {
  const Comparison comparison = times(readings(1, 20000, 60), readings(2, 21000, 60), {},
                                      {.label = "b", .sm_clock_mhz = 1965});
  EXPECT_FALSE(comparison.times[0].cycles);
  EXPECT_EQ(comparison.times[0].verdict, Verdict::slower);
}

TEST_F(CompareTest, SlowerWhileThrottledIsUnclear) {
  const Comparison comparison =
      times(readings(1, 20000, 60), readings(2, 22000, 60), {},
            {.label = "b", .throttled = "idle, software thermal slowdown"});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::unclear);
  EXPECT_THAT(comparison.times[0].note,
              HasSubstr("the contender was throttled (software thermal slowdown)"));
  EXPECT_FALSE(comparison.has_slower());
}

TEST_F(CompareTest, FasterThoughThrottledStands) {
  const Comparison comparison = times(readings(1, 20000, 60), readings(2, 18000, 60), {},
                                      {.label = "b", .throttled = "software power cap"});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::faster);
  EXPECT_THAT(comparison.times[0].note, HasSubstr("software power cap"));
}

TEST_F(CompareTest, SlowerBesideAnotherProcessIsUnclear) {
  const Comparison comparison = times(readings(1, 20000, 60), readings(2, 22000, 60), {},
                                      {.label = "b", .disturbances = {neighbour()}});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::unclear);
  EXPECT_THAT(comparison.times[0].note, HasSubstr("the contender was disturbed (python3)"));
  EXPECT_THAT(comparison.times[0].note, HasSubstr("which the disturbance may explain"));
  EXPECT_THAT(comparison.remarks, testing::Contains("The contender's device was shared: python3."));
}

TEST_F(CompareTest, BesideTheSameProcessOnBothSidesAVerdictStands) {
  const Comparison comparison =
      times(readings(1, 20000, 60), readings(2, 22000, 60), {.disturbances = {neighbour()}},
            {.label = "b", .disturbances = {neighbour()}});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::slower);
  EXPECT_THAT(comparison.times[0].note, HasSubstr("both were disturbed (python3)"));
}

TEST_F(CompareTest, WhatIsOnlyGoodToKnowChangesNoVerdict) {
  schema::Disturbance idle = neighbour("jupyter");
  idle.is_felt = false;
  const Comparison comparison =
      times(readings(1, 20000, 60), readings(2, 22000, 60), {},
            {.label = "b", .disturbances = {idle, {"DCGM", false, "it runs", 8, "", {}, {}, ""}}});
  EXPECT_EQ(comparison.times[0].verdict, Verdict::slower);
  EXPECT_EQ(comparison.times[0].note, "");
}

TEST_F(CompareTest, TimesMissingOnBothSidesAreNotUnclear) {
  const Comparison comparison = times({}, {});
  EXPECT_THAT(comparison.times, IsEmpty());
  EXPECT_EQ(comparison.untimed_pairs, 1U);
  EXPECT_EQ(comparison.untimed_reason, "timing was not asked for");
  EXPECT_THAT(render(comparison, Format::markdown),
              HasSubstr("1 pair. It has no time on either side (timing was not asked for)."));
}

TEST_F(CompareTest, ATimeOnOneSideIsListedWithTheReason) {
  const Comparison comparison = times(readings(1, 20000, 60), {});
  EXPECT_THAT(comparison.times, IsEmpty());
  ASSERT_EQ(comparison.leftovers.size(), 1U);
  EXPECT_EQ(comparison.leftovers[0].reason, "the contender has none: timing was not asked for");
}

TEST_F(CompareTest, ColdAndWarmCachesAreNotCompared) {
  Launch warm = launch("naive", readings(2, 10000, 60));
  warm.timing->cache = schema::CacheState::warm;
  add_run(store_, {launch("naive", readings(1, 20000, 60))});
  add_run(store_, {warm});
  const Comparison comparison = compared();
  EXPECT_THAT(comparison.times, IsEmpty());
  EXPECT_THAT(comparison.leftovers.at(0).reason, HasSubstr("cold cache"));
}

TEST_F(CompareTest, ATimeOfACounterPassIsNeverComparedWithACleanOne) {
  Launch profiled = launch("naive", {});
  count(profiled, "duration_profiled", 25000);
  add_run(store_, {launch("naive", readings(1, 20000, 60))});
  add_run(store_, {profiled});
  const Comparison comparison = compared();
  EXPECT_THAT(comparison.times, IsEmpty());
  EXPECT_THAT(comparison.counters, IsEmpty());
  std::vector<std::string> leftovers;
  for (const Leftover& left : comparison.leftovers) {
    leftovers.push_back(left.what + ": " + left.reason);
  }
  EXPECT_THAT(leftovers,
              testing::ElementsAre("time of transpose/naive at 1,024: the contender has none: "
                                   "timing was not asked for",
                                   "duration_profiled (1 pair): counted in the "
                                   "contender only"));
}

// ---- counters

TEST_F(CompareTest, ShowsEveryChangeOfACounterAndOfItsMetrics) {
  Launch base = launch("naive", {}), contender = launch("naive", {});
  count(base, "shared_load_wavefronts", 262144), count(base, "shared_load_requests", 32768);
  count(contender, "shared_load_wavefronts", 262145),
      count(contender, "shared_load_requests", 32768);
  add_run(store_, {base});
  add_run(store_, {contender});
  const Comparison comparison = compared();
  std::vector<std::string> metrics;
  for (const CounterPair& pair : comparison.counters) {
    EXPECT_EQ(pair.change, Change::changed) << pair.metric;
    metrics.push_back(pair.metric);
    if (pair.metric == "shared_load_transactions_per_request") {
      EXPECT_EQ(pair.unit, "transactions/request");
    }
  }
  EXPECT_EQ(metrics.front(), "shared_load_wavefronts");
  EXPECT_THAT(metrics, testing::Contains("shared_load_transactions_per_request"));
  EXPECT_THAT(metrics, Not(testing::Contains("shared_load_requests")));
  EXPECT_EQ(comparison.counters_compared, 2U);
  EXPECT_TRUE(comparison.has_changed());
  EXPECT_FALSE(comparison.has_slower());
}

TEST_F(CompareTest, ShowsTheSpreadOfRepeatedLaunches) {
  const auto repeated = [](double first) {
    std::vector<Launch> launches;
    for (int i = 0; i < 5; ++i) {
      launches.push_back(launch("naive", {}));
      count(launches.back(), "l2_tex_hit_rate", first + i);
      count(launches.back(), "ipc", i);
      count(launches.back(), "global_bytes_moved", i);  // a sum with parts that vary
    }
    return launches;
  };
  add_run(store_, repeated(50));
  std::vector<Launch> contender = repeated(70);
  contender[0].counters[1].value = 0.5;
  contender[0].counters[2].value = 0.5;
  add_run(store_, contender);
  const Comparison comparison = compared();
  ASSERT_EQ(comparison.counters.size(), 3U);
  for (const CounterPair& pair : comparison.counters) {
    const bool moved = pair.metric == "l2_tex_hit_rate";
    EXPECT_EQ(pair.change, moved ? Change::changed : Change::within_spread) << pair.metric;
    ASSERT_TRUE(pair.base_spread);
    EXPECT_EQ(pair.base_spread->high - pair.base_spread->low, 4);
  }
}

/// A program's launches of one kernel, with the counts of the model.
std::vector<Launch> counted(const std::vector<double>& sectors, Grade grade = Grade::exact) {
  std::vector<Launch> launches;
  for (const double value : sectors) {
    launches.push_back(launch("naive", {}));
    count(launches.back(), "global_load_sectors", value, grade);
  }
  return launches;
}

TEST_F(CompareTest, ExactCountsOfUnlikeLaunchesChangeOnceOneOfThemDoes) {
  const auto change = [&](const std::vector<double>& base, const std::vector<double>& contender,
                          Grade grade = Grade::exact) {
    add_run(store_, counted(base, grade));
    add_run(store_, counted(contender, grade));
    const Comparison comparison = compared();
    return comparison.counters.empty() ? Change::same : comparison.counters[0].change;
  };
  EXPECT_EQ(change({4, 32, 4}, {32, 32, 32}), Change::changed);
  EXPECT_EQ(change({4, 4, 32}, {4, 32, 32}), Change::changed);
  EXPECT_EQ(change({4, 32}, {4, 32, 64}), Change::changed);
  EXPECT_EQ(change({32, 4, 4}, {4, 32, 4}), Change::same);
  EXPECT_EQ(change({4, 32}, {4, 32, 32}), Change::within_spread)
      << "the same two launches, oftener";
  EXPECT_EQ(change({4, 32, 4}, {32, 32, 32}, Grade::modelled), Change::within_spread);
}

// 41 and 82 blocks of one kernel gave 20,367 and 13,615.
TEST_F(CompareTest, EstimatesFromOtherBlocksAreUnclear) {
  const auto estimated = [&](double value, const std::string& blocks) {
    Launch made = launch("naive", {});
    made.counters = {{"global_load_sectors", value, Grade::modelled,
                      "estimated from " + blocks + " of 4096 blocks; between 1 and 2"}};
    add_run(store_, {made}, {.backend = "model", .device = "model sm_90"});
  };
  estimated(20367, "41");
  estimated(13615, "82");
  const Comparison other = compared();
  ASSERT_FALSE(other.counters.empty());
  EXPECT_EQ(other.counters[0].change, Change::unclear);
  EXPECT_EQ(other.counters[0].note,
            "estimated from 41 of 4096 blocks and estimated from 82 of 4096 blocks: they need not "
            "agree");
  EXPECT_FALSE(other.has_changed());
  estimated(13000, "82");
  EXPECT_TRUE(compared().has_changed()) << "the same blocks cost less";
}

// Two estimates differ where their intervals do not meet.
TEST_F(CompareTest, EstimatesDifferByMoreThanTheirBounds) {
  const auto sampled = [&](double value, double error) {
    Launch made = launch("naive", {});
    made.counters = {
        {"global_load_sectors", value, Grade::sampled, "estimated from 41 of 4096 blocks (1 %)"}};
    made.intervals = {{"global_load_sectors", value - error, value + error}};
    add_run(store_, {made}, {.backend = "model", .device = "model sm_90"});
  };
  sampled(20000, 300);
  sampled(20500, 250);
  const Comparison close = compared();
  ASSERT_FALSE(close.counters.empty());
  EXPECT_EQ(close.counters[0].change, Change::unclear);
  EXPECT_EQ(close.counters[0].note, "estimated to ± 300 and to ± 250: count all blocks to know");
  sampled(21500, 300);
  EXPECT_EQ(compared().counters.at(0).change, Change::changed);
}

TEST_F(CompareTest, TellsHowOftenAProgramLaunches) {
  add_run(store_, counted({4}));
  add_run(store_, counted({4, 4, 4}));
  const Comparison comparison = compared();
  ASSERT_EQ(comparison.leftovers.size(), 1U);
  EXPECT_EQ(comparison.leftovers[0].reason,
            "launched once in the base and 3 times in the contender");
  EXPECT_FALSE(comparison.has_changed());
}

TEST_F(CompareTest, ACounterThatMovesByItselfIsUnclearWithoutRepetitions) {
  Launch base = launch("naive", {}), contender = launch("naive", {});
  count(base, "l2_tex_hit_rate", 50), count(contender, "l2_tex_hit_rate", 51);
  add_run(store_, {base});
  add_run(store_, {contender});
  const Comparison comparison = compared();
  EXPECT_EQ(comparison.counters.at(0).change, Change::unclear);
  EXPECT_THAT(comparison.counters.at(0).note, HasSubstr("(run --repeat 5)"));
  EXPECT_FALSE(comparison.has_changed());
}

TEST_F(CompareTest, WhatIsDerivedFromATimeOfACounterPassIsNotShownForThatAlone) {
  Launch base = launch("naive", {}), contender = launch("naive", {});
  count(base, "global_load_bytes", 4096), count(contender, "global_load_bytes", 4096);
  count(base, "duration_profiled", 2000), count(contender, "duration_profiled", 2100);
  add_run(store_, {base});
  add_run(store_, {contender});
  const Comparison comparison = compared();
  ASSERT_EQ(comparison.counters.size(), 1U);
  EXPECT_EQ(comparison.counters[0].metric, "duration_profiled");
}

TEST_F(CompareTest, ComparesTheModelWithHardwareAndKnowsWhatNeedNotAgree) {
  Launch hardware = launch("naive", readings(1, 20000, 60)), model = launch("naive", {});
  count(hardware, "global_load_sectors", 100),
      count(model, "global_load_sectors", 110, Grade::exact);
  count(hardware, "shared_load_wavefronts", 12),
      count(model, "shared_load_wavefronts", 10, Grade::ptx);
  add_run(store_, {hardware}, {.label = "gpu"});
  add_run(store_, {model}, {.label = "cpu", .backend = "model", .device = "model sm_90"});
  const Comparison comparison = compared({.by = Key::backend, .names = {"last"}});
  EXPECT_EQ(comparison.base.name, "cupti, run 1");
  EXPECT_EQ(comparison.contender.name, "model, run 2");
  for (const CounterPair& pair : comparison.counters) {
    if (pair.metric == "global_load_sectors") {
      EXPECT_EQ(pair.change, Change::changed);
    }
    if (pair.metric == "shared_load_wavefronts") {
      EXPECT_EQ(pair.change, Change::unclear);
      EXPECT_EQ(pair.note, "counted as measured and as ptx: they need not agree");
    }
  }
  const Comparison from_the_gpu = compared({.by = Key::backend, .names = {"gpu"}});
  EXPECT_EQ(from_the_gpu.base.name, "cupti, run 1");
}

TEST_F(CompareTest, ListsCountersOfOneSideOnly) {
  Launch base = launch("naive", {}), contender = launch("naive", {});
  count(base, "global_load_sectors", 8), count(contender, "global_store_sectors", 8);
  add_run(store_, {base});
  add_run(store_, {contender});
  const std::string text = render(compared(), Format::table);
  EXPECT_THAT(text, HasSubstr("global_load_sectors (1 pair)"));
  EXPECT_THAT(text, HasSubstr("counted in the contender only"));
}

// ---- formats

/// A run of nvprof's has the metric itself, one of today the counters that it derives from.
TEST_F(CompareTest, PairsAMetricOfNvprofWithTheCountersOfToday) {
  Launch base = launch("tiled", {}), contender = launch("tiled", {});
  count(base, "gst_efficiency", 100);
  count(base, "gld_efficiency", 50);
  count(base, "shared_efficiency", 80);
  count(contender, "global_store_bytes", 4096);
  count(contender, "global_store_sectors", 512);
  count(contender, "global_load_bytes", 2048);
  count(contender, "global_load_sectors", 128);
  add_run(store_, {base});
  add_run(store_, {contender});
  const Comparison comparison = compared();
  ASSERT_EQ(comparison.counters.size(), 1U);
  EXPECT_EQ(comparison.counters[0].metric, "gst_efficiency");
  EXPECT_EQ(comparison.counters[0].base, 100);
  EXPECT_EQ(comparison.counters[0].contender, 25);
  EXPECT_THAT(render(comparison, Format::markdown), HasSubstr("shared_efficiency"));
}

TEST_F(CompareTest, JsonAndCsvHoldEveryTime) {
  Launch base = launch("naive", readings(1, 20000, 60)),
         contender = launch("naive", readings(2, 30000, 60));
  count(base, "global_load_sectors", 8), count(contender, "global_load_sectors", 9);
  add_run(store_, {base});
  add_run(store_, {contender});
  const Comparison comparison = compared();
  const auto json = nlohmann::json::parse(render(comparison, Format::json));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["summary"]["slower"], 1);
  EXPECT_EQ(json["times"][0]["verdict"], "slower");
  EXPECT_NEAR(json["times"][0]["ratio"].get<double>(), 1.5, 0.01);
  EXPECT_EQ(json["counters"][0]["metric"], "global_load_sectors");
  EXPECT_EQ(json["counters"][0]["contender"], 9);
  const std::string csv = render(comparison, Format::csv);
  EXPECT_THAT(csv, HasSubstr("\ntime,transpose,naive,1024,64x64x1,16x16x1,,,duration,ns,"));
  EXPECT_THAT(csv,
              HasSubstr("\ncounter,transpose,naive,1024,64x64x1,16x16x1,,,global_load_sectors,"));
}

TEST_F(CompareTest, HostileNamesStayText) {
  const std::string name = "k<script>|`x`\n# _y_";
  add_run(store_, {launch(name, readings(1, 20000, 60))}, {.label = "<b>|"});
  add_run(store_, {launch(name, readings(2, 30000, 60))});
  const std::string text = render(compared(), Format::markdown);
  EXPECT_THAT(text, Not(HasSubstr("<script>|")));
  EXPECT_THAT(text, Not(HasSubstr("\n# _y_")));
  if (html_page().empty()) GTEST_SKIP() << "built without HTML";
  const std::string page = render(compared(), Format::html);
  EXPECT_THAT(page, HasSubstr("k&lt;script&gt;|`x`"));
  EXPECT_THAT(page, Not(HasSubstr("k<script>")));
}

}  // namespace
}  // namespace warpmeter::reports
