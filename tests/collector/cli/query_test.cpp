// SPDX-License-Identifier: MIT
// `query` and `report` from the outside.
#include <string>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Query : public Workspace {
 protected:
  void SetUp() override { measure_something(); }
};

TEST_F(Query, ShowsAViewByItsName) {
  const Outcome outcome = warpmeter({"query", "comparison", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output,
              AllOf(StartsWith("run_id,launch_id,device,backend,family,variant,size,grid,block,"),
                    HasSubstr(",vector_add,block_128,1000,")));
}

TEST_F(Query, HasFourFormats) {
  const char* sql = "SELECT 1 AS a, 'x|y' AS b, NULL AS c";
  EXPECT_EQ(warpmeter({"query", sql, "--format", "csv"}).output, "a,b,c\n1,x|y,\n");
  EXPECT_THAT(warpmeter({"query", sql, "--format", "json"}).output,
              AllOf(HasSubstr(R"("a":1)"), HasSubstr(R"("b":"x|y")"), HasSubstr(R"("c":null)")));
  EXPECT_THAT(warpmeter({"query", sql, "--format", "markdown"}).output, HasSubstr("x\\|y"));
  EXPECT_THAT(warpmeter({"query", sql, "--format", "md"}).output, HasSubstr("x\\|y"));
  EXPECT_THAT(warpmeter({"query", sql}).output, HasSubstr("x|y"));
}

TEST_F(Query, WritesCsvAsItIsButForATerminal) {
  Start start{{"query", "SELECT 'a' || char(27) || '[31mb' AS c", "--format", "csv"},
              folder_,
              {{"PAGER", "cat"}}};
  EXPECT_EQ(run_program(start).output, "c\na\x1b[31mb\n");
  start.output_is_terminal = true;
  EXPECT_THAT(run_program(start).output, AllOf(HasSubstr("[31mb"), Not(HasSubstr("\x1b"))));
}

TEST_F(Query, BindsParameters) {
  EXPECT_EQ(warpmeter({"query", "SELECT :n + 1 AS a, :t AS b", "--param", "n=41", "--param",
                       "t=it's", "--format", "csv"})
                .output,
            "a,b\n42,it's\n");
}

TEST_F(Query, ReadsSqlFromStandardInput) {
  const Outcome outcome = run_program(
      {{"query", "--format", "csv"}, folder_, {}, "SELECT variant FROM launches\nORDER BY 1;\n"});
  EXPECT_EQ(outcome.output, "variant\nblock_128\nblock_256\n");
}

TEST_F(Query, TakesAViewsNameAsItComesFromAPipe) {
  const Outcome outcome = run_program({{"query", "--format", "csv"}, folder_, {}, "  runs;\n"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, StartsWith("run_id,uuid,"));
}

TEST_F(Query, StopsAtTheLimit) {
  EXPECT_EQ(warpmeter({"query", "launches", "--limit", "1", "--format", "csv"}).exit_code, 0);
  const std::string output =
      warpmeter({"query", "SELECT variant FROM launches", "--limit", "1", "--format", "csv"})
          .output;
  EXPECT_EQ(output, "variant\nblock_128\n");
}

TEST_F(Query, IsReadOnly) {
  for (const char* sql : {"DROP TABLE runs", "drop view comparison", "DELETE FROM runs",
                          "UPDATE runs SET label = 'x'", "CREATE TABLE t (a)",
                          "ATTACH 'other.db' AS other", "PRAGMA user_version = 9", "VACUUM"}) {
    const Outcome outcome = warpmeter({"query", sql});
    EXPECT_EQ(outcome.exit_code, 2) << sql;
    EXPECT_EQ(outcome.output, "") << sql;
  }
  EXPECT_THAT(warpmeter({"query", "DROP TABLE runs"}).error, HasSubstr("read-only"));
  EXPECT_THAT(warpmeter({"query", "VACUUM"}).error, HasSubstr("read-only"));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "2");
}

TEST_F(Query, TellsAnSqlErrorWithItsPlace) {
  const Outcome outcome = warpmeter({"query", "SELECT variant FORM launches"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("launches"), HasSubstr("syntax error")));
}

TEST_F(Query, NamesTheNearestViewOfAMissingTable) {
  const Outcome outcome = warpmeter({"query", "SELECT * FROM lauches"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("lauches"), HasSubstr("did you mean launches")));
}

TEST_F(Query, TakesOneStatement) {
  EXPECT_EQ(warpmeter({"query", "SELECT 1; SELECT 2"}).exit_code, 2);
}

TEST_F(Query, EndsQuietlyWhenItsReaderHasGone) {
  Process process({{"query",
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i "
                    "< 50000) SELECT i FROM n"},
                   folder_});
  process.close_output();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.error, "");
}

TEST_F(Query, DoesNotOverwriteTheDatabaseWithItsAnswer) {
  EXPECT_EQ(warpmeter({"query", "runs", "-o", "warpmeter.db"}).exit_code, 2);
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "2");
}

TEST_F(Query, ToAFullDeviceIsExitCode5) {
  const Outcome outcome = run_program({{"query", "launches"}, folder_, {}, {}, "/dev/full"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("standard output"), HasSubstr("No space left")));
}

const std::string endless_rows =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
const std::string endless_sum =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n";

TEST_F(Query, ThatATimeoutStopsSaysSoAndExitsWith3) {
  for (const char* format : {"table", "csv", "json", "markdown", "html"}) {
    const Outcome outcome =
        warpmeter({"query", endless_sum, "--timeout", "0.2", "--format", format});
    EXPECT_EQ(outcome.exit_code, 3) << format;
    EXPECT_EQ(outcome.output, "") << format;
    EXPECT_THAT(outcome.error, HasSubstr("the query was stopped after 0.2 s (--timeout): "));
  }
}

TEST_F(Query, ThatATimeoutStopsHalfWayLeavesNoCompleteAnswer) {
  const Outcome csv = warpmeter({"query", endless_rows, "--timeout", "0.3", "--format", "csv"});
  EXPECT_EQ(csv.exit_code, 3);
  EXPECT_THAT(csv.output, AllOf(testing::StartsWith("i\n1\n2\n"),
                                testing::EndsWith("\n\"stopped here: not all rows")));
  const Outcome json = warpmeter({"query", endless_rows, "--timeout", "0.3", "--format", "json"});
  EXPECT_EQ(json.exit_code, 3);
  EXPECT_THAT(json.output, AllOf(testing::StartsWith("["), testing::EndsWith("}")));
  const Outcome table = warpmeter({"query", endless_rows, "--timeout", "1"});
  EXPECT_EQ(table.exit_code, 3);
  EXPECT_THAT(table.output, testing::EndsWith("\n(stopped here: not all rows)\n"));
  const Outcome file =
      warpmeter({"query", endless_rows, "--timeout", "0.3", "--format", "csv", "-o", "a.csv"});
  EXPECT_EQ(file.exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.csv"));
}

TEST_F(Query, ThatFailsHalfWayLeavesNoCompleteAnswer) {
  const std::string fails_late =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
      "SELECT CASE WHEN i < 100000 THEN i ELSE abs(-9223372036854775807 - 1) END FROM n";
  const Outcome outcome = warpmeter({"query", fails_late, "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, testing::EndsWith("\n\"stopped here: not all rows"));
}

TEST_F(Query, ListsRuns) {
  EXPECT_THAT(warpmeter({"list", "runs", "--format", "csv"}).output,
              AllOf(HasSubstr("run_id"), HasSubstr("model"), HasSubstr("done")));
}

using Report = Query;

TEST_F(Report, IsWrittenToAFileAsMarkdown) {
  const Outcome outcome = warpmeter({"report", "-o", "report.md"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(contents("report.md"), AllOf(StartsWith("#"), HasSubstr("| block_128")));
}

TEST_F(Report, IsOfTheRunThatIsAskedFor) {
  measure_something();
  const std::string sql = "SELECT uuid FROM runs ORDER BY run_id LIMIT 1";
  for (const std::string& run : {std::string("1"), std::string("last~1"), value_of(sql)}) {
    const Outcome outcome = warpmeter({"report", "--run", run, "--format", "csv"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("\n1,"), Not(HasSubstr("\n2,")))) << run;
  }
  EXPECT_EQ(warpmeter({"report", "--run", "last~7"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"report", "--run", "nonsense"}).exit_code, 2);
}

/// A section may be a stranger's.
TEST_F(Report, StopsASectionThatDoesNotEnd) {
  const std::string endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) ";
  write("endless.sql", "-- Endless\n" + endless + "SELECT count(*) FROM c");
  const Outcome stopped = warpmeter({"report", "--section", "endless.sql", "--timeout", "1"});
  EXPECT_EQ(stopped.exit_code, 3);
  EXPECT_THAT(stopped.error, HasSubstr("endless: the query was stopped after 1 s (--timeout)"));
  write("rows.sql", "-- Rows\n" + endless + "SELECT x FROM c");
  const Outcome large = warpmeter({"report", "--section", "rows.sql"});
  EXPECT_EQ(large.exit_code, 3);
  EXPECT_THAT(large.error, HasSubstr("rows: its table would be larger than 64 MiB; add a LIMIT"));
}

TEST_F(Report, OfSectionsWithoutContentSaysSoInEveryFormat) {
  for (const char* format : {"markdown", "table", "csv", "json", "html"}) {
    const Outcome outcome = warpmeter({"report", "--section", "stalls", "--format", format});
    EXPECT_EQ(outcome.exit_code, 3) << format;
    EXPECT_EQ(outcome.output, "") << format;
    EXPECT_EQ(outcome.error,
              "warpmeter: run 1 has nothing for stalls: what the warps waited for, by source line "
              "(run --lines on a GPU)\n");
  }
  EXPECT_EQ(warpmeter({"report", "--section", "stalls,lines"}).exit_code, 0);
  const Outcome words = warpmeter({"report", "--section", "headline", "--format", "csv"});
  EXPECT_EQ(words.exit_code, 2);
  EXPECT_THAT(words.error, HasSubstr("csv is one table and the sections chosen have none"));
}

}  // namespace
}  // namespace warpmeter::cli
