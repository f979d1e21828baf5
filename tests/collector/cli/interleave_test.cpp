// SPDX-License-Identifier: MIT
// `run --interleave` and `run --against` as a person uses them, on the model.
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Turns = Workspace;

TEST_F(Turns, OfVariantsAreFollowedByTheirComparison) {
  const Outcome outcome =
      warpmeter({"run", "transpose/tiled*", "-n", "64", "-b", "model", "--interleave"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("next: warpmeter compare --db warpmeter.db --by variant 1"));
  EXPECT_EQ(warpmeter({"compare", "--by", "variant", "1"}).exit_code, 0);
}

TEST_F(Turns, TwoBuildsAreRunInTurnsAndCompared) {
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "64", "-b", "model", "--against",
                                     WARPMETER_PROGRAM, "--rounds", "2", "--label", "mine"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("mine-contender against mine-base"), HasSubstr("2 runs")));
  EXPECT_THAT(outcome.error,
              HasSubstr("warpmeter compare --db warpmeter.db --by label mine-base mine-contender"));
  EXPECT_EQ(
      value_of("SELECT group_concat(label, ' ') FROM (SELECT label FROM runs ORDER BY run_id)"),
      "mine-base mine-contender mine-base mine-contender");
  const Outcome again = warpmeter(
      {"run", "vector_add", "-b", "model", "--against", WARPMETER_PROGRAM, "--label", "mine"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.error, HasSubstr("labelled 'mine-base' already"));
}

TEST_F(Turns, QuietOnesMeasureAndPrintNothing) {
  const Outcome outcome =
      warpmeter({"run", "vector_add", "-n", "64", "-b", "model", "--against", WARPMETER_PROGRAM,
                 "--rounds", "2", "-q", "--no-progress", "--db=other.db"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output + outcome.error, IsEmpty());
  EXPECT_THAT(warpmeter({"query", "SELECT count(*) AS runs FROM runs", "--db", "other.db",
                         "--format", "csv"})
                  .output,
              HasSubstr("4"));
}

TEST_F(Turns, APlanIsShownWithoutThem) {
  const Outcome outcome =
      warpmeter({"run", "vector_add", "-b", "model", "--against", "/bin/false", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("vector_add"));
}

TEST_F(Turns, ABuildThatFailsEndsTheTurns) {
  const Outcome outcome =
      warpmeter({"run", "vector_add", "-b", "model", "--against", "/bin/false"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("/bin/false ended with exit code 1 in round 1"));
}

}  // namespace
}  // namespace warpmeter::cli
