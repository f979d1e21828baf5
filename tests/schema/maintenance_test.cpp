// SPDX-License-Identifier: MIT
// Housekeeping: labels, runs that go, space that comes back, copies, and whether all is well.
#include "schema/upkeep/maintenance.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "schema/upkeep/peaks.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

class Maintenance : public ::testing::Test {
 protected:
  Maintenance() {
    for (const char* label : {"one", "two", "three"}) {
      store_run(path, std::vector<Launch>(20, example_launch()), label);
    }
  }
  std::string uuid_of(int run) const {
    return lines_of(path, fmt::format("SELECT uuid FROM runs WHERE run_id = {}", run)).at(0);
  }
  void damage() const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path)) - 8192);
    file << std::string(8192, 'x');
  }
  Folder folder;
  std::string path = folder / "a.db";
};

TEST_F(Maintenance, LabelsARunAndTakesTheLabelAway) {
  label_run(path, 2, "it's \"new\"");
  EXPECT_EQ(Reader(path).find_run("it's \"new\""), 2);
  label_run(path, 2, "");
  EXPECT_THAT(lines_of(path, "SELECT run_id FROM runs WHERE label IS NULL"), ElementsAre("2"));
}

TEST_F(Maintenance, GivesNoLabelThatMeansAnotherRun) {
  const std::string begin = uuid_of(1).substr(0, 6);
  expect_failure(failure_of([&] { label_run(path, 2, begin); }), ExitCode::usage,
                 AllOf(HasSubstr(begin), HasSubstr("choose another")));
  expect_failure(failure_of([&] { store_run(path, {}, begin); }), ExitCode::usage,
                 HasSubstr(begin));
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM runs"), ElementsAre("3"));
}

TEST_F(Maintenance, ALabelThatAMergeMadeAmbiguousIsRefused) {
  execute(open_plain(path).get(),
          "UPDATE t_run SET label = (SELECT substr(uuid, 1, 8) FROM t_run WHERE run_id = 1) "
          "WHERE run_id = 2");
  const std::string begin = uuid_of(1).substr(0, 8);
  expect_failure(failure_of([&] { Reader(path).find_run(begin); }), ExitCode::usage,
                 AllOf(HasSubstr("is a label and begins the UUID of run 1")));
  EXPECT_EQ(Reader(path).find_run(uuid_of(1)), 1);
  EXPECT_EQ(Reader(path).find_run("2"), 2);
}

TEST_F(Maintenance, KeepsTheMeasuredPeaksOfACardWithoutRuns) {
  const Peak peak{"fp32", "TFLOP/s", 60.5, 1980, ""};
  store_peaks(path, example_device(), std::span(&peak, 1));
  const std::vector<std::int64_t> ids = {1, 2, 3};
  EXPECT_EQ(remove_runs(path, ids), 3U);
  store_run(path, {});
  EXPECT_THAT(lines_of(path, "SELECT name, value, unit, sm_clock_mhz, reason FROM peaks"),
              ElementsAre("fp32|60.5|TFLOP/s|1980|NULL"));
}

TEST_F(Maintenance, RemovesARunWithAllThatBelongsToIt) {
  const std::vector<std::int64_t> ids = {1, 3};
  EXPECT_EQ(remove_runs(path, ids), 2U);
  EXPECT_THAT(lines_of(path, "SELECT run_id FROM runs"), ElementsAre("2"));
  for (const char* table : {"t_value", "t_sample", "t_timing"}) {
    EXPECT_THAT(lines_of(path, fmt::format("SELECT count(*) FROM {} WHERE launch_id NOT IN (SELECT "
                                           "launch_id FROM launches)",
                                           table)),
                ElementsAre("0"));
  }
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM t_device"), ElementsAre("1"));
  remove_runs(path, std::vector<std::int64_t>{2});
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM t_device"), ElementsAre("0"));
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM t_value"), ElementsAre("0"));
}

TEST_F(Maintenance, RemovesNothingWhenOneRunIsStillMeasured) {
  Store store(path);
  const std::int64_t running = store.begin_run(example_run());
  expect_failure(failure_of([&] {
                   remove_runs(path, std::vector<std::int64_t>{1, running});
                 }),
                 ExitCode::usage, HasSubstr("still being measured"));
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM runs"), ElementsAre("4"));
}

TEST_F(Maintenance, VacuumMakesTheFileSmaller) {
  const auto size = [&] { return fs::file_size(path); };
  const auto before = size();
  remove_runs(path, std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(size(), before);
  const FileSize reported = vacuum(path);
  EXPECT_EQ(reported.before, static_cast<std::int64_t>(before));
  EXPECT_EQ(reported.after, static_cast<std::int64_t>(size()));
  EXPECT_LT(size(), before);
  EXPECT_THAT(lines_of(path, "SELECT label, launches FROM runs"), ElementsAre("three|20"));
}

TEST_F(Maintenance, BacksUpWhatIsCommittedWhileAnotherProcessWrites) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const int child = start_child([&] {
    Store store(path);
    const std::int64_t run = store.begin_run(example_run("writing"));
    const std::int64_t device = store.add_device(run, example_device());
    for (int i = 0; i < 300; ++i) {
      store.add_launch(run, device, example_launch());
      if (i == 5 && write(ready[1], "x", 1) != 1) return 1;
    }
    store.end_run(run, RunOutcome::done, "");
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  for (int i = 0; i < 5; ++i) {
    const std::string copy = folder / fmt::format("copy{}.db", i);
    EXPECT_GT(back_up(path, copy, false), 0);
    EXPECT_THAT(lines_of(copy, "PRAGMA integrity_check"), ElementsAre("ok"));
    EXPECT_THAT(lines_of(copy, "SELECT count(*) >= 6 FROM launches WHERE run_id = 4"),
                ElementsAre("1"));
    EXPECT_THAT(lines_of(copy,
                         "SELECT DISTINCT n FROM (SELECT count(*) AS n FROM t_value GROUP BY "
                         "launch_id)"),
                ElementsAre(std::to_string(example_launch().counters.size())));
  }
  EXPECT_EQ(wait_for(child), 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(Maintenance, ABackupReplacesAFileOnlyWhenTold) {
  const std::string copy = folder / "copy.db";
  std::ofstream(copy) << "mine";
  expect_failure(failure_of([&] { back_up(path, copy, false); }), ExitCode::file,
                 HasSubstr("exists already"));
  EXPECT_EQ(fs::file_size(copy), 4U);
  back_up(path, copy, true);
  EXPECT_THAT(lines_of(copy, "SELECT count(*) FROM runs"), ElementsAre("3"));
  expect_failure(failure_of([&] { back_up(path, folder / "no/such/copy.db", false); }),
                 ExitCode::file, HasSubstr("cannot write"));
}

TEST_F(Maintenance, ExaminesASoundDatabaseWithoutChangingIt) {
  const auto time = fs::last_write_time(path);
  const std::vector<Examined> findings = examine(path);
  EXPECT_THAT(findings, Each(Field(&Examined::ok, true)));
  EXPECT_GE(findings.size(), 4U);
  EXPECT_EQ(fs::last_write_time(path), time);
}

TEST_F(Maintenance, FindsDamage) {
  damage();
  // Some damage is in the way of opening it, some shows when all of it is read.
  const Failure failure = failure_of([&] {
    const Examined integrity = examine(path).front();
    if (!integrity.ok) throw Error(ExitCode::file, "is damaged: " + integrity.detail);
  });
  expect_failure(failure, ExitCode::file, HasSubstr("is damaged"));
}

// The clock has run out before the look begins, on a busy machine too.
TEST_F(Maintenance, ALookForDamageWithoutTimeIsNoError) {
  for (int i = 0; i < 50; ++i) {
    const Handle db = open_plain(path);
    EXPECT_THAT(faults_within(db.get(), std::chrono::milliseconds(0)), ElementsAre());
    EXPECT_EQ(integer_of(db.get(), "SELECT count(*) FROM t_run"), 3);
  }
}

TEST_F(Maintenance, FindsRowsThatBelongToNothing) {
  execute(open_plain(path).get(), "DELETE FROM t_launch WHERE launch_id = 1");
  const std::vector<Examined> findings = examine(path);
  EXPECT_TRUE(findings[0].ok);
  EXPECT_FALSE(findings[1].ok);
  EXPECT_THAT(findings[1].detail, HasSubstr("belong to something that is not there"));
}

TEST_F(Maintenance, NothingIsAddedToADamagedDatabase) {
  damage();
  std::ifstream before_file(path, std::ios::binary);
  const std::string before{std::istreambuf_iterator<char>(before_file), {}};
  for (const auto& change : {std::function<void()>([&] { Store store(path); }),
                             std::function<void()>([&] { label_run(path, 1, "x"); }),
                             std::function<void()>([&] { vacuum(path); })}) {
    expect_failure(failure_of(change), ExitCode::file, HasSubstr("is damaged"));
  }
  std::ifstream after_file(path, std::ios::binary);
  EXPECT_EQ(before, std::string(std::istreambuf_iterator<char>(after_file), {}));
}

// Permissions do not bind root, so that this runs as nobody.
TEST_F(Maintenance, WhoCannotWriteSeesADeadRunAsInterruptedToo) {
  execute(open_plain(path).get(),
          "UPDATE t_run SET outcome = 'running', boot_id = 'x' WHERE run_id = 2");
  fs::permissions(folder.path(), fs::perms(0755));
  chmod(path.c_str(), 0444);
  const int status = status_of_child([&] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 77;
    const Reader reader(path);
    if (reader.find_run("last~2") != 1) return 1;
    const auto lines = lines_of(reader, "SELECT outcome, reason FROM runs ORDER BY run_id");
    return lines.at(0) == "done|NULL" && lines.at(1).find("interrupted|its process") == 0 ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace warpmeter::schema
