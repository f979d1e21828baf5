// SPDX-License-Identifier: MIT
// Which findings came, went, or stayed and cost more or less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/compare/compare.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/explained_launches.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using FindingsOfLaunch = std::vector<schema::Finding>;

class ComparedFindings : public ::testing::Test {
 protected:
  void add(FindingsOfLaunch findings, bool is_explained = true,
           std::vector<schema::Explanation::Missing> missing = {}) {
    schema::Launch made = launch("tiled", {});
    count(made, "shared_load_wavefronts", 100);
    made.explanation.was_made = is_explained;
    made.explanation.missing = std::move(missing);
    if (!is_explained) made.explanation.missing = {{"", "the kernel is not there as PTX"}};
    made.explanation.findings = std::move(findings);
    add_run(store_, {made});
  }
  Comparison compared() const { return compare(schema::Reader(database_.path()), {}); }
  /// "went bank_conflict 44" of each.
  std::vector<std::string> changes() const {
    std::vector<std::string> texts;
    for (const FindingPair& pair : compared().findings) {
      const ExplainedFinding& finding = pair.contender ? *pair.contender : *pair.base;
      texts.push_back(std::string(to_string(pair.change)) + " " + finding.kind + " " +
                      std::to_string(finding.line.value_or(0)));
    }
    return texts;
  }

 protected:
  TemporaryDatabase database_;
  schema::Store store_{database_.path()};
};

schema::Finding conflict(int line, std::uint64_t transactions) {
  schema::Finding finding = tile_conflict();
  finding.line = line;
  finding.transactions = transactions;
  return finding;
}

schema::Finding other_array() {
  schema::Finding finding = tile_conflict();
  finding.object = "other";
  finding.text = "other[i] = 0;";
  finding.line = 50;
  return finding;
}

schema::Finding occupancy(double share) {
  schema::Finding finding;
  finding.kind = "low_occupancy";
  finding.share = share;
  finding.share_of = "a multiprocessor's warps";
  return finding;
}

TEST_F(ComparedFindings, SayWhichCameAndWhichWent) {
  add({tile_conflict()});
  add({other_array()});
  EXPECT_THAT(changes(), ElementsAre("came bank_conflict 50", "went bank_conflict 44"));
}

// A program launches the kernel twice, and one of the launches has the conflict: in one run the
// second, in the other the first.
TEST_F(ComparedFindings, AreThoseOfAllLaunches) {
  const auto with = [](FindingsOfLaunch findings) {
    schema::Launch made = launch("tiled", {});
    count(made, "shared_load_wavefronts", 100);
    made.explanation.was_made = true;
    made.explanation.findings = std::move(findings);
    return made;
  };
  add_run(store_, {with({}), with({tile_conflict()})});
  add_run(store_, {with({tile_conflict()}), with({})});
  EXPECT_THAT(changes(), IsEmpty());
  add_run(store_, {with({}), with({})});
  EXPECT_THAT(changes(), ElementsAre("went bank_conflict 44"));
}

TEST_F(ComparedFindings, SayWhichStayedAndCostMoreOrLess) {
  add({conflict(44, 4'194'304), other_array()});
  schema::Finding less = other_array();
  less.transactions /= 2;
  add({conflict(44, 8'388'608), less});
  EXPECT_THAT(changes(), ElementsAre("worse bank_conflict 44", "better bank_conflict 50"));
}

TEST_F(ComparedFindings, OfWhichNothingDiffersAreOnlyCounted) {
  add({tile_conflict(), other_array()});
  add({tile_conflict(), other_array()});
  EXPECT_THAT(changes(), IsEmpty());
  EXPECT_EQ(compared().same_findings, 2U);
  EXPECT_THAT(render(compared(), Format::markdown), HasSubstr("Findings: 2 same."));
}

TEST_F(ComparedFindings, AreFoundAgainWhereTheirLineMoved) {
  add({conflict(44, 100), conflict(60, 300)});
  add({conflict(46, 100), conflict(62, 300)});
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(ComparedFindings, OfALaunchAsAWholeAreComparedByTheirShare) {
  add({occupancy(0.5)});
  add({occupancy(0.75)});
  EXPECT_THAT(changes(), ElementsAre("worse low_occupancy 0"));
  EXPECT_THAT(render(compared(), Format::markdown), HasSubstr("50 % |                     75 % |"));
}

TEST_F(ComparedFindings, DoNotGoWhereTheyWereNotLookedFor) {
  add({tile_conflict()});
  add({}, false);
  EXPECT_THAT(changes(), IsEmpty());
  EXPECT_EQ(compared().same_findings, 0U);
}

TEST_F(ComparedFindings, DoNotComeWhereOnlyTheirKindWasNotLookedForBefore) {
  add({}, true, {{"bank_conflict", "hardware counters have no addresses"}});
  add({tile_conflict(), occupancy(0.5)});
  EXPECT_THAT(changes(), ElementsAre("came low_occupancy 0"));
}

TEST_F(ComparedFindings, OfSamplesAndTimesAreNotComparedForTheyVary) {
  schema::Finding waits = conflict(44, 0), slow = occupancy(0.5);
  waits.kind = "waiting";
  slow.kind = "below_copy";
  add({waits});
  add({slow});
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(ComparedFindings, AreNoChangeThatAnExitCodeTells) {
  add({});
  add({tile_conflict()});
  EXPECT_THAT(changes(), ElementsAre("came bank_conflict 44"));
  EXPECT_FALSE(compared().has_changed());
  EXPECT_FALSE(compared().has_slower());
}

TEST_F(ComparedFindings, AreInEveryFormat) {
  add({tile_conflict(), other_array()});
  add({conflict(44, 1'048'576)});
  const Comparison comparison = compared();
  expect_golden("compared_findings.md",
                render(comparison, Format::markdown)
                    .substr(render(comparison, Format::markdown).find("## Findings")));
  EXPECT_THAT(render(comparison, Format::table), HasSubstr("kernels/transpose.cu:44"));
  const auto json = nlohmann::json::parse(render(comparison, Format::json));
  ASSERT_EQ(json["findings"].size(), 2U);
  EXPECT_EQ(json["findings"][0]["verdict"], "better");
  EXPECT_EQ(json["findings"][0]["metric"], "bank_conflict");
  EXPECT_EQ(json["findings"][0]["base"], 4'194'304);
  EXPECT_EQ(json["findings"][0]["contender"], 1'048'576);
  EXPECT_EQ(json["findings"][1]["verdict"], "went");
  EXPECT_TRUE(json["findings"][1]["contender"].is_null());
  EXPECT_THAT(render(comparison, Format::csv),
              HasSubstr("finding,transpose,tiled,1024,64x64x1,16x16x1,,,bank_conflict,"
                        "transactions,4194304,,"));
}

}  // namespace
}  // namespace warpmeter::reports
