// SPDX-License-Identifier: MIT
// The questions of a person to a database, and how a question that would change it is refused.
#include "schema/embedded.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ReaderTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "warpmeter.db"; }

  std::vector<std::string> ask(std::string_view sql, const Parameters& parameters = {}) const {
    std::vector<std::string> lines;
    Reader(path()).query_user(
        sql, parameters,
        [&](const std::vector<std::string>& columns) {
          std::string line;
          for (const std::string& column : columns) line += column + " ";
          lines.push_back(line);
        },
        [&](const std::vector<Value>& row) {
          lines.push_back(text_of(row.front()));
          return true;
        });
    return lines;
  }

  Failure refusal(std::string_view sql, const Parameters& parameters = {}) const {
    return failure_of([&] { ask(sql, parameters); });
  }

 private:
  Folder folder_;
};

TEST_F(ReaderTest, GivesColumnsThenRows) {
  store_run(path(), {example_launch(), example_launch()});
  EXPECT_THAT(ask("SELECT launch_id, size FROM launches"),
              ElementsAre("launch_id size ", "1", "2"));
  EXPECT_THAT(ask("SELECT launch_id FROM launches WHERE 0"), ElementsAre("launch_id "));
}

TEST_F(ReaderTest, StopsWhenToldTo) {
  store_run(path(), {example_launch(), example_launch()});
  int rows = 0;
  Reader(path()).query_user(
      "SELECT * FROM results", {}, [](const auto&) {}, [&](const auto&) { return ++rows < 3; });
  EXPECT_EQ(rows, 3);
}

TEST_F(ReaderTest, BindsParametersByName) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(ask("SELECT variant FROM launches WHERE size = :size AND family = :family",
                  {{":size", std::int64_t{1024}}, {":family", "transpose"}}),
              ElementsAre("variant ", "naive"));
  EXPECT_THAT(ask("SELECT :a IS NULL", {{":a", std::monostate{}}}),
              ElementsAre(":a IS NULL ", "1"));
  EXPECT_THAT(ask("SELECT :a AS a", {{":a", 2.5}}), ElementsAre("a ", "2.5"));
}

TEST_F(ReaderTest, WantsEachParameterAndNoOther) {
  store_run(path(), {});
  expect_failure(refusal("SELECT :a"), ExitCode::usage, HasSubstr(":a has no value"));
  expect_failure(refusal("SELECT 1", {{":b", "x"}}), ExitCode::usage, HasSubstr("no parameter :b"));
  expect_failure(refusal("SELECT ?"), ExitCode::usage, HasSubstr("write :name"));
}

class WritingSql : public ::testing::TestWithParam<const char*> {};

TEST_P(WritingSql, IsRefusedAndChangesNothing) {
  const Folder folder;
  store_run(folder / "a.db", {example_launch()});
  const Failure failure = failure_of([&] {
    Reader(folder / "a.db")
        .query_user(
            GetParam(), {}, [](const auto&) {}, [](const auto&) { return true; });
  });
  expect_failure(failure, ExitCode::usage, StartsWith("read-only"));
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT count(*) FROM launches"), ElementsAre("1"));
}

INSTANTIATE_TEST_SUITE_P(
    Reader, WritingSql,
    ::testing::Values("DROP TABLE t_run", "DROP VIEW results", "DELETE FROM t_launch",
                      "INSERT INTO t_meta (name, value) VALUES ('a', 'b')",
                      "UPDATE t_run SET label = 'x'", "CREATE TABLE a (b)",
                      "CREATE TEMP TABLE a (b)", "ATTACH 'b.db' AS b", "PRAGMA user_version = 7",
                      "PRAGMA query_only = OFF", "PRAGMA journal_mode = DELETE", "VACUUM",
                      "VACUUM INTO 'b.db'", "BEGIN", "REINDEX", "ANALYZE",
                      "EXPLAIN DELETE FROM t_run", "WITH a AS (SELECT 1) DELETE FROM t_run"));

class UnlistedSql : public ::testing::TestWithParam<const char*> {};

TEST_P(UnlistedSql, IsRefusedBeforeItRuns) {
  const Folder folder;
  store_run(folder / "a.db", {example_launch()});
  const Failure failure = failure_of([&] {
    Reader(folder / "a.db")
        .query_user(
            GetParam(), {}, [](const auto&) {}, [](const auto&) { return true; });
  });
  expect_failure(failure, ExitCode::usage, Not(HasSubstr("could not be read")));
}

// Functions that take addresses, load code, write logs or show the inside of an index; pragmas and
// virtual tables that nobody needs to read runs.
INSTANTIATE_TEST_SUITE_P(
    Reader, UnlistedSql,
    ::testing::Values("SELECT fts3_tokenizer('simple')",
                      "SELECT FTS3_Tokenizer('simple', x'4141414141414141')",
                      "SELECT load_extension('a.so')", "SELECT sqlite_log(1, 'text')",
                      "SELECT rtreenode(2, x'00')", "SELECT rtreecheck('t')", "SELECT fts5(x'00')",
                      "SELECT 'a' MATCH 'b'", "SELECT 'a' REGEXP 'b'", "SELECT * FROM dbstat",
                      "SELECT * FROM sqlite_stmt", "SELECT * FROM fts3tokenize('simple', 'text')",
                      "SELECT * FROM pragma_function_list", "SELECT * FROM pragma_module_list",
                      "SELECT * FROM pragma_compile_options", "PRAGMA temp_store_directory",
                      "PRAGMA data_store_directory", "PRAGMA wal_checkpoint",
                      "SELECT (SELECT max(launch_id) FROM launches "
                      "WHERE fts3_tokenizer('simple') IS NULL)"));

TEST_F(ReaderTest, CallsWhatComputes) {
  store_run(path(), {example_launch()});
  EXPECT_THAT(ask("SELECT upper('a') || round(2.5) || json_extract('[1,2]', '$[1]') || "
                  "date(0, 'unixepoch') || abs(-3) AS x"),
              ElementsAre("x ", "A3.021970-01-013"));
  EXPECT_THAT(ask("SELECT value FROM json_each('[7,8]')"), ElementsAre("value ", "7", "8"));
  EXPECT_THAT(ask("PRAGMA user_version").size(), 2u);
}

TEST_F(ReaderTest, ReadsNoVirtualTableOfAForeignFile) {
  store_run(path(), {example_launch()});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
  for (const char* sql :
       {"CREATE VIRTUAL TABLE theirs USING fts5(text)",
        "CREATE VIEW theirs_view AS SELECT * FROM theirs",
        "CREATE VIEW tokenizer AS SELECT hex(fts3_tokenizer('simple')) AS address"}) {
    ASSERT_EQ(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  }
  sqlite3_close(db);
  for (const char* sql :
       {"SELECT * FROM theirs", "SELECT * FROM theirs_view", "SELECT * FROM tokenizer"}) {
    EXPECT_EQ(refusal(sql).code, ExitCode::usage) << sql;
  }
}

TEST_F(ReaderTest, TellsWhereSqlIsWrong) {
  store_run(path(), {});
  expect_failure(refusal("SELECT * FORM runs"), ExitCode::usage,
                 AllOf(HasSubstr("near \"FORM\": syntax error"), HasSubstr("line 1, column 10")));
  expect_failure(refusal("SELECT 'ä',\n  wrong FROM runs"), ExitCode::usage,
                 AllOf(HasSubstr("no such column: wrong"), HasSubstr("line 2, column 3")));
  expect_failure(refusal("SELECT 'ä', wrong"), ExitCode::usage, HasSubstr("line 1, column 13"));
  expect_failure(refusal("SELECT * FROM reslts"), ExitCode::usage,
                 HasSubstr("no such table: reslts"));
}

TEST_F(ReaderTest, TellsWhatGoesWrongWhileItRuns) {
  store_run(path(), {});
  expect_failure(refusal("SELECT abs(-9223372036854775808)"), ExitCode::usage,
                 HasSubstr("integer overflow"));
  expect_failure(refusal("SELECT json('{')"), ExitCode::usage, HasSubstr("malformed JSON"));
}

TEST_F(ReaderTest, BlamesNumbersThatNobodyMeasuredOnWhoeverStoredThem) {
  store_run(path(), {});
  try {
    Reader(path()).query("SELECT sum(i) FROM (SELECT 9223372036854775807 AS i UNION ALL SELECT 1)");
    FAIL() << "the sum does not fit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::file);
    EXPECT_THAT(error.what(), HasSubstr("was changed by something else than warpmeter (integer"));
  }
}

TEST_F(ReaderTest, RefusesTextThatIsNoStatement) {
  store_run(path(), {});
  const std::string longest = "SELECT 1 --" + std::string(longest_statement - 11, 'x');
  EXPECT_EQ(ask(longest).size(), 2U);
  expect_failure(refusal(longest + "x"), ExitCode::usage, HasSubstr("at most 1048576 bytes"));
  expect_failure(refusal(std::string("SELECT 1\0, 2", 12)), ExitCode::usage,
                 HasSubstr("byte 9 of this one is NUL"));
}

TEST_F(ReaderTest, SaysOfTablesThatOnlyReadThatTheyAreNotOnTheList) {
  store_run(path(), {});
  expect_failure(
      refusal("SELECT * FROM pragma_table_info('runs')"), ExitCode::usage,
      AllOf(HasSubstr("pragma_table_info is not on the list"), Not(HasSubstr("cannot change"))));
  expect_failure(refusal("PRAGMA compile_options"), ExitCode::usage,
                 HasSubstr("the pragma compile_options is not on the list"));
  expect_failure(refusal("PRAGMA user_version = 9"), ExitCode::usage,
                 HasSubstr("cannot change the database"));
}

TEST_F(ReaderTest, RunsOneStatementOnly) {
  store_run(path(), {});
  EXPECT_THAT(ask("SELECT 1; -- done"), ElementsAre("1 ", "1"));
  expect_failure(refusal("SELECT 1; SELECT 2"), ExitCode::usage, HasSubstr("one statement"));
  expect_failure(refusal("SELECT 1; rubbish"), ExitCode::usage, HasSubstr("one statement"));
  expect_failure(refusal("-- nothing"), ExitCode::usage, HasSubstr("no SQL statement"));
  expect_failure(refusal(""), ExitCode::usage, HasSubstr("no SQL statement"));
}

TEST_F(ReaderTest, AllowsPragmasThatOnlyTell) {
  store_run(path(), {});
  EXPECT_THAT(ask("PRAGMA user_version"),
              ElementsAre("user_version ", std::to_string(embedded::migrations().size())));
  EXPECT_EQ(refusal("PRAGMA table_info(runs)").message, "");
  EXPECT_EQ(refusal("EXPLAIN QUERY PLAN SELECT * FROM runs").message, "");
}

TEST_F(ReaderTest, SeesWhatIsStoredWhileItIsOpen) {
  store_run(path(), {});
  const Reader reader(path());
  store_run(path(), {});
  EXPECT_THAT(lines_of(reader, "SELECT count(*) FROM runs"), ElementsAre("2"));
}

class FindRun : public ::testing::Test {
 protected:
  FindRun() : store_(folder_ / "a.db") {}

  std::int64_t add(const std::string& label = "", RunOutcome outcome = RunOutcome::done) {
    const std::int64_t id = begin(label);
    store_.end_run(id, outcome, "");
    return id;
  }
  std::int64_t begin(const std::string& label = "") { return store_.begin_run(example_run(label)); }
  std::int64_t find(const std::string& selector) { return reader().find_run(selector); }
  Failure failure(const std::string& selector) {
    return failure_of([&] { find(selector); });
  }
  Reader reader() { return Reader(folder_ / "a.db"); }
  void set_uuid(std::int64_t run, const std::string& uuid) {
    const Handle db = open_plain(folder_ / "a.db");
    Statement(db.get(), "UPDATE t_run SET uuid = ? WHERE run_id = ?").execute(uuid, run);
  }

 private:
  Folder folder_;
  Store store_;
};

TEST_F(FindRun, SaysThatThereIsNone) {
  expect_failure(failure("last"), ExitCode::nothing, HasSubstr("holds no run"));
}

TEST_F(FindRun, CountsBackOverRunsThatEnded) {
  const std::int64_t done = add();
  const std::int64_t failed = add("", RunOutcome::failed);
  const std::int64_t interrupted = add("", RunOutcome::interrupted);
  begin();
  EXPECT_EQ(find("last"), interrupted);
  EXPECT_EQ(find("last~0"), interrupted);
  EXPECT_EQ(find("last~1"), failed);
  EXPECT_EQ(find("last~2"), done);
  expect_failure(failure("last~3"), ExitCode::usage, HasSubstr("holds 3 that ended"));
}

TEST_F(FindRun, SaysThatNoneHasEndedYet) {
  const std::int64_t running = begin();
  expect_failure(failure("last"), ExitCode::nothing, HasSubstr("no run has ended yet"));
  EXPECT_EQ(find(std::to_string(running)), running);
}

TEST_F(FindRun, TakesTheNewestOfALabel) {
  add("nightly");
  const std::int64_t second = add("nightly");
  add("other");
  EXPECT_EQ(find("nightly"), second);
}

TEST_F(FindRun, TakesTheBeginningOfAUuid) {
  const std::int64_t first = add(), second = add();
  set_uuid(first, "abcd1111-0000-4000-8000-000000000000");
  set_uuid(second, "abcd2222-0000-4000-8000-000000000000");
  EXPECT_EQ(find("abcd1"), first);
  EXPECT_EQ(find("ABCD2222-0000"), second);
  expect_failure(failure("abcd"), ExitCode::usage,
                 AllOf(HasSubstr("2 runs"), HasSubstr("abcd1111"), HasSubstr("abcd2222")));
}

TEST_F(FindRun, PrefersAnIdToALabelToAUuid) {
  const std::int64_t first = add("2"), second = add("3");
  EXPECT_EQ(find("2"), second);
  EXPECT_EQ(find("3"), second);
  set_uuid(first, "3bcd1111-0000-4000-8000-000000000000");
  EXPECT_EQ(find("3"), second);
  EXPECT_EQ(find("3bcd"), first);
  expect_failure(failure("3bc"), ExitCode::usage, HasSubstr("no run '3bc'"));
}

TEST_F(FindRun, NamesTheRunsThereAre) {
  for (int i = 0; i < 7; ++i) add("nightly");
  expect_failure(failure("nihgtly"), ExitCode::usage,
                 AllOf(HasSubstr("no run 'nihgtly'"), HasSubstr("did you mean nightly?"),
                       HasSubstr("7 ("), HasSubstr("and 2 older"), Not(HasSubstr(" 2 ("))));
  expect_failure(failure(""), ExitCode::usage, HasSubstr("no run ''"));
  expect_failure(failure("last~x"), ExitCode::usage, HasSubstr("no run 'last~x'"));
  expect_failure(failure("99"), ExitCode::usage, HasSubstr("no run '99'"));
}

}  // namespace
}  // namespace warpmeter::schema
