// SPDX-License-Identifier: MIT
// Which launches of two sides a comparison holds against each other.
#include "reports/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "reports/page.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using schema::Grade;
using schema::Launch;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(CompareTest, SaysWhatHasNoPartnerAndWhy) {
  Launch wide = launch("tiled", {});
  wide.block[0] = 32;
  add_run(store_, {launch("naive", {}), launch("tiled", {}), launch("gone", {})});
  add_run(store_, {launch("naive", {}), wide});
  const Comparison comparison = compared();
  EXPECT_EQ(comparison.pairs, 1U);
  const std::string text = render(comparison, Format::table);
  EXPECT_THAT(text, HasSubstr("transpose/gone at 1,024"));
  EXPECT_THAT(text, HasSubstr("geometry is 64x64x1 of 32x16x1 there and 64x64x1 of 16x16x1 here"));
}

TEST_F(CompareTest, NothingInCommonIsAnErrorOfItsOwn) {
  add_run(store_, {launch("naive", {})});
  add_run(store_, {launch("tiled", {})});
  expect_error({.names = {"1", "2"}}, ExitCode::nothing, "no launch in common");
  expect_error({}, ExitCode::nothing, "no earlier run has launches of run 2");
}

TEST_F(CompareTest, ALaunchThatBrokeCountsAsSlower) {
  Launch broken = launch("naive", {});
  broken.outcome = schema::LaunchOutcome::failed;
  broken.reason = "illegal address";
  add_run(store_, {launch("naive", {}), launch("tiled", {})});
  add_run(store_, {broken, launch("tiled", {})});
  const Comparison comparison = compared();
  EXPECT_TRUE(comparison.has_slower());
  EXPECT_THAT(comparison.leftovers.at(0).reason, "failed in the contender: illegal address");
}

// The cost of a comparison grows with the launches as that of reading them. Deriving each metric of
// each launch by the view `results` took 0.1 ms a launch and more; growth is what a slow machine
// cannot hide.
TEST_F(CompareTest, TakesVariantsOfManyLaunchesInSeconds) {
  constexpr std::size_t launches = 20'000;
  Launch naive = launch("naive", {}), tiled = launch("tiled", {});
  for (Launch* one : {&naive, &tiled}) {
    const double sectors = one == &naive ? 8 : 4;
    for (const char* counter : {"global_load_sectors", "global_store_sectors"}) {
      count(*one, counter, sectors);
    }
    for (const char* counter : {"global_load_requests", "global_store_requests"}) {
      count(*one, counter, 1);
    }
    for (const char* counter : {"global_load_bytes", "global_store_bytes"}) {
      count(*one, counter, 128);
    }
  }
  std::vector<Launch> all(launches, naive);
  all.insert(all.end(), launches, tiled);
  add_run(store_, all);
  const auto begin = std::clock();
  const Comparison comparison = compared({.by = Key::variant, .names = {"naive", "tiled"}});
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 3);
  std::map<std::string, std::pair<double, double>> changed;
  for (const CounterPair& pair : comparison.counters) {
    changed[pair.metric] = {pair.base, pair.contender};
  }
  EXPECT_EQ(changed.at("global_load_sectors"), std::pair(8.0, 4.0));
  EXPECT_EQ(changed.at("gld_efficiency"), std::pair(50.0, 100.0));  // 128 bytes of 8 × 32, 4 × 32
  EXPECT_EQ(changed.at("gst_transactions_per_request"), std::pair(8.0, 4.0));
}

TEST_F(CompareTest, ComparesVariantsOfOneRun) {
  add_run(store_, {launch("naive", readings(1, 20000, 60)), launch("tiled", readings(2, 9000, 60)),
                   launch("padded", readings(3, 8000, 60))});
  const Comparison two = compared({.by = Key::variant, .names = {"tiled", "transpose/padded"}});
  ASSERT_EQ(two.times.size(), 1U);
  EXPECT_EQ(two.times[0].name.text(), "transpose/padded at 1,024 against tiled");
  EXPECT_EQ(two.times[0].verdict, Verdict::faster);
  const Comparison all = compared({.by = Key::variant});
  EXPECT_EQ(all.times.size(), 2U);
  EXPECT_EQ(all.times[1].name.text(), "transpose/padded at 1,024 against naive");
}

/// A run of three variants at two named sizes, of which one lacks the smaller.
void add_run_at_named_sizes(schema::Store& store) {
  add_run(store, {launch("copy(m=1)", {}), launch("copy(m=2)", {}), launch("naive[T=4](m=1)", {}),
                  launch("naive[T=4](m=2)", {}), launch("wide(m=2)", {})});
}

/// The names of counters that differ in the pairs.
std::set<std::string> names_of_counters(const Comparison& comparison) {
  std::set<std::string> names;
  for (const CounterPair& pair : comparison.counters) names.insert(pair.name.text());
  return names;
}

TEST_F(CompareTest, ComparesVariantsAtTheNamedSizesThatBothHave) {
  std::vector<Launch> launches;
  for (const char* name : {"copy(m=1)", "copy(m=2)", "naive[T=4](m=1)", "naive[T=4](m=2)"}) {
    launches.push_back(launch(name, {}));
    count(launches.back(), "global_load_sectors", static_cast<double>(launches.size()));
  }
  add_run(store_, launches);
  const std::string at_1 = "transpose/naive[T=4](m=1) at 1,024 against copy(m=1)";
  const std::string at_2 = "transpose/naive[T=4](m=2) at 1,024 against copy(m=2)";
  const auto compared_names = [this](const std::vector<std::string>& names) {
    return names_of_counters(compared({.by = Key::variant, .names = names}));
  };
  EXPECT_THAT(compared_names({"copy", "transpose/naive[T=4]"}), ElementsAre(at_1, at_2));
  EXPECT_THAT(compared_names({}), ElementsAre(at_1, at_2)) << "the first one, at every size";
  EXPECT_THAT(compared_names({"copy(m=2)", "naive[T=4]"}), ElementsAre(at_2));
  EXPECT_THAT(compared_names({"copy", "naive[T=4](m=1)"}), ElementsAre(at_1));
  EXPECT_THAT(compared_names({"copy(m=1)", "naive[T=4](m=1)"}), ElementsAre(at_1));
}

TEST_F(CompareTest, RefusesVariantsAtDifferentNamedSizes) {
  add_run_at_named_sizes(store_);
  const auto refused = [this](const std::string& base, const std::string& contender,
                              const std::string& text) {
    expect_error({.by = Key::variant, .names = {base, contender}}, ExitCode::usage, text);
  };
  refused("copy(m=1)", "naive[T=4](m=2)",
          "'copy(m=1)' and 'naive[T=4](m=2)' have different sizes, so that their work differs; "
          "both have (m=1) and (m=2): name 'copy' and 'naive[T=4]' with one of these");
  refused("copy(m=1)", "wide(m=2)", "both have (m=2): name 'copy' and 'wide'");
  refused("wide", "copy(m=1)", "both have (m=2): name 'wide' and 'copy'");
  refused("copy(m=1)", "copy(m=2)", "name two variants");
  refused("copy(m=1)", "copy", "are the same variant");
  // Variants without sizes: what one of them lacks has no partner.
  const Comparison comparison = compared({.by = Key::variant, .names = {"copy", "wide"}});
  EXPECT_EQ(comparison.pairs, 1U);
  EXPECT_EQ(comparison.leftovers.at(0).what, "transpose/copy(m=1) at 1,024");
}

TEST_F(CompareTest, PoolsTheRunsOfALabel) {
  for (unsigned i = 0; i < 3; ++i) {
    add_run(store_, {launch("naive", readings(i, 3000, 200))}, {.label = "before"});
    add_run(store_, {launch("naive", readings(9 + i, 3600, 200))}, {.label = "after"});
  }
  const Comparison comparison = compared({.by = Key::label, .names = {"before", "after"}});
  EXPECT_EQ(comparison.times.at(0).base_samples, 120U);
  EXPECT_EQ(comparison.times[0].verdict, Verdict::slower);
  EXPECT_THAT(comparison.base.runs, testing::ElementsAre(1, 3, 5));
}

TEST_F(CompareTest, ComparesDevicesAcrossRuns) {
  add_run(store_, {launch("naive", readings(1, 20000, 60))}, {.device = "NVIDIA A100"});
  add_run(store_, {launch("naive", readings(2, 10000, 60))});
  const Comparison comparison =
      compared({.by = Key::device, .names = {"NVIDIA A100", "NVIDIA H200"}});
  EXPECT_EQ(comparison.times.at(0).verdict, Verdict::faster);
  EXPECT_THAT(comparison.remarks, testing::Contains(HasSubstr("The devices differ")));
  EXPECT_EQ(compared({.by = Key::device}).base.name, "NVIDIA A100, run 1");
}

TEST_F(CompareTest, HoldsTheCardsOfALabelAgainstTheFirst) {
  add_run(store_, {launch("naive", readings(1, 20000, 60))}, {.label = "nightly"});
  add_run(store_, {launch("naive", readings(2, 20000, 60))}, {.label = "nightly", .uuid = "GPU-2"});
  add_run(store_, {launch("naive", readings(3, 22000, 60))}, {.label = "nightly", .uuid = "GPU-3"});
  add_run(store_, {launch("naive", readings(4, 50000, 60))}, {.uuid = "GPU-4"});
  const Comparison comparison = compared({.by = Key::device, .label = "nightly"});
  EXPECT_EQ(comparison.base.name, "NVIDIA H200 #0 (GPU-1)");
  EXPECT_EQ(comparison.contender.name, "the others");
  ASSERT_EQ(comparison.times.size(), 2U);
  EXPECT_EQ(comparison.times[0].verdict, Verdict::same);
  EXPECT_EQ(comparison.times[1].verdict, Verdict::slower);
  EXPECT_THAT(comparison.times[1].name.text(),
              testing::EndsWith("on NVIDIA H200 #0 (GPU-3) against NVIDIA H200 #0 (GPU-1)"));
  const Comparison two = compared({.by = Key::device,
                                   .names = {"NVIDIA H200 #0 (GPU-2)", "NVIDIA H200 #0 (GPU-3)"},
                                   .label = "nightly"});
  EXPECT_EQ(two.times.at(0).verdict, Verdict::slower);
  // A side is described by its own runs and device.
  EXPECT_THAT(two.base.runs, testing::ElementsAre(2));
  EXPECT_THAT(two.base.about, testing::StartsWith("NVIDIA H200 #0 (GPU-2) on "));
  EXPECT_THAT(two.contender.runs, testing::ElementsAre(3));
  for (const char* again : {"NVIDIA H200 #0 (GPU-2)", "GPU-2000"}) {
    expect_error(
        {.by = Key::device, .names = {"NVIDIA H200 #0 (GPU-2)", again}, .label = "nightly"},
        ExitCode::usage, again == std::string("GPU-2000") ? "no device" : "are the same device");
  }
  expect_error({.by = Key::device, .label = "weekly"}, ExitCode::usage, "no label 'weekly'");
}

TEST_F(CompareTest, SaysThatTwoGpusOfOneModelAreTwo) {
  const Comparison comparison = times(readings(1, 20000, 60), readings(2, 20600, 60), {},
                                      {.uuid = "GPU-2", .driver = "590.1"});
  EXPECT_EQ(comparison.times.at(0).verdict, Verdict::slower);
  EXPECT_THAT(comparison.remarks,
              testing::ElementsAre(HasSubstr("different GPUs of one model (NVIDIA H200)"),
                                   "The drivers differ: 580.65.06 and 590.1."));
}

TEST_F(CompareTest, UnknownNamesSayWhatThereIs) {
  expect_error({}, ExitCode::nothing, "no run");
  add_run(store_, {launch("naive", {}), launch("tiled", {})}, {.label = "main"});
  expect_error({}, ExitCode::usage, "the database holds 1");
  expect_error({.names = {"main"}}, ExitCode::usage, "the same run");
  expect_error({.names = {"1", "7"}}, ExitCode::usage, "1 (");
  expect_error({.names = {"1", "2", "3"}}, ExitCode::usage, "'3' is one too many");
  expect_error({.by = Key::variant, .names = {"naive", "tild"}}, ExitCode::usage,
               "no variant 'tild' in run 1");
  expect_error({.by = Key::label, .names = {"main", "man"}}, ExitCode::usage, "main");
  expect_error({.by = Key::backend, .names = {"cupti", "modl"}}, ExitCode::usage,
               "no backend 'modl'");
  expect_error({.by = Key::backend}, ExitCode::nothing, "every run of the database is on cupti");
  expect_error({.by = Key::size, .names = {"1024", "9"}}, ExitCode::usage, "the sizes: 1024");
}

}  // namespace
}  // namespace warpmeter::reports
