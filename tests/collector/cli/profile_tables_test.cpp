// SPDX-License-Identifier: MIT
// The tables of `profile`: every number that is printed.
#include "collector/cli/tables/profile_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "collector/cli/tables/findings_sarif.h"
#include "collector/model/check/findings.h"
#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using inject::ActivityKind;
using testing::HasSubstr;
using testing::Not;

TEST(DurationText, HasFiveDigitsAndNvprofsUnits) {
  const std::pair<double, const char*> cases[] = {
      {0, "0ns"},           {416, "416ns"},       {1248, "1.2480us"},    {94847, "94.847us"},
      {214521, "214.52us"}, {999996, "1.0000ms"}, {1344000, "1.3440ms"}, {9.99996e6, "10.000ms"},
      {2.5e9, "2.5000s"},   {9e11, "900.00s"},    {3.6e12, "3600.00s"}};
  for (const auto& [duration_ns, text] : cases) EXPECT_EQ(duration_text(duration_ns), text);
}

TEST(FindingsSarif, HasARuleForEachDefectOfKernels) {
  std::set<std::string> rules, defects;
  for (const reports::SarifRule& rule : findings_sarif({}, false).rules) rules.insert(rule.id);
  for (std::size_t i = 0; i < model::check::defects; ++i) {
    std::string id(to_string(static_cast<model::check::Defect>(i)));
    std::replace(id.begin(), id.end(), ' ', '-');
    defects.insert(id);
  }
  EXPECT_EQ(rules, defects);
}

TEST(SummaryTable, IsNvprofsWithTheMedian) {
  const std::vector<profile::Activity> activities = {
      {ActivityKind::kernel, "_Z4scanPf", {1000, 3000, 2000}, 6000},
      {ActivityKind::kernel, "_Z6reduceILi4EEvPf", {4000, 10000}, 14000},
      {ActivityKind::call, "cudaMalloc", {2500000}, 2500000}};
  EXPECT_EQ(
      summary_table(activities, KernelNameBase::function),
      "Type             Time(%)      Time  Calls       Avg       Min       Max    Median  Name\n"
      "───────────────  ───────  ────────  ─────  ────────  ────────  ────────  ────────  "
      "──────────\n"
      "GPU activities:   70.00%  14.000us      2  7.0000us  4.0000us  10.000us  7.0000us  reduce\n"
      "                  30.00%  6.0000us      3  2.0000us  1.0000us  3.0000us  2.0000us  scan\n"
      "API calls:       100.00%  2.5000ms      1  2.5000ms  2.5000ms  2.5000ms  2.5000ms  "
      "cudaMalloc\n");
}

TEST(SummaryTable, TellsInstancesApart) {
  const std::vector<profile::Activity> activities = {
      {ActivityKind::kernel, "_Z6reduceILi4EEvPf", {1000}, 1000},
      {ActivityKind::kernel, "_Z6reduceILi8EEvPf", {2000}, 2000},
      {ActivityKind::kernel, "_Z4scanPf", {1000}, 1000}};
  const std::string table = summary_table(activities, KernelNameBase::function);
  EXPECT_THAT(table, HasSubstr("  reduce<4>\n"));
  EXPECT_THAT(table, HasSubstr("  reduce<8>\n"));
  EXPECT_THAT(table, HasSubstr("  scan\n"));
}

TEST(ShownName, HasThreeBases) {
  const std::string kernel = "_Z6reduceILi4EEvPf";
  EXPECT_EQ(shown_name(kernel, KernelNameBase::function), "reduce");
  EXPECT_EQ(shown_name(kernel, KernelNameBase::demangled), "void reduce<4>(float*)");
  EXPECT_EQ(shown_name(kernel, KernelNameBase::mangled), kernel);
  EXPECT_EQ(shown_name("graph(fill, 2 × scale)", KernelNameBase::function),
            "graph(fill, 2 × scale)");
}

TEST(ShownMetrics, AreTheSetsMembersInOrderEachOnce) {
  const std::string requested[] = {"gld_efficiency", "@shared", "gld_efficiency"};
  const std::vector<ShownMetric> shown = shown_metrics(requested);
  EXPECT_EQ(shown.front().name, "gld_efficiency");
  EXPECT_EQ(shown.at(1).name, "shared_load_transactions");
  EXPECT_EQ(std::count_if(shown.begin(), shown.end(),
                          [](const ShownMetric& each) { return each.name == "gld_efficiency"; }),
            1);
}

TEST(ShownMetrics, OfAtomicsAndCopiesAreShownWhereThereAreAnyUnlessTheyWereNamed) {
  const auto where_any = [](std::vector<std::string> requested) {
    std::vector<std::string> names;
    for (const ShownMetric& each : shown_metrics(requested)) {
      if (each.where_any) names.push_back(each.name);
    }
    return names;
  };
  const std::vector<std::string> all = {"shared_matrix_load_wavefronts",
                                        "shared_matrix_load_requests",
                                        "shared_matrix_store_wavefronts",
                                        "shared_matrix_store_requests",
                                        "shared_wgmma_wavefronts",
                                        "shared_wgmma_requests",
                                        "shared_atomic_wavefronts",
                                        "shared_atomic_requests",
                                        "global_atomic_sectors",
                                        "global_atomic_requests",
                                        "global_reduction_sectors",
                                        "global_reduction_requests",
                                        "async_copy_requests",
                                        "async_copy_sectors",
                                        "async_copy_wavefronts",
                                        "bulk_load_requests",
                                        "bulk_load_bytes",
                                        "bulk_store_requests",
                                        "bulk_store_bytes",
                                        "bulk_reduction_requests",
                                        "bulk_reduction_bytes",
                                        "distributed_shared_load_requests",
                                        "distributed_shared_store_requests",
                                        "distributed_shared_atomic_requests",
                                        "distributed_shared_async_store_requests",
                                        "distributed_shared_async_reduction_requests",
                                        "distributed_shared_bulk_store_requests",
                                        "distributed_shared_bulk_reduction_requests"};
  EXPECT_EQ(where_any({"@default"}), all);
  std::vector<std::string> not_asked;
  std::copy_if(all.begin(), all.end(), std::back_inserter(not_asked), [](const std::string& name) {
    return !name.starts_with("global_") && name != "shared_atomic_requests";
  });
  EXPECT_EQ(where_any({"@global", "@default", "shared_atomic_requests"}), not_asked);
}

class MetricsTable : public Workspace {};

TEST_F(MetricsTable, ShowsInvocationsLeastGreatestAndMeanOfEachKernel) {
  const std::string path = file("t.db").string();
  {
    schema::Store store(path);
    const std::int64_t run = store.begin_run({"cupti", "", "", "", "", "", ""});
    schema::Device device;
    device.backend = "cupti";
    device.name = "GPU";
    const std::int64_t id = store.add_device(run, device);
    for (const double wavefronts : {32.0, 1024.0}) {
      schema::Launch launch;
      launch.family = "app";
      launch.variant = "reduce";
      launch.nvtx_range = "solve";
      launch.kernel = "_Z6reduceILi4EEvPf";
      launch.counters = {
          {"shared_load_wavefronts", wavefronts, schema::Grade::measured, ""},
          {"shared_load_requests", 96, schema::Grade::measured, ""},
          {"shared_atomic_requests", 0, schema::Grade::measured, ""},
          {"global_reduction_requests", 7, schema::Grade::measured, ""},
          {"x__y.sum", std::nullopt, schema::Grade::unavailable, "not on this chip"}};
      store.add_launch(run, id, launch);
    }
    store.end_run(run, schema::RunOutcome::done, "");
  }
  const ShownMetric metrics[] = {{"shared_load_transactions_per_request"},
                                 {"shared_load_wavefronts"},
                                 {"shared_atomic_requests", true},
                                 {"global_reduction_requests", true},
                                 {"x__y.sum"}};
  EXPECT_EQ(metrics_table(schema::Reader(path), 1, metrics, KernelNameBase::demangled),
            "Device: GPU   Kernel: void reduce<4>(float*)   Range: solve\n"
            "Invocations  Metric                                     Min        Max       Avg\n"
            "───────────  ────────────────────────────────────  ────────  ─────────  ────────\n"
            "          2  shared_load_transactions_per_request  0.333333  10.666667  5.500000\n"
            "          2  shared_load_wavefronts                      32      1,024       528\n"
            "          2  global_reduction_requests                    7          7         7\n"
            "          0  x__y.sum                                     -          -         -\n"
            "no value of x__y.sum: not on this chip\n");
}

}  // namespace
}  // namespace warpmeter::cli
