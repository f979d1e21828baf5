// SPDX-License-Identifier: MIT
// Databases from somebody else: what hides in them is found before anything of theirs is run.
#include "schema/own_objects.h"

#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "schema/database.h"
#include "schema/embedded.h"
#include "schema/merge/merge.h"
#include "schema/upkeep/maintenance.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* endless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) AS run_id FROM "
    "n";

/// Replaces the text of a table's definition, as only an editor of the file can.
std::string redefined(const std::string& table, const std::string& from, const std::string& to) {
  return fmt::format(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}') WHERE "
      "name = '{}'; PRAGMA writable_schema = RESET",
      from, to, table);
}

class SomebodyElses : public ::testing::Test {
 protected:
  SomebodyElses() { store_run(path_, {example_launch()}); }

  void change(const std::string& sql) const { execute(open_plain(path_).get(), sql); }

  /// Every way in refuses the file, names what is in it, and takes nothing out of it.
  void expect_refused_everywhere(const std::string& what) const {
    const auto named = AllOf(HasSubstr(path_), HasSubstr(what),
                             HasSubstr("changed by something else than warpmeter"));
    const std::string other = folder_ / "other.db", copy = folder_ / "copy.db";
    store_run(other, {});
    const std::vector<std::pair<const char*, std::function<void()>>> ways = {
        {"read", [&] { Reader reader(path_); }},
        {"write", [&] { Store store(path_); }},
        {"remove", [&] { remove_runs(path_, std::vector<std::int64_t>{1}, {}); }},
        {"vacuum", [&] { vacuum(path_); }},
        {"back up", [&] { back_up(path_, copy, false); }},
        {"examine", [&] { examine(path_); }},
        {"merge", [&] { merge(std::vector<std::string>{path_}, other, {}); }},
        {"merge into", [&] { merge(std::vector<std::string>{other}, path_, {}); }},
    };
    for (const auto& [name, way] : ways) {
      SCOPED_TRACE(name);
      expect_failure(failure_of(way), ExitCode::file, named);
    }
    EXPECT_FALSE(std::filesystem::exists(copy));
    EXPECT_EQ(integer_of(open_plain(path_).get(), "SELECT count(*) FROM t_run"), 1);
  }

  Folder folder_;
  std::string path_ = folder_ / "a.db";
};

TEST_F(SomebodyElses, TriggersOnOurTablesAndViewsAreFound) {
  change("CREATE TRIGGER grave AFTER DELETE ON t_run BEGIN DELETE FROM t_launch; END");
  expect_refused_everywhere("the trigger grave on t_run");
  change("DROP TRIGGER grave; CREATE TRIGGER trap INSTEAD OF DELETE ON runs BEGIN SELECT 1; END");
  expect_refused_everywhere("DROP TRIGGER trap");
}

TEST_F(SomebodyElses, RedefinedViewsAreFound) {
  change(fmt::format("DROP VIEW runs; CREATE VIEW runs AS {}", endless));
  expect_refused_everywhere("the view runs");
}

TEST_F(SomebodyElses, RedefinedPrivateViewsAreFound) {
  change(fmt::format("DROP VIEW v_timed; CREATE VIEW v_timed AS {}", endless));
  expect_refused_everywhere("the view v_timed");
}

TEST_F(SomebodyElses, ATableInTheShapeOfAViewIsFound) {
  change("DROP VIEW runs; CREATE TABLE Runs (run_id)");
  expect_refused_everywhere("the table runs");
}

TEST_F(SomebodyElses, AViewInThePlaceOfATableIsFound) {
  change(fmt::format("DROP TABLE t_line; CREATE VIEW t_line AS {}", endless));
  expect_refused_everywhere("the view t_line");
}

TEST_F(SomebodyElses, TablesThatComputeOrRefuseAreFound) {
  change(redefined("t_run", "label TEXT,", "label TEXT CHECK (length(randomblob(1000)) > 1),"));
  expect_refused_everywhere("the table t_run");
}

TEST_F(SomebodyElses, AVirtualTableInThePlaceOfOursIsFound) {
  change("DROP TABLE t_sample; CREATE VIRTUAL TABLE t_sample USING fts5(launch_id, sample)");
  expect_refused_everywhere("the table t_sample");
}

TEST_F(SomebodyElses, TablesUnderOurPrefixAndMissingOnesAreFound) {
  change("CREATE TABLE t_more (run_id)");
  expect_refused_everywhere("the table t_more");
  change("DROP TABLE t_more; DROP TABLE t_expectation");
  expect_refused_everywhere("the table t_expectation is missing");
}

TEST_F(SomebodyElses, IndexesThatComputeOrRefuseAreFound) {
  for (const char* index :
       {"INDEX mine ON t_run (abs(run_id))", "UNIQUE INDEX mine ON t_run (host)",
        "INDEX mine ON t_run (host) WHERE host > ''"}) {
    change(fmt::format("DROP INDEX IF EXISTS mine; CREATE {}", index));
    expect_refused_everywhere("the index mine on t_run");
  }
}

TEST_F(SomebodyElses, NamesOfTheirsAreNoTextForATerminalOrAShell) {
  change("CREATE TRIGGER \"x'; rm -rf ~; \x1b[2J\" AFTER DELETE ON t_run BEGIN SELECT 1; END");
  const std::string message = failure_of([&] { Reader reader(path_); }).message;
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find("DROP TRIGGER"), std::string::npos);
}

TEST_F(SomebodyElses, AMergeLeavesThemOutWhereThatIsAsked) {
  change("CREATE TRIGGER grave AFTER DELETE ON t_run BEGIN DELETE FROM t_launch; END");
  store_run(folder_ / "good.db", {example_launch()});
  MergeOptions options;
  options.skip_unreadable = true;
  const auto merged =
      merge(std::vector<std::string>{path_, folder_ / "good.db"}, folder_ / "out.db", options);
  EXPECT_THAT(merged[0].refused, HasSubstr("the trigger grave on t_run"));
  EXPECT_EQ(merged[1].added, 1U);
}

TEST_F(SomebodyElses, OlderFilesAreLookedAtBeforeTheyAreBroughtUpToDate) {
  const std::string old = folder_ / "old.db";
  {
    const Handle db = open_plain(old);
    execute(db.get(), embedded::migrations()[0].text);
    execute(db.get(), fmt::format("PRAGMA application_id = {}; PRAGMA user_version = 1;"
                                  "CREATE TRIGGER t AFTER UPDATE ON t_launch BEGIN SELECT 1; END",
                                  application_id));
  }
  expect_failure(failure_of([&] { Reader reader(old); }), ExitCode::file,
                 HasSubstr("the trigger t on t_launch"));
  EXPECT_EQ(integer_of(open_plain(old).get(), "PRAGMA user_version"), 1);
  execute(open_plain(old).get(), "DROP TRIGGER t");
  EXPECT_THAT(lines_of(old, "SELECT count(*) FROM runs"), ElementsAre("0"));
}

TEST_F(SomebodyElses, AVersionThatNoneIsIsRefused) {
  change("PRAGMA user_version = -1");
  EXPECT_EQ(failure_of([&] { Reader reader(path_); }).code, ExitCode::file);
}

TEST_F(SomebodyElses, ViewsOfAnotherBuildAreReplacedAndNotRead) {
  change(
      fmt::format("UPDATE t_meta SET value = 'other' WHERE name = 'fingerprint'; DROP VIEW runs;"
                  "CREATE VIEW runs AS {}",
                  endless));
  EXPECT_THAT(lines_of(path_, "SELECT run_id FROM runs"), ElementsAre("1"));
}

TEST_F(SomebodyElses, ViewsThatAreMissingAreMadeAgain) {
  change("DROP VIEW runs");
  EXPECT_THAT(lines_of(path_, "SELECT run_id FROM runs"), ElementsAre("1"));
}

TEST_F(SomebodyElses, NamesToBeDroppedAreNotStatements) {
  change(
      "UPDATE t_meta SET value = 'other' WHERE name = 'fingerprint';"
      "INSERT INTO t_view (name) VALUES ('x\"; DELETE FROM t_run; --')");
  EXPECT_THAT(lines_of(path_, "SELECT count(*) FROM runs"), ElementsAre("1"));
}

TEST_F(SomebodyElses, OwnTablesViewsAndPlainIndexesAreAllowedAndTheirTriggersRest) {
  change(
      "CREATE TABLE notes (run_id INTEGER REFERENCES t_run ON DELETE CASCADE, note TEXT);"
      "INSERT INTO notes (run_id, note) VALUES (1, 'a');"
      "CREATE TRIGGER grave AFTER DELETE ON notes BEGIN DELETE FROM t_device; END;"
      "CREATE INDEX by_host ON t_run (host);"
      "CREATE VIEW mine AS SELECT note FROM notes");
  EXPECT_THAT(lines_of(path_, "SELECT note FROM mine"), ElementsAre("a"));
  store_run(path_, {example_launch()});
  EXPECT_EQ(remove_runs(path_, std::vector<std::int64_t>{1}, {}), 1U);
  EXPECT_EQ(integer_of(open_plain(path_).get(), "SELECT count(*) FROM notes"), 0);
  EXPECT_EQ(integer_of(open_plain(path_).get(), "SELECT count(*) FROM t_device"), 1);
}

TEST_F(SomebodyElses, CommentsAndSpacesMakeNoDifference) {
  change(
      "DROP INDEX t_run_label; CREATE INDEX  t_run_label /* the name */ ON t_run(label) -- here");
  EXPECT_THAT(lines_of(path_, "SELECT count(*) FROM runs"), ElementsAre("1"));
}

TEST_F(SomebodyElses, AFunctionWithEffectsDoesNotRunInAView) {
  change("CREATE VIEW mine AS SELECT load_extension('x.so')");
  EXPECT_NE(failure_of([&] { lines_of(path_, "SELECT * FROM mine"); }).message, "");
}

TEST_F(SomebodyElses, ATextThatWouldFillTheMemoryIsNotRead) {
  change("UPDATE t_run SET label = printf('%.*c', 34000000, 'x')");
  const auto too_long = AllOf(HasSubstr(path_), HasSubstr("holds a value of more than 32 MiB"));
  for (const char* query : {"SELECT label FROM runs", "SELECT upper(label) FROM runs"}) {
    expect_failure(failure_of([&] { lines_of(path_, query); }), ExitCode::file, too_long);
  }
  EXPECT_THAT(lines_of(path_, "SELECT count(*) FROM launches"), ElementsAre("1"));
}

TEST_F(SomebodyElses, ALongNameInManyRowsIsNotCollected) {
  change("UPDATE t_run SET label = printf('%.*c', 20000000, 'x')");
  const Reader reader(path_);
  EXPECT_EQ(reader.query("SELECT label FROM runs").rows.size(), 1U);
  expect_failure(failure_of([&] { reader.query("SELECT label FROM runs, (VALUES (1), (2))"); }),
                 ExitCode::file, HasSubstr("texts that are too long for a table"));
}

TEST_F(SomebodyElses, LookingCostsNextToNothing) {
  const Reader reader(path_);  // the expected text is made once
  const Handle db = open_plain(path_);
  const std::clock_t begin = std::clock();
  constexpr int times = 20;
  for (int i = 0; i < times; ++i) {
    refuse_changed_objects(db.get(), path_, [](sqlite3*) { return true; });
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds / times, 0.01);  // 0.1 ms as people run it; here unoptimised, with sanitizers
}

}  // namespace
}  // namespace warpmeter::schema
