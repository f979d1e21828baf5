// SPDX-License-Identifier: MIT
// The file itself: what is not a database of ours is refused with a sentence and left as it was;
// what is older is brought up to date; what cannot be written can still be read.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <fstream>
#include <iterator>

#include "schema/database.h"
#include "schema/new_file/new_file.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

Failure store_failure(const std::string& path) {
  return failure_of([&] { const Store store(path); });
}
Failure reader_failure(const std::string& path) {
  return failure_of([&] { const Reader reader(path); });
}

/// Neither a writer nor a reader takes the file, and it stays as it is.
void expect_refused(const std::string& path, const ::testing::Matcher<std::string>& message) {
  const std::string before = contents_of(path);
  expect_failure(store_failure(path), ExitCode::file, AllOf(HasSubstr(path), message));
  expect_failure(reader_failure(path), ExitCode::file, AllOf(HasSubstr(path), message));
  EXPECT_EQ(contents_of(path), before);
}

TEST(Database, MissingIsCreatedByAWriterOnly) {
  const Folder folder;
  expect_failure(reader_failure(folder / "a.db"), ExitCode::file,
                 AllOf(HasSubstr(folder / "a.db"), HasSubstr("warpmeter run")));
  EXPECT_THAT(names_in(folder), ElementsAre());
  EXPECT_EQ(store_failure(folder / "a.db").message, "");
  EXPECT_EQ(reader_failure(folder / "a.db").message, "");
}

TEST(Database, MayHaveANameToWhichSqliteCanAddItsOwn) {
  const Folder folder;
  const std::string longest(NAME_MAX - 8, 'a');  // "-journal"
  EXPECT_EQ(store_failure(folder / longest).message, "");
  const Folder other;
  expect_failure(store_failure(other / (longest + "a")), ExitCode::file,
                 AllOf(HasSubstr("cannot be created"), HasSubstr("247 bytes")));
  EXPECT_THAT(names_in(other), ElementsAre());
}

/// The tables, indexes and views, and all rows of the tables.
std::vector<std::string> everything_in(const std::string& path) {
  const std::string_view objects = "SELECT type, name, sql FROM sqlite_schema ORDER BY name";
  std::vector<std::string> all = lines_of(path, objects);
  for (const std::string& table :
       lines_of(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")) {
    for (std::string& row : lines_of(path, "SELECT * FROM " + table)) {
      all.push_back(table + ": " + row);
    }
  }
  for (const char* setting : {"application_id", "user_version", "page_size", "encoding"}) {
    const Handle db = open_plain(path);
    Statement statement(db.get(), std::string("PRAGMA ") + setting);
    statement.step();
    all.push_back(std::string(setting) + " " + statement.text(0));
  }
  return all;
}

TEST(Database, NewIsAsTheMigrationsMakeIt) {
  const Folder folder;
  ASSERT_TRUE(put_new_file(folder / "put.db"));
  write_file(folder / "migrated.db", "");
  EXPECT_EQ(store_failure(folder / "migrated.db").message, "");
  const std::vector<std::string> migrated = everything_in(folder / "migrated.db");
  EXPECT_GT(migrated.size(), 500U);
  EXPECT_EQ(everything_in(folder / "put.db"), migrated);
}

TEST(Database, NewHasNothingOfTheLogOfARemovedOne) {
  const Folder folder;
  {
    const Store writing(folder / "a.db");
    store_run(folder / "a.db", {example_launch()});
    ASSERT_TRUE(fs::exists(folder / "a.db-wal"));
    fs::copy_file(folder / "a.db-wal", folder / "kept");
  }
  fs::remove(folder / "a.db");
  fs::rename(folder / "kept", folder / "a.db-wal");
  EXPECT_FALSE(put_new_file(folder / "a.db"));
  store_run(folder / "a.db", {});
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT count(*) FROM runs"), ElementsAre("1"));
}

TEST(Database, NewIsPutNowhereElse) {
  const Folder folder;
  write_file(folder / "a.db", "text");
  EXPECT_FALSE(put_new_file(folder / "a.db"));
  EXPECT_EQ(contents_of(folder / "a.db"), "text");
  EXPECT_FALSE(put_new_file(folder / "no folder/a.db"));
  EXPECT_THAT(names_in(folder), ElementsAre("a.db"));
}

TEST(Database, EmptyIsFilledByAWriterOnly) {
  const Folder folder;
  write_file(folder / "a.db", "");
  expect_failure(reader_failure(folder / "a.db"), ExitCode::file, HasSubstr("is empty"));
  EXPECT_EQ(contents_of(folder / "a.db"), "");
  EXPECT_EQ(store_failure(folder / "a.db").message, "");
}

TEST(Database, NeedsItsFolder) {
  const Folder folder;
  expect_failure(store_failure(folder / "no/such/a.db"), ExitCode::file,
                 AllOf(HasSubstr("there is no folder"), HasSubstr(folder / "no/such")));
  EXPECT_THAT(names_in(folder), ElementsAre());
}

TEST(Database, IsNoDirectoryAndNoDevice) {
  const Folder folder;
  for (const auto& [path, reason] : {std::pair(folder.path().string(), "is a directory"),
                                     std::pair(std::string("/dev/null"), "not a regular file")}) {
    expect_failure(store_failure(path), ExitCode::file, AllOf(HasSubstr(path), HasSubstr(reason)));
    expect_failure(reader_failure(path), ExitCode::file, AllOf(HasSubstr(path), HasSubstr(reason)));
  }
}

TEST(Database, HasAName) {
  expect_failure(store_failure(""), ExitCode::file, HasSubstr("empty"));
  expect_failure(reader_failure(""), ExitCode::file, HasSubstr("empty"));
}

TEST(Database, IsNoText) {
  const Folder folder;
  write_file(folder / "a.db", std::string(5000, 'x'));
  expect_refused(folder / "a.db", HasSubstr("is not a database"));
}

TEST(Database, IsNotAnotherProgramsDatabase) {
  const Folder folder;
  execute(open_plain(folder / "a.db").get(), "CREATE TABLE bookmarks (url)");
  expect_refused(folder / "a.db", HasSubstr("database of another program"));
  execute(open_plain(folder / "b.db").get(), "PRAGMA application_id = 42");
  expect_refused(folder / "b.db", HasSubstr("database of another program"));
}

TEST(Database, IsNotFromANewerWarpmeter) {
  const Folder folder;
  store_run(folder / "a.db", {});
  execute(open_plain(folder / "a.db").get(), "PRAGMA user_version = 99");
  expect_refused(folder / "a.db", AllOf(HasSubstr("newer warpmeter"), HasSubstr("99")));
}

TEST(Database, OfTheFirstVersionIsBroughtUpToDateWithItsRangesAndLines) {
  const Folder folder;
  Launch in_range = example_launch(), without = example_launch();
  in_range.variant = "reduce [solve [2]]";
  in_range.lines = {{"a.cu", 1, "", "global load", 1, 4, 2, Grade::exact, 64},
                    {"a.cu", 2, "", "shared load", 1, 4, 2, Grade::exact}};
  store_run(folder / "a.db", {in_range, without});
  make_older(folder / "a.db", 1);
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT variant, nvtx_range FROM launches"),
              ElementsAre("reduce|solve [2]", "naive|NULL"));
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT line, transactions, bytes, efficiency FROM lines"),
              ElementsAre("1|4|NULL|NULL", "2|4|NULL|50"));
  EXPECT_THAT(lines_of(folder / "a.db",
                       "SELECT registers, local_bytes, theoretical_occupancy, resources_reason "
                       "FROM launches LIMIT 1"),
              ElementsAre("12|NULL|100|local memory was not recorded"));
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT findings, reason FROM explanations LIMIT 1"),
              ElementsAre("NULL|hardware counters have no addresses; the model has them: run "
                          "--counts model, or profile -b model"));
}

TEST(Database, KeepsItsGradesWhereTheirNumbersChange) {
  const Folder folder;
  Launch launch = example_launch();
  launch.counters = {{"global_load_requests", 1.0, Grade::exact, ""},
                     {"global_load_sectors", 2.0, Grade::modelled, "a reason"},
                     {"global_store_requests", 3.0, Grade::ptx, "another"},
                     {"global_store_sectors", std::nullopt, Grade::unavailable, "none"}};
  launch.lines = {{"a.cu", 1, "", "global load", 1, 4, 2, Grade::ptx}};
  store_run(folder / "a.db", {launch});
  const char* grades =
      "SELECT counter, grade FROM counters WHERE counter GLOB 'global_*' ORDER BY counter";
  const std::vector<std::string> before = lines_of(folder / "a.db", grades);
  EXPECT_THAT(before, ElementsAre("global_load_requests|exact", "global_load_sectors|modelled",
                                  "global_store_requests|ptx", "global_store_sectors|unavailable"));
  make_older(folder / "a.db", 17);
  EXPECT_EQ(integer_of(open_plain(folder / "a.db").get(), "SELECT max(grade) FROM t_value"), 4);
  EXPECT_EQ(lines_of(folder / "a.db", grades), before);
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT grade FROM lines"), ElementsAre("ptx"));
}

TEST(Database, TellsThatItIsDamaged) {
  const Folder folder;
  store_run(folder / "a.db", std::vector<Launch>(200, example_launch()));
  std::string bytes = contents_of(folder / "a.db");
  ASSERT_GT(bytes.size(), 40'000U);
  std::fill(bytes.begin() + 8192, bytes.end(), 'x');
  write_file(folder / "a.db", bytes);
  expect_failure(failure_of([&] { lines_of(folder / "a.db", "SELECT * FROM results"); }),
                 ExitCode::file, HasSubstr("is damaged"));
}

TEST(Database, MayHaveAnyName) {
  const Folder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  for (const std::string name : {":memory:", "file:a.db?mode=memory", "ä ö?#%41.db"}) {
    store_run(name, {});
    EXPECT_TRUE(fs::exists(folder / name)) << name;
    EXPECT_THAT(lines_of(name, "SELECT count(*) FROM runs"), ElementsAre("1"));
  }
  fs::current_path(before);
}

TEST(Database, LeavesNoFilesBesideIt) {
  const Folder folder;
  store_run(folder / "a.db", {example_launch()});
  EXPECT_THAT(names_in(folder), ElementsAre("a.db"));
  lines_of(folder / "a.db", "SELECT * FROM results");
  EXPECT_THAT(names_in(folder), ElementsAre("a.db"));
}

TEST(Database, TakesNewViewsWithItsRowsAndAUsersViewsKept) {
  const Folder folder;
  store_run(folder / "a.db", {example_launch()});
  execute(open_plain(folder / "a.db").get(),
          "DROP VIEW results; CREATE VIEW results AS SELECT 1 AS old;"
          "CREATE VIEW mine AS SELECT count(*) AS n FROM launches;"
          "CREATE VIEW retired AS SELECT 1; INSERT INTO t_view (name) VALUES ('retired');"
          "UPDATE t_metric SET scale = 7; DELETE FROM t_metric WHERE name = 'gld_transactions';"
          "UPDATE t_meta SET value = 'older' WHERE name = 'fingerprint'");
  EXPECT_THAT(lines_of(folder / "a.db",
                       "SELECT value FROM results WHERE metric IN "
                       "('gst_efficiency', 'gld_transactions') ORDER BY 1"),
              ElementsAre("25", "131072"));
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT n FROM mine"), ElementsAre("1"));
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT name FROM sqlite_schema WHERE name = 'retired'"),
              ElementsAre());
}

TEST(Database, IsNotRewrittenWhenNothingChanged) {
  const Folder folder;
  store_run(folder / "a.db", {example_launch()});
  const std::string before = contents_of(folder / "a.db");
  EXPECT_EQ(store_failure(folder / "a.db").message, "");
  lines_of(folder / "a.db", "SELECT * FROM results");
  EXPECT_EQ(contents_of(folder / "a.db"), before);
}

/// A file with our id and no tables: what a version before the first would have left.
void make_version_0(const std::string& path) {
  const Handle db = open_plain(path);
  execute(db.get(), fmt::format("PRAGMA application_id = {}", application_id));
}

TEST(Database, OfAnOlderVersionIsMigratedByReadersAndWriters) {
  const Folder folder;
  make_version_0(folder / "a.db");
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT count(*) FROM runs"), ElementsAre("0"));
  make_version_0(folder / "b.db");
  store_run(folder / "b.db", {});
  EXPECT_THAT(lines_of(folder / "b.db", "SELECT count(*) FROM runs"), ElementsAre("1"));
}

// Permissions do not bind root, so these run as nobody in a child.
constexpr unsigned nobody = 65534;

/// 0 when the call fails as it should; else says how it failed.
int as_nobody(const std::function<Failure()>& call, ExitCode code, std::string_view part) {
  return status_of_child([&] {
    if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) return 77;
    const Failure failure = call();
    const bool good = failure.code == code && failure.message.find(part) != std::string::npos;
    if (!good)
      fprintf(stderr, "exit code %d: %s\n", static_cast<int>(failure.code),
              failure.message.c_str());
    return good ? 0 : 1;
  });
}

class WithoutPermission : public ::testing::Test {
 protected:
  void SetUp() override { fs::permissions(folder_.path(), fs::perms(0755)); }

  const Folder& folder() const { return folder_; }
  void allow(const std::string& path, unsigned mode) const { chmod(path.c_str(), mode); }

  int count_runs_as_nobody(const std::string& path) const {
    return as_nobody(
        [&] {
          return failure_of([&] {
            if (lines_of(path, "SELECT count(*) FROM runs") != std::vector<std::string>{"1"}) {
              throw Error(ExitCode::broken, "wrong rows");
            }
          });
        },
        ExitCode::done, "");
  }

 private:
  Folder folder_;
};

TEST_F(WithoutPermission, AFileIsNotWritten) {
  store_run(folder() / "a.db", {});
  allow(folder() / "a.db", 0444);
  EXPECT_EQ(as_nobody([&] { return store_failure(folder() / "a.db"); }, ExitCode::file,
                      "cannot be written"),
            0);
}

TEST_F(WithoutPermission, AFileIsNotCreated) {
  allow(folder().path().string(), 0555);
  EXPECT_EQ(as_nobody([&] { return store_failure(folder() / "a.db"); }, ExitCode::file,
                      "cannot be created (Permission denied)"),
            0);
  allow(folder().path().string(), 0755);
}

TEST_F(WithoutPermission, AFileIsRead) {
  store_run(folder() / "a.db", {});
  allow(folder() / "a.db", 0444);
  allow(folder().path().string(), 0555);
  EXPECT_EQ(count_runs_as_nobody(folder() / "a.db"), 0);
}

TEST_F(WithoutPermission, AFileInUseIsRead) {
  Store store(folder() / "a.db");
  store.begin_run(example_run());
  allow(folder() / "a.db", 0444);
  EXPECT_EQ(count_runs_as_nobody(folder() / "a.db"), 0);
}

TEST_F(WithoutPermission, AnUnreadableFileSaysSo) {
  store_run(folder() / "a.db", {});
  allow(folder() / "a.db", 0);
  EXPECT_EQ(as_nobody([&] { return reader_failure(folder() / "a.db"); }, ExitCode::file,
                      "cannot be opened (Permission denied)"),
            0);
}

TEST_F(WithoutPermission, ALogThatCannotBeReadIsNotIgnored) {
  const std::string copy = folder() / "copy";
  fs::create_directory(copy);
  {
    Store store(folder() / "a.db");
    store.begin_run(example_run());
    fs::copy(folder() / "a.db", copy + "/a.db");
    fs::copy(folder() / "a.db-wal", copy + "/a.db-wal");
  }
  allow(copy + "/a.db", 0444);
  allow(copy + "/a.db-wal", 0444);
  allow(copy, 0555);
  EXPECT_EQ(as_nobody([&] { return reader_failure(copy + "/a.db"); }, ExitCode::file,
                      "copy both to a folder that can be written"),
            0);
  allow(copy, 0755);
}

TEST_F(WithoutPermission, AnOlderFileSaysThatItCannotBeMigrated) {
  make_version_0(folder() / "a.db");
  allow(folder() / "a.db", 0444);
  EXPECT_EQ(as_nobody([&] { return reader_failure(folder() / "a.db"); }, ExitCode::file,
                      "older warpmeter"),
            0);
}

// A limit on the size of files stands for a full disk: writes fail in the same places.
int with_room_for(rlim_t bytes, const std::function<int()>& body) {
  return status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 77;
    return body();
  });
}

bool is_about_the_limit(const Failure& failure) {
  return failure.code == ExitCode::file && failure.message.find("ulimit -f") != std::string::npos;
}

TEST(FullDisk, IsSaidWhenADatabaseIsCreated) {
  const Folder folder;
  const auto create = [&] { return is_about_the_limit(store_failure(folder / "a.db")) ? 0 : 1; };
  EXPECT_EQ(with_room_for(8192, create), 0);
}

TEST(FullDisk, LosesNoLaunchThatWasStored) {
  const Folder folder;
  const int stored = with_room_for(800'000, [&] {
    Store store(folder / "a.db");
    const std::int64_t run = store.begin_run(example_run());
    const std::int64_t device = store.add_device(run, example_device());
    for (int i = 0; i < 250; ++i) {
      const Failure failure = failure_of([&] { store.add_launch(run, device, example_launch()); });
      if (failure.code == ExitCode::done) continue;
      return is_about_the_limit(failure) ? i : 254;
    }
    return 255;
  });
  ASSERT_GT(stored, 0);
  ASSERT_LT(stored, 250);
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT count(*) FROM launches"),
              ElementsAre(std::to_string(stored)));
  EXPECT_THAT(lines_of(folder / "a.db",
                       "SELECT DISTINCT n FROM (SELECT count(*) AS n FROM t_value GROUP BY "
                       "launch_id)"),
              ElementsAre(std::to_string(example_launch().counters.size())));
  EXPECT_THAT(lines_of(folder / "a.db", "PRAGMA integrity_check"), ElementsAre("ok"));
}

TEST(FullDisk, LetsTheSameStoreGoOnWhenThereIsRoomAgain) {
  const Folder folder;
  const int status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    Store store(folder / "a.db");
    const std::int64_t run = store.begin_run(example_run());
    const std::int64_t device = store.add_device(run, example_device());
    Launch launch = example_launch();
    launch.counters = {measured("unit__new.sum", 1)};
    const rlimit tight{4096, RLIM_INFINITY}, wide{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &tight);
    if (failure_of([&] { store.add_launch(run, device, launch); }).code != ExitCode::file) return 1;
    setrlimit(RLIMIT_FSIZE, &wide);
    store.add_launch(run, device, launch);
    store.end_run(run, RunOutcome::done, "");
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT metric, value FROM results WHERE metric LIKE 'u%'"),
              ElementsAre("unit__new.sum|1"));
}

/// A run with one launch, whose counter and reason no other has.
void write_run(Store& store, const std::string& label) {
  const std::int64_t run = store.begin_run(example_run(label));
  Launch launch = example_launch();
  launch.counters = {measured("unit__new.sum", 1)};
  launch.counters.push_back({"unit__other.sum", std::nullopt, Grade::unavailable, "a new reason"});
  store.add_launches(run, store.add_device(run, example_device()), {&launch, 1});
  store.end_run(run, RunOutcome::done, "");
}

TEST(OneTransaction, HasAllOfARun) {
  const Folder folder;
  Store store(folder / "a.db");
  store.in_one_transaction([&] { write_run(store, "first"); });
  store.in_one_transaction([&] { write_run(store, "second"); });
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT label, outcome FROM runs ORDER BY run_id"),
              ElementsAre("first|done", "second|done"));
  EXPECT_THAT(lines_of(folder / "a.db",
                       "SELECT metric, value, reason FROM results WHERE metric LIKE 'unit%' AND "
                       "run_id = 2 ORDER BY metric"),
              ElementsAre("unit__new.sum|1|NULL", "unit__other.sum|NULL|a new reason"));
}

/// Names, reasons and devices of the first go with it: the second may not refer to them.
TEST(OneTransaction, ThatFailsLeavesNothingAndTheStoreGoesOn) {
  const Folder folder;
  Store store(folder / "a.db");
  const Failure failure = failure_of([&] {
    store.in_one_transaction([&] {
      write_run(store, "lost");
      throw Error(ExitCode::kernel, "a kernel failed");
    });
  });
  EXPECT_EQ(failure.message, "a kernel failed");
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT count(*) FROM t_run"), ElementsAre("0"));
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT count(*) FROM t_reason"), ElementsAre("0"));
  write_run(store, "kept");
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT label, outcome FROM runs"),
              ElementsAre("kept|done"));
  EXPECT_THAT(lines_of(folder / "a.db",
                       "SELECT metric, value, reason FROM results WHERE metric LIKE 'unit%' ORDER "
                       "BY metric"),
              ElementsAre("unit__new.sum|1|NULL", "unit__other.sum|NULL|a new reason"));
  EXPECT_THAT(lines_of(folder / "a.db", "PRAGMA foreign_key_check"), ElementsAre());
}

/// A text that SQLite cannot keep in memory finds the disk full, and SQLite rolls back by itself.
/// Whoever goes on may not store a part that way.
TEST(OneTransaction, ThatSqliteHasRolledBackTakesNothingMore) {
  const Folder folder;
  const int status = status_of_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    Store store(folder / "a.db");
    const std::vector<std::pair<std::string, std::string>> sources = {
        {"large.cu", std::string(16 << 20, 'a')}};
    const Failure failure = failure_of([&] {
      store.in_one_transaction([&] {
        const std::int64_t run = store.begin_run(example_run());
        const rlimit tight{1 << 20, RLIM_INFINITY}, wide{RLIM_INFINITY, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &tight);
        const bool is_full =
            is_about_the_limit(failure_of([&] { store.add_sources(run, sources); }));
        setrlimit(RLIMIT_FSIZE, &wide);
        if (is_full) store.begin_run(example_run("alone"));
      });
    });
    return failure.message.find("the rest is not written") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(lines_of(folder / "a.db", "SELECT count(*) FROM t_run"), ElementsAre("0"));
}

}  // namespace
}  // namespace warpmeter::schema
