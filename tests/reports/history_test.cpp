// SPDX-License-Identifier: MIT
// One metric over the runs of a database, as people and programs read it.
#include "reports/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "reports/page.h"
#include "reports/plot/text_plot.h"
#include "schema/store.h"

namespace warpmeter::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class History : public ::testing::Test {
 protected:
  std::string path() const { return (folder_.path() / "a.db").string(); }

  /// A run on the hardware with one launch of transpose/tiled.
  void add_run(double duration_ns, double sectors, const std::string& revision,
               const std::string& device_name = "NVIDIA H200",
               schema::RunOutcome outcome = schema::RunOutcome::done,
               const std::string& estimate = "") const {
    schema::Store store(path());
    schema::Run run;
    run.backend = estimate.empty() ? "cupti" : "model";
    run.git_revision = revision;
    const std::int64_t id = store.begin_run(run);
    schema::Device device;
    device.backend = run.backend;
    device.name = device_name;
    schema::Launch launch;
    launch.family = "transpose";
    launch.variant = "tiled";
    launch.size = 1024;
    launch.verified = true;
    launch.timing = schema::Timing{{duration_ns}, schema::CacheState::cold, 0, "samples"};
    const auto grade = estimate.empty() ? schema::Grade::measured : schema::Grade::modelled;
    launch.counters = {{"global_load_sectors", sectors, grade, estimate}};
    store.add_launch(id, store.add_device(id, device), launch);
    store.end_run(id, outcome, "");
  }

  std::vector<HistorySeries> read(const HistoryChoice& choice) const {
    return read_history(schema::Reader(path()), choice);
  }
  std::string rendered(const HistoryChoice& choice, Format format) const {
    return render_history(read(choice), choice, format, 0, true);
  }
  schema::Reader reader() const { return schema::Reader(path()); }

 private:
  const TemporaryFolder folder_;
};

HistoryChoice choice_of(const std::string& variant, const std::string& metric) {
  HistoryChoice choice;
  choice.variant = variant;
  choice.metric = metric;
  return choice;
}

TEST_F(History, MarksWhereATimeChanged) {
  for (const double ns : {5000.0, 5010.0, 4990.0, 5005.0, 6000.0, 6010.0, 5990.0, 6005.0}) {
    add_run(ns, 8, "aaa");
  }
  const auto series = read(choice_of("transpose/tiled", "duration"));
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0].points.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(series[0].points[i].change.has_value(), i == 4) << i;
  }
  EXPECT_NEAR(*series[0].points[4].change, 0.2, 0.001);
  EXPECT_THAT(rendered(choice_of("tiled", "duration"), Format::table),
              AllOf(StartsWith("transpose/tiled at 1024 on NVIDIA H200 (cupti): duration, ns\n"),
                    HasSubstr("▲ +20 %"), HasSubstr("●"), HasSubstr("1 change in 8 values")));
}

TEST_F(History, MarksEveryChangeOfACount) {
  for (const double sectors : {8.0, 8.0, 8.0, 16.0, 16.0}) add_run(5000, sectors, "aaa");
  const auto series = read(choice_of("transpose/tiled", "gld_transactions"));
  EXPECT_TRUE(series.at(0).exact);
  EXPECT_TRUE(series[0].points[3].change.has_value());
  EXPECT_DOUBLE_EQ(*series[0].points[3].change, 1);
  EXPECT_FALSE(series[0].points[4].change.has_value());
}

// 41 and 82 blocks of one kernel gave 20,367 and 13,615.
TEST_F(History, EstimatesFromOtherBlocksAreNoChange) {
  const char* of_41 = "estimated from 41 of 4096 blocks (1 %); between 1 and 2";
  const char* of_82 = "estimated from 82 of 4096 blocks (2 %); between 1 and 3";
  for (const auto& [sectors, reason] : {std::pair(20367.0, of_41), std::pair(13615.0, of_82),
                                        std::pair(13615.0, of_82), std::pair(13000.0, of_82)}) {
    add_run(1000, sectors, "abc", "model sm_90", schema::RunOutcome::done, reason);
  }
  const auto series = read(choice_of("transpose/tiled", "global_load_sectors"));
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0].points.size(), 4U);
  EXPECT_FALSE(series[0].points[1].change);
  EXPECT_TRUE(series[0].points[3].change) << "the same blocks cost less";
}

// 90 is 10 % below 100, whatever other blocks gave before.
TEST_F(History, ComparesAnEstimateWithThoseOfTheSameBlocks) {
  const char* of_41 = "estimated from 41 of 4096 blocks (1 %); between 1 and 2";
  const char* of_82 = "estimated from 82 of 4096 blocks (2 %); between 1 and 3";
  for (const auto& [sectors, reason] :
       {std::pair(300.0, of_41), std::pair(300.0, of_41), std::pair(300.0, of_41),
        std::pair(100.0, of_82), std::pair(90.0, of_82)}) {
    add_run(1000, sectors, "abc", "model sm_90", schema::RunOutcome::done, reason);
  }
  const auto series = read(choice_of("transpose/tiled", "global_load_sectors"));
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0].points.size(), 5U);
  EXPECT_FALSE(series[0].points[3].change);
  ASSERT_TRUE(series[0].points[4].change);
  EXPECT_NEAR(*series[0].points[4].change, -0.1, 1e-12);
}

TEST_F(History, GathersTheRunsOfARevision) {
  add_run(5000, 8, "aaa");
  add_run(7000, 8, "aaa");
  add_run(6000, 8, "bbb");
  HistoryChoice choice = choice_of("transpose/tiled", "duration");
  choice.by_revision = true;
  const auto series = read(choice);
  ASSERT_EQ(series.at(0).points.size(), 2U);
  EXPECT_EQ(series[0].points[0].runs, 2);
  EXPECT_EQ(series[0].points[0].value, 6000);
  EXPECT_EQ(series[0].points[1].revision, "bbb");
}

TEST_F(History, KeepsDevicesApart) {
  add_run(5000, 8, "aaa");
  add_run(9000, 8, "aaa", "NVIDIA A100");
  EXPECT_EQ(read(choice_of("transpose/*", "duration")).size(), 2U);
  HistoryChoice choice = choice_of("transpose/*", "duration");
  choice.device = "a100";
  const auto series = read(choice);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].points[0].value, 9000);
}

TEST_F(History, IsOneLongTableForPrograms) {
  add_run(5000, 8, "aaa");
  const std::string csv = rendered(choice_of("transpose/tiled", "duration"), Format::csv);
  EXPECT_THAT(csv, StartsWith("family,variant,size,device,backend,metric,run_id,started,"
                              "git_revision,label,runs,launches,value,unit,grade,changed,change,"
                              "outcome\n"
                              "transpose,tiled,1024,NVIDIA H200,cupti,duration,1,"));
  EXPECT_THAT(csv, HasSubstr(",aaa,,1,1,5000,ns,measured,0,,done\n"));
  EXPECT_THAT(rendered(choice_of("transpose/tiled", "duration"), Format::json),
              AllOf(StartsWith("["), HasSubstr("\"value\":5000")));
}

TEST_F(History, SaysWhichValuesMayBeOfAPart) {
  add_run(5000, 8, "aaa");
  EXPECT_THAT(rendered(choice_of("tiled", "duration"), Format::table),
              Not(HasSubstr("Not all was measured")));
  add_run(5000, 8, "aaa", "NVIDIA H200", schema::RunOutcome::interrupted);
  add_run(5000, 8, "aaa", "NVIDIA H200", schema::RunOutcome::failed);
  EXPECT_THAT(rendered(choice_of("tiled", "duration"), Format::table),
              HasSubstr("Not all was measured: run 2 was interrupted, run 3 failed."));
  EXPECT_THAT(rendered(choice_of("tiled", "duration"), Format::csv), HasSubstr(",interrupted\n"));
  HistoryChoice choice = choice_of("tiled", "duration");
  choice.by_revision = true;
  EXPECT_THAT(rendered(choice, Format::table), HasSubstr("run 2 was interrupted, run 3 failed."));
}

TEST_F(History, IsMarkdownWithAFencedPlot) {
  add_run(5000, 8, "a|b");
  EXPECT_THAT(rendered(choice_of("transpose/tiled", "duration"), Format::markdown),
              AllOf(StartsWith("## transpose/tiled"), HasSubstr("```text\n"), HasSubstr("a\\|b")));
}

TEST_F(History, MarksAChangeFromZero) {
  for (const double sectors : {0.0, 8.0}) add_run(5000, sectors, "aaa");
  EXPECT_THAT(rendered(choice_of("transpose/tiled", "gld_transactions"), Format::table),
              HasSubstr("▲ from 0"));
  EXPECT_THAT(rendered(choice_of("transpose/tiled", "gld_transactions"), Format::json),
              HasSubstr("\"changed\":1,\"change\":null"));
}

TEST_F(History, IsAPageWithAPointARun) {
  if (html_page().empty()) GTEST_SKIP() << "built without HTML";
  for (const double sectors : {8.0, 8.0, 16.0}) add_run(5000, sectors, "<b>");
  const std::string page = rendered(choice_of("transpose/tiled", "gld_transactions"), Format::html);
  EXPECT_THAT(page, AllOf(HasSubstr("data-form=\"points\""), HasSubstr("level 2"),
                          HasSubstr("1 change in 3 values"), HasSubstr("&lt;b&gt;")));
}

TEST_F(History, TellsWhatThereIsInsteadOfWhatThereIsNot) {
  add_run(5000, 8, "aaa");
  const auto failure = [&](const HistoryChoice& choice) {
    try {
      read(choice);
    } catch (const Error& error) {
      return std::pair(error.code(), std::string(error.what()));
    }
    return std::pair(ExitCode::done, std::string());
  };
  const auto variant = failure(choice_of("transpose/tield", "duration"));
  EXPECT_EQ(variant.first, ExitCode::usage);
  EXPECT_THAT(variant.second, HasSubstr("transpose/tiled"));
  const auto metric = failure(choice_of("transpose/tiled", "gld_eficiency"));
  EXPECT_EQ(metric.first, ExitCode::usage);
  EXPECT_THAT(metric.second, HasSubstr("gld_efficiency"));
  HistoryChoice elsewhere = choice_of("transpose/tiled", "duration");
  elsewhere.device = "A100";
  const auto device = failure(elsewhere);
  EXPECT_EQ(device.first, ExitCode::usage);
  EXPECT_THAT(device.second, HasSubstr("there are transpose/tiled at 1024 on NVIDIA H200 (cupti)"));
  elsewhere.device = "";
  elsewhere.size = 3;
  EXPECT_EQ(failure(elsewhere).first, ExitCode::usage);
  const auto nothing = failure(choice_of("transpose/tiled", "gst_efficiency"));
  EXPECT_EQ(nothing.first, ExitCode::nothing);
}

TEST(TextPlot, IsGolden) {
  const std::vector<double> values = {10, 10, 20, 20};
  const std::vector<std::size_t> changes = {2};
  EXPECT_EQ(text_plot(values, changes, 40),
            "20.0 ┤        ●   ●\n"
            "     │\n"
            "     │\n"
            "     │\n"
            "15.0 ┤\n"
            "     │\n"
            "     │\n"
            "     │\n"
            "10.0 ┤●   ●\n"
            "     └─────────────\n"
            "              ▲\n");
}

TEST(TextPlot, FitsItsWidth) {
  const std::vector<double> values(1000, 5.0);
  const std::string plot = text_plot(values, {}, 60);
  EXPECT_THAT(plot, HasSubstr("5.00 ┤" + [] {
                std::string dots;
                for (int i = 0; i < 54; ++i) dots += "●";
                return dots;
              }() + "\n"));
}

}  // namespace
}  // namespace warpmeter::reports
