// SPDX-License-Identifier: MIT
// `merge`, `runs`, `history` and `doctor --db` from the outside.
#include <sys/stat.h>

#include <filesystem>
#include <regex>
#include <string>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Housekeeping : public Workspace {
 protected:
  void SetUp() override {
    measure_something();
    measure_something();
  }
  void damage(const std::string& name) const {
    const std::string text = contents(name);
    std::fstream database(file(name), std::ios::in | std::ios::out | std::ios::binary);
    database.seekp(static_cast<std::streamoff>(text.size() / 2));
    database << std::string(text.size() / 2, 'x');
  }
};

TEST_F(Housekeeping, MergeSaysWhatItDidAndWhatItKnew) {
  const Outcome first = warpmeter({"merge", "warpmeter.db", "-o", "lab.db", "--format", "csv"});
  EXPECT_EQ(first.exit_code, 0) << first.error;
  EXPECT_EQ(first.output,
            "database,added,launches,known,conflicts,running\nwarpmeter.db,2,4,0,0,0\n");
  const Outcome second = warpmeter({"merge", "warpmeter.db", "-o", "lab.db", "--format", "csv"});
  EXPECT_THAT(second.output, HasSubstr("warpmeter.db,0,0,2,0,0"));
}

TEST_F(Housekeeping, MergeRefusesADamagedDatabaseUnlessItMayLeaveItOut) {
  std::filesystem::copy(file("warpmeter.db"), file("broken.db"));
  damage("broken.db");
  const Outcome refused = warpmeter({"merge", "warpmeter.db", "broken.db", "-o", "lab.db"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("broken.db"), Not(HasSubstr("--db"))));
  EXPECT_FALSE(std::filesystem::exists(file("lab.db")));
  const Outcome rest =
      warpmeter({"merge", "warpmeter.db", "broken.db", "-o", "lab.db", "--skip-unreadable"});
  EXPECT_EQ(rest.exit_code, 0);
  EXPECT_THAT(rest.error, AllOf(HasSubstr("left out"), HasSubstr("broken.db")));
  EXPECT_THAT(warpmeter({"runs", "--db", "lab.db", "--format", "csv"}).output, HasSubstr("\n2,"));
}

TEST_F(Housekeeping, MergeReportsAConflictWithExitCode5) {
  ASSERT_EQ(warpmeter({"merge", "warpmeter.db", "-o", "lab.db"}).exit_code, 0);
  if (std::system("command -v sqlite3 >/dev/null") != 0) GTEST_SKIP() << "no sqlite3 here";
  ASSERT_EQ(std::system(("sqlite3 '" + file("warpmeter.db").string() +
                         "' \"UPDATE t_value SET value = value + 1 WHERE value > 0\"")
                            .c_str()),
            0);
  const Outcome outcome = warpmeter({"merge", "warpmeter.db", "-o", "lab.db"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("conflict:"), HasSubstr("run 1 (")));
}

TEST_F(Housekeeping, MergeNeedsSourcesAndATarget) {
  EXPECT_EQ(warpmeter({"merge", "-o", "lab.db"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"merge", "warpmeter.db"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"merge", "missing.db", "-o", "lab.db"}).exit_code, 5);
  const Outcome planned = warpmeter({"merge", "warpmeter.db", "-o", "lab.db", "--planned", "3"});
  EXPECT_EQ(planned.exit_code, 2);
  EXPECT_THAT(planned.error, HasSubstr("--planned says how many launches --one-run has"));
}

TEST_F(Housekeeping, NoCommandWritesOverWhatItReads) {
  write("q.sql", "SELECT 1\n");
  write("warpmeter.toml", "[check]\ngates = []\n");
  write("kernel.cu", "__global__ void put(float* out) { *out = 1; }\n");
  for (const char* copy : {"base.db", "other.db"}) {
    std::filesystem::copy_file(file("warpmeter.db"), file(copy));
  }
  std::filesystem::create_symlink("warpmeter.db", file("link"));
  struct Row {
    std::vector<std::string> words;
    const char* what;
  };
  const Row table[] = {
      {{"report", "-o", "warpmeter.db"}, "would overwrite the database"},
      {{"report", "-o", "warpmeter.db-wal"}, "would overwrite the database"},
      {{"report", "--section", "q.sql", "-o", "./q.sql"}, "would overwrite the section q.sql"},
      {{"report", "-o", "kernel.cu"}, "-o kernel.cu would overwrite a source"},
      {{"compare", "-o", "link"}, "would overwrite the database"},
      {{"check", "-o", "warpmeter.toml"}, "would overwrite the gates"},
      {{"check", "--config", "warpmeter.toml", "-o", "./warpmeter.toml"}, "the gates"},
      {{"check", "--baseline", "base.db", "-o", "base.db"}, "would overwrite the baseline"},
      {{"query", "-o", "q.sql"}, "would overwrite the query on standard input"},
      {{"query", "runs", "-o", "link"}, "would overwrite the database"},
      {{"history", "vector_add/vector_add", "-o", "link"}, "would overwrite the database"},
      {{"list", "runs", "-o", "warpmeter.db"}, "would overwrite the database"},
      {{"merge", "base.db", "other.db", "-o", "other.db"},
       "would change a database that is merged"},
      {{"merge", "base.db", "-o", "base.db-wal"}, "would change a database that is merged"},
      {{"runs", "backup", "link", "--force"}, "would overwrite the database"},
      {{"profile", "--db", "/bin/true", "/bin/true"}, "would change the program"},
      {{"run", "vector_add", "--against", "/bin/true", "--db", "/bin/true"}, "the other build"},
  };
  const char* const names[] = {"warpmeter.db", "base.db",        "other.db",
                               "q.sql",        "warpmeter.toml", "kernel.cu"};
  std::vector<std::string> before;
  for (const char* name : names) before.push_back(contents(name));
  for (const Row& row : table) {
    Start start{row.words, folder_};
    start.input_file = file("q.sql");
    const Outcome outcome = run_program(start);
    EXPECT_EQ(outcome.exit_code, 2) << row.words[0] << ": " << outcome.error;
    EXPECT_THAT(outcome.error, AllOf(HasSubstr(row.what), HasSubstr("choose another file")));
    EXPECT_EQ(outcome.output, "") << row.words[0];
  }
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(contents(names[i]), before[i]);
}

TEST_F(Housekeeping, RunsListsWhatListRunsDoes) {
  EXPECT_EQ(warpmeter({"runs", "--format", "csv"}).output,
            warpmeter({"list", "runs", "--format", "csv"}).output);
}

TEST_F(Housekeeping, ALabelNamesARunFromThenOn) {
  EXPECT_EQ(warpmeter({"runs", "label", "last~1", "before"}).exit_code, 0);
  EXPECT_THAT(warpmeter({"report", "--run", "before", "--format", "csv"}).output,
              HasSubstr("\n1,"));
  EXPECT_EQ(warpmeter({"runs", "label", "1", "last"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"runs", "label", "1", "7"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"runs", "label", "1"}).exit_code, 2);
  const std::string uuid = value_of("SELECT uuid FROM runs WHERE run_id = 2");
  EXPECT_EQ(warpmeter({"runs", "label", "1", uuid}).exit_code, 2);
  EXPECT_EQ(warpmeter({"runs", "label", "before", ""}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(label) FROM runs"), "0");
}

TEST_F(Housekeeping, RemovingAsksOrIsToldYes) {
  const Outcome unasked = warpmeter({"runs", "rm", "1"});
  EXPECT_EQ(unasked.exit_code, 2);
  EXPECT_THAT(unasked.error, HasSubstr("--yes"));
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "2");
  EXPECT_EQ(warpmeter({"runs", "rm", "1", "--yes"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT group_concat(run_id) FROM runs"), "2");
}

TEST_F(Housekeeping, RemovingARunThatIsNotThereRemovesNone) {
  const Outcome outcome = warpmeter({"runs", "rm", "1", "nonsense", "--yes"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("'nonsense'"), HasSubstr("the runs: 2 (")));
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "2");
}

TEST_F(Housekeeping, RemovesByAge) {
  EXPECT_EQ(warpmeter({"runs", "rm", "--before", "2001-01-01", "--yes"}).exit_code, 3);
  EXPECT_EQ(warpmeter({"runs", "rm", "--before", "yesterday", "--yes"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"runs", "rm", "--keep", "1", "--yes"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT group_concat(run_id) FROM runs"), "2");
  EXPECT_EQ(warpmeter({"runs", "rm", "--before", "2999-01-01", "--yes"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "0");
  EXPECT_EQ(warpmeter({"runs", "rm", "--yes"}).exit_code, 2);
}

TEST_F(Housekeeping, BacksUpAndVacuums) {
  EXPECT_EQ(warpmeter({"runs", "backup", "copy.db"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"runs", "backup", "copy.db"}).exit_code, 5);
  EXPECT_EQ(warpmeter({"runs", "backup", "copy.db", "--force"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"runs", "backup", "warpmeter.db", "--force"}).exit_code, 2);
  ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("nowhere", file("link"));
  for (const char* other : {"pipe", "link"}) {
    const Outcome outcome = warpmeter({"runs", "backup", other, "--force"});
    EXPECT_EQ(outcome.exit_code, 5);
    EXPECT_THAT(outcome.error, testing::HasSubstr("is not a regular file"));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(file("pipe")));
  EXPECT_EQ(warpmeter({"runs", "--db", "copy.db", "--format", "csv"}).output,
            warpmeter({"runs", "--format", "csv"}).output);
  EXPECT_EQ(warpmeter({"runs", "vacuum"}).exit_code, 0);
  EXPECT_EQ(warpmeter({"runs", "vacuum", "--db", "missing.db"}).exit_code, 5);
  EXPECT_FALSE(std::filesystem::exists(file("missing.db")));
}

TEST_F(Housekeeping, DoctorSaysWhetherADatabaseIsSound) {
  const Outcome sound = warpmeter({"doctor", "--db", "warpmeter.db"});
  EXPECT_EQ(sound.exit_code, 0);
  EXPECT_THAT(sound.output, AllOf(HasSubstr("integrity"), HasSubstr("2 done, 0 failed")));
  damage("warpmeter.db");
  const Outcome damaged = warpmeter({"doctor", "--db", "warpmeter.db"});
  EXPECT_EQ(damaged.exit_code, 5);
  EXPECT_THAT(damaged.output, AllOf(HasSubstr("damaged"), HasSubstr(".recover")));
}

TEST_F(Housekeeping, NothingIsMeasuredIntoADamagedDatabase) {
  damage("warpmeter.db");
  const std::string before = contents("warpmeter.db");
  const Outcome outcome = warpmeter({"run", "vector_add", "-n", "1000", "-b", "model"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.error, HasSubstr("damaged"));
  EXPECT_EQ(contents("warpmeter.db"), before);
}

TEST_F(Housekeeping, HistoryShowsAMetricOverTheRuns) {
  const Outcome outcome =
      warpmeter({"history", "vector_add/block_128", "-m", "gld_efficiency", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("\nvector_add,block_128,1000,model sm_90,model,"),
                                    HasSubstr(",100,%,exact,0,,done\n")));
  EXPECT_THAT(warpmeter({"history", "block_128", "-m", "gld_efficiency"}).output,
              AllOf(HasSubstr("●"), HasSubstr("0 changes in 2 values")));
  EXPECT_EQ(
      warpmeter({"history", "vector_add/block_128@1000", "-m", "gld_efficiency", "--format", "csv"})
          .output,
      outcome.output);
  EXPECT_EQ(warpmeter({"history", "block_128@1001", "-m", "gld_efficiency"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"history", "block_128@big"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"history", "block_128@1000", "-n", "1000"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"history", "block_12"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"history", "block_128", "-m", "gld_eff"}).exit_code, 2);
  const Outcome untimed = warpmeter({"history", "block_128"});
  EXPECT_EQ(untimed.exit_code, 3);
  EXPECT_THAT(untimed.error, HasSubstr("clock"));
}

TEST_F(Housekeeping, QueryNarrowsAView) {
  const Outcome outcome =
      warpmeter({"query", "comparison", "--where", "variant = :v AND run_id < 2 -- the first",
                 "--order", "launch_id DESC", "--columns", "run_id,variant", "--param",
                 "v=block_256", "--format", "csv"});
  EXPECT_EQ(outcome.output, "run_id,variant\n1,block_256\n") << outcome.error;
  const Outcome wrong = warpmeter({"query", "comparison", "--where", "varian = 1"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.error, AllOf(HasSubstr("varian"), HasSubstr("FROM comparison WHERE")));
  EXPECT_EQ(warpmeter({"query", "SELECT 1", "--where", "1"}).exit_code, 2);
  EXPECT_EQ(warpmeter({"query", "runs", "--where", "1); DROP VIEW runs; --"}).exit_code, 2);
}

TEST_F(Housekeeping, QueryGivesUpWhenItsTimeHasPassed) {
  const Outcome outcome = warpmeter({"query",
                                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
                                     "n) SELECT count(*) FROM n",
                                     "--timeout", "0.2"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("0.2 s"), HasSubstr("--timeout")));
}

TEST_F(Housekeeping, QueryStreamsALongAnswerAsOneTable) {
  const std::string sql =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000) "
      "SELECT i, 'a,b' AS t FROM n";
  const std::string csv = warpmeter({"query", sql, "--format", "csv"}).output;
  EXPECT_THAT(csv, StartsWith("i,t\n1,\"a,b\"\n"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 25001);
  EXPECT_THAT(csv, HasSubstr("\n10000,\"a,b\"\n10001,\"a,b\"\n"));
  const std::string json = warpmeter({"query", sql, "--format", "json"}).output;
  EXPECT_THAT(json, StartsWith("[\n  {\"i\":1,\"t\":\"a,b\"},\n"));
  EXPECT_THAT(json, HasSubstr("{\"i\":10000,\"t\":\"a,b\"},\n  {\"i\":10001,"));
  EXPECT_THAT(json, EndsWith("{\"i\":25000,\"t\":\"a,b\"}\n]\n"));
}

}  // namespace
}  // namespace warpmeter::cli
