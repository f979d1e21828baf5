// SPDX-License-Identifier: MIT
// The explanations of explain, through the store and back by the views.
#include "schema/rows/explanations.h"

#include <functional>

#include "schema/upkeep/maintenance.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;

class Explanations : public ::testing::Test {
 protected:
  static Launch explained(const Explanation& explanation) {
    Launch launch = example_launch();
    launch.explanation = explanation;
    return launch;
  }
  std::vector<std::string> ask(const std::string& sql) const { return lines_of(path, sql); }
  Folder folder;
  std::string path = folder / "a.db";
};

TEST_F(Explanations, GiveTheirFindingsInOrder) {
  store_run(path, {example_launch(), explained(example_explanation())});
  EXPECT_THAT(
      ask("SELECT * FROM findings"),
      ElementsAre("1|2|2.1|1|bank_conflict|kernels/transpose.cu|44|[47,51]|out[o] = "
                  "tile[threadIdx.x][threadIdx.y];|tile|shared load|Half a warp reads one "
                  "column: its 16 lanes, 16 words apart, meet in 2 "
                  "banks.|524288|4194304|524288|3670016|524288|4718592|87.5|the launch's "
                  "shared wavefronts|exact|NULL|{\"width\":4,\"lanes\":[{\"lane\":0,\"address\":"
                  "0,\"pass\":1},{\"lane\":2,\"address\":64,\"pass\":2}]}",
                  "1|2|2.2|2|partial_warp|NULL|NULL|NULL|NULL|NULL|NULL|The last warp of a "
                  "block has 4 of 32 lanes.|0|0|0|0|0|NULL|0|NULL|ptx|there is no machine "
                  "code|NULL"));
}

TEST_F(Explanations, GiveTheirRemediesAndWhatTheyWouldBring) {
  store_run(path, {explained(example_explanation())});
  EXPECT_THAT(
      ask("SELECT * FROM remedies"),
      ElementsAre(
          "1|1|1.1|1|1|padding 1|tile[16][17]|a word of padding a row|[3,5]|1|1048576|"
          "1048576|1088|8|{\"width\":4,\"lanes\":[{\"lane\":0,\"address\":0,\"pass\":1},{\"lane\":"
          "2,\"address\":64,\"pass\":2}]}",
          "1|1|1.1|1|2|padding 16|tile[16][17]|a word of padding a row|NULL|0|1048576|1048576|"
          "NULL|NULL|NULL"));
  EXPECT_THAT(ask("SELECT * FROM predictions"),
              ElementsAre("1|1|1.1|1|1|padding 1|shared_load_wavefronts|0|1048576",
                          "1|1|1.1|1|1|padding 1|warp_instructions|NULL|7"));
}

TEST_F(Explanations, SayWhatWasNotLookedForAndWhy) {
  Explanation none;
  none.missing = {{"", "the kernel is not in PTX"}};
  Explanation clean;
  clean.was_made = true;
  Launch failed = explained(example_explanation());
  failed.outcome = LaunchOutcome::failed;
  failed.reason = "illegal address";
  store_run(path, {explained(example_explanation()), explained(none), explained(clean), failed,
                   example_launch()});
  EXPECT_THAT(ask("SELECT launch_id, findings, reason FROM explanations"),
              ElementsAre("1|2|NULL", "2|NULL|the kernel is not in PTX", "3|0|NULL",
                          "4|NULL|the launch failed",
                          "5|NULL|hardware counters have no addresses; the model has them: run "
                          "--counts model, or profile -b model"));
  EXPECT_THAT(ask("SELECT kind, words, reason FROM looked_for WHERE launch_id = 1 AND kind IN "
                  "('tail', 'divergence')"),
              ElementsAre("divergence|lanes that wait for others|NULL",
                          "tail|a last wave of few blocks|the number of multiprocessors is not "
                          "known"));
  EXPECT_THAT(ask("SELECT launch_id, count(*), count(reason) FROM looked_for GROUP BY launch_id"),
              ElementsAre("1|17|1", "2|17|17", "3|17|0", "4|17|17", "5|17|17"));
  EXPECT_THAT(ask("SELECT DISTINCT launch_id FROM findings"), ElementsAre("1"))
      << "a failed launch is never a measurement";
}

TEST_F(Explanations, ThatAreTheSameAreStoredOnce) {
  Explanation other = example_explanation();
  other.findings[0].transactions += 1;
  store_run(path, {explained(example_explanation()), explained(example_explanation()),
                   explained(other), explained(example_explanation())});
  EXPECT_THAT(ask("SELECT explanation_id FROM explanations"), ElementsAre("1", "1", "2", "1"));
  const Handle db = open_plain(path);
  EXPECT_EQ(integer_of(db.get(), "SELECT count(*) FROM t_explanation"), 2);
}

TEST_F(Explanations, GoWithTheirRuns) {
  store_run(path, {explained(example_explanation())});
  Explanation other = example_explanation();
  other.findings.pop_back();
  store_run(path, {explained(example_explanation()), explained(other)});
  remove_runs(path, std::vector<std::int64_t>{2});
  EXPECT_THAT(ask("SELECT finding_id FROM findings"), ElementsAre("1.1", "1.2"));
  const Handle db = open_plain(path);
  EXPECT_EQ(integer_of(db.get(), "SELECT count(*) FROM t_explanation"), 1);
  EXPECT_EQ(integer_of(db.get(), "SELECT count(*) FROM t_explained"), 1);
}

// Before version 9 the evidence alone named the other lines.
TEST_F(Explanations, OfAnOlderDatabaseNameTheLinesOfTheirEvidence) {
  Explanation several = example_explanation();
  several.findings[0].evidence =
      "Neighbouring lanes are 32 bytes apart. So do lines 5, 16, which are counted here.";
  several.findings[1].evidence = "They are. So does line 7, which is counted here.";
  several.findings.push_back(several.findings[1]);
  several.findings[2].evidence = "Nothing else is counted here.";
  for (Finding& finding : several.findings) finding.also_lines.clear();
  store_run(path, {explained(several)});
  make_older(path, 8);
  EXPECT_THAT(ask("SELECT also_lines FROM findings ORDER BY rank"),
              ElementsAre("[5, 16]", "[7]", "NULL"));
}

TEST_F(Explanations, KeepAnyText) {
  Explanation hostile = example_explanation();
  hostile.findings[0].evidence = "a \"quote\" | and\na line \x1b[31m \\ ' $.x";
  hostile.findings[0].object = "a|b";
  hostile.findings[0].transactions = 9'000'000'000'000'000'000;
  store_run(path, {explained(hostile)});
  EXPECT_THAT(ask("SELECT evidence, object, transactions FROM findings LIMIT 1"),
              ElementsAre("a \"quote\" | and\na line \x1b[31m \\ ' $.x|a|b|"
                          "9000000000000000000"));
}

// A digest that two machines compute differently would store one explanation twice; one that leaves
// something out would tell a launch another's.
TEST_F(Explanations, HaveADigestOfAllThatTheySay) {
  const std::string digest = digest_of(example_explanation());
  EXPECT_EQ(digest.size(), 32U);
  EXPECT_EQ(digest_of(example_explanation()), digest);
  const std::vector<std::function<void(Explanation&)>> changes = {
      [](Explanation& e) { e.was_made = false; },
      [](Explanation& e) { e.missing[0].reason += "x"; },
      [](Explanation& e) { std::swap(e.findings[0].text, e.findings[0].object); },
      [](Explanation& e) { e.findings[0].share = 0.5; },
      [](Explanation& e) { e.findings[0].also_lines[1] = 52; },
      [](Explanation& e) { e.findings[0].lanes.pass[2] = 1; },
      [](Explanation& e) { e.findings[1].grade = Grade::exact; },
      [](Explanation& e) { e.findings[0].remedies[1].blocks = 0; },
      [](Explanation& e) { e.findings[0].remedies[0].also_amounts[1] = 7; },
      [](Explanation& e) { e.findings[0].remedies[0].predicted[0].value = 1; }};
  for (const auto& change : changes) {
    Explanation changed = example_explanation();
    change(changed);
    EXPECT_NE(digest_of(changed), digest) << &change - changes.data();
  }
}

}  // namespace
}  // namespace warpmeter::schema
