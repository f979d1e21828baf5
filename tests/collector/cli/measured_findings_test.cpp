// SPDX-License-Identifier: MIT
// A GPU's results as findings beside those of the model.
#include "collector/cli/tables/measured_findings.h"

#include <gmock/gmock.h>

#include "reports/stalls.h"
#include "tests/schema/fixture.h"

namespace warpmeter::cli {
namespace {

using schema::Completion;
using schema::Launch;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t run_id = 1;

/// Launches of transpose at 1,024: 1 is the copy, 2 takes twice as long.
class MeasuredFindingsTest : public ::testing::Test {
 protected:
  MeasuredFindingsTest() {
    Launch copy = schema::example_launch();
    copy.variant = "copy";
    copy.is_ceiling = true;
    copy.timing = schema::Timing{{1000}, schema::CacheState::cold, 0, "samples"};
    Launch tiled = schema::example_launch();
    tiled.variant = "tiled";
    tiled.timing = schema::Timing{{2000}, schema::CacheState::cold, 0, "samples"};
    schema::store_run(path, {copy, tiled});
  }
  void complete(std::int64_t launch, std::vector<schema::Line> lines,
                std::vector<schema::Stall> stalls) {
    Completion completion{launch, {}, std::nullopt, std::move(lines), std::move(stalls)};
    schema::Store(path).complete_launches(std::span(&completion, 1));
  }
  std::vector<std::string> ask(const std::string& sql) const { return schema::lines_of(path, sql); }

  schema::Folder folder;
  std::string path = folder / "a.db";
};

TEST_F(MeasuredFindingsTest, TellATimeBesideTheCopysAndOnlyOfWhatIsSlower) {
  add_measured_findings(path, run_id);
  EXPECT_THAT(ask("SELECT launch_id, rank, kind, share, share_of, grade, evidence FROM findings"),
              ElementsAre("2|1|below_copy|50|its time|measured|It moves 4,194 GB/s of what it "
                          "reads and writes, copy moves 8,389 GB/s, and computes nothing: at that "
                          "it would take 1 µs instead of 2 µs."));
  EXPECT_THAT(ask("SELECT kind, reason FROM looked_for WHERE launch_id = 2 AND kind IN "
                  "('below_copy', 'waiting', 'tail')"),
              ElementsAre("below_copy|NULL",
                          "tail|hardware counters have no addresses; the model has them: run "
                          "--counts model, or profile -b model"))
      << "nobody sampled it";
  EXPECT_THAT(ask("SELECT launch_id, findings FROM explanations"), ElementsAre("1|NULL", "2|1"));
}

TEST_F(MeasuredFindingsTest, TellATimeBesideTheCopyOfTheSameSizesAlone) {
  path = folder / "sizes.db";
  std::vector<Launch> launches;
  for (const auto& [variant, time] : {std::pair{"copy(m=2)", 1000.0},
                                      {"copy(m=8)", 2000.0},
                                      {"tiled(m=2)", 2000.0},
                                      {"tiled(m=8)", 2000.0}}) {
    Launch& launch = launches.emplace_back(schema::example_launch());
    launch.variant = variant;
    launch.is_ceiling = launch.variant.starts_with("copy");
    launch.timing = schema::Timing{{time}, schema::CacheState::cold, 0, "samples"};
  }
  schema::store_run(path, launches);
  add_measured_findings(path, run_id);
  EXPECT_THAT(ask("SELECT launch_id, kind, share FROM findings"), ElementsAre("3|below_copy|50"));
}

TEST_F(MeasuredFindingsTest, TellWhereWarpsWaitByASampleThatIsLargeEnough) {
  const schema::Stall at_barrier{"a.cu", 7, "__syncthreads();", "barrier", 300, 200};
  const schema::Stall turns{"a.cu", 9, "x *= y;", "not_selected", 400, 0};
  const schema::Stall issued{"a.cu", 9, "x *= y;", "selected", 300, 0};
  complete(2, {}, {at_barrier, turns, issued});
  complete(1, {}, {{"a.cu", 7, "", "barrier", 400, 0}, {"", 0, "", "wait", 99, 0}});
  add_measured_findings(path, run_id);
  EXPECT_THAT(
      ask("SELECT launch_id, rank, file, line, text, share, share_of, evidence FROM findings "
          "WHERE kind = 'waiting'"),
      ElementsAre("2|2|a.cu|7|__syncthreads();|30|1,000 samples of its warps|They wait for "
                  "other warps at a barrier (barrier) 30 %."));
  EXPECT_THAT(ask("SELECT reason FROM looked_for WHERE launch_id = 1 AND kind = 'waiting'"),
              ElementsAre("fewer than 500 samples were taken in so short a launch"));
}

TEST_F(MeasuredFindingsTest, TellLinesBeyondTheirIdealWhereTheModelDidNotLook) {
  const schema::Line costly{"a.cu", 7,   "x = t[i];", "shared load",
                            32,     256, 32,          schema::Grade::measured};
  const schema::Line fine{"a.cu", 8,  "t[i] = x;", "shared store",
                          32,     34, 32,          schema::Grade::measured};
  complete(2, {costly, fine}, {});
  add_measured_findings(path, run_id);
  EXPECT_THAT(ask("SELECT rank, kind, line, access, requests, transactions, ideal, round(share, 1) "
                  "FROM findings WHERE launch_id = 2"),
              ElementsAre("1|excess_transactions|7|shared load|32|256|32|77.2",
                          "2|below_copy|NULL|NULL|0|0|0|50"));
}

TEST_F(MeasuredFindingsTest, StandAfterThoseOfTheModel) {
  Launch copy = schema::example_launch();
  copy.is_ceiling = true;
  copy.variant = "copy";
  Launch slow = schema::example_launch();
  slow.timing = schema::Timing{{16000}, schema::CacheState::cold, 0, "samples"};
  slow.explanation = schema::example_explanation();
  schema::store_run(path, {copy, slow, slow});  // 3, 4 and 5
  complete(5, {{"a.cu", 7, "", "shared load", 32, 256, 32, schema::Grade::measured}}, {});
  add_measured_findings(path, 2);
  EXPECT_THAT(ask("SELECT launch_id, rank, kind, object FROM findings ORDER BY launch_id, rank"),
              ElementsAre("4|1|bank_conflict|tile", "4|2|partial_warp|NULL", "4|3|below_copy|NULL",
                          "5|1|bank_conflict|tile", "5|2|partial_warp|NULL", "5|3|below_copy|NULL"))
      << "the model has told of the lines";
  EXPECT_THAT(ask("SELECT DISTINCT explanation_id FROM explanations WHERE launch_id > 3"),
              SizeIs(1))
      << "told the same";
  EXPECT_THAT(ask("SELECT count(*) FROM remedies"), ElementsAre("4"));
  EXPECT_THAT(ask("SELECT count(*) FROM predictions"), ElementsAre("4"));
  EXPECT_THAT(ask("SELECT reason FROM looked_for WHERE launch_id = 4 AND kind = 'tail'"),
              ElementsAre("the number of multiprocessors is not known"));
}

TEST(StallsTable, NamesWhatIsWaitedForAndLeavesOutTheSmall) {
  reports::WaitingLine line;
  line.file = "a.cu";
  line.line = 7;
  line.text = "x = t[i];";
  line.share = 62;
  line.waiting_share = 60;
  line.reasons = {{"short_scoreboard", 40}, {"new_reason", 19.6}, {"barrier", 0.4}};
  reports::WaitingLine small = line;
  small.share = 0.9;
  const reports::Table table = reports::stalls_table({line, small}, false);
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_EQ(line.place(), "a.cu:7");
  EXPECT_EQ(line.reasons_text(), "shared memory (short_scoreboard) 40 %, new_reason 20 %");
}

}  // namespace
}  // namespace warpmeter::cli
