// SPDX-License-Identifier: MIT
// Several processes on one database, and processes that die.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "schema/process.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TwoWriters, BothCompleteAndLoseNoRow) {
  const Folder folder;
  const std::string path = folder / "a.db";  // the first process creates it
  constexpr int writers = 4, launches = 40;
  std::vector<int> children;
  for (int i = 0; i < writers; ++i) {
    children.push_back(start_child([&] {
      store_run(path, std::vector<Launch>(launches, example_launch()));
      return 0;
    }));
  }
  for (const int child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_THAT(lines_of(path, "SELECT outcome, launches FROM runs"),
              ElementsAre("done|40", "done|40", "done|40", "done|40"));
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM t_value"),
              ElementsAre(std::to_string(writers * launches * example_launch().counters.size())));
  EXPECT_THAT(lines_of(path, "SELECT count(*), count(DISTINCT uuid) FROM runs"),
              ElementsAre("4|4"));
  EXPECT_THAT(lines_of(path, "SELECT count(*) FROM t_device"), ElementsAre("1"));
}

TEST(PartsOfARun, AreStoredByProcessesThatWriteAsTheOneThatBeganIt) {
  const Folder folder;
  const std::string path = folder / "a.db";
  constexpr int parts = 3, launches = 20;
  Store store(path);
  const std::int64_t run = store.begin_run(example_run());
  std::vector<int> children;
  for (int i = 0; i < parts; ++i) {
    children.push_back(start_child([&] {
      Store part(path);
      part.write_as(ProcessIdentity::of(getppid()));
      Device device = example_device();
      device.ordinal = i;
      const std::int64_t id = part.add_device(run, device);
      for (int n = 0; n < launches; ++n) {
        part.add_launches(run, id, std::vector<Launch>{example_launch()});
      }
      return 0;
    }));
  }
  for (const int child : children) EXPECT_EQ(wait_for(child), 0);
  store.end_run(run, RunOutcome::done, "");
  EXPECT_THAT(lines_of(path, "SELECT outcome, launches FROM runs"), ElementsAre("done|60"));
  const int stranger = start_child([&] {
    Store other(path);
    const std::int64_t device = other.add_device(run, example_device());
    const Failure failure =
        failure_of([&] { other.add_launches(run, device, std::vector<Launch>{example_launch()}); });
    return failure.message.find("another process has taken over run 1") == 0 ? 0 : 1;
  });
  EXPECT_EQ(wait_for(stranger), 0) << "nobody else stores in it";
  EXPECT_THAT(lines_of(path, "SELECT launches FROM runs"), ElementsAre("60"));
}

TEST(KilledRun, KeepsItsLaunchesAndShowsAsInterrupted) {
  const Folder folder;
  const std::string path = folder / "a.db";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const int child = start_child([&] {
    Store store(path);
    const std::int64_t run = store.begin_run(example_run());
    const std::int64_t device = store.add_device(run, example_device());
    for (int i = 0; i < 3; ++i) store.add_launch(run, device, example_launch());
    if (write(ready[1], "x", 1) != 1) return 1;
    while (true) pause();
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THAT(lines_of(path, "SELECT outcome FROM runs"), ElementsAre("running"));
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL);
  close(ready[0]);
  close(ready[1]);
  const Reader reader(path);
  EXPECT_THAT(lines_of(reader, "SELECT outcome, launches, ended FROM runs"),
              ElementsAre("interrupted|3|NULL"));
  EXPECT_THAT(lines_of(reader, "SELECT reason FROM runs"),
              ElementsAre(HasSubstr("ended without a word")));
  EXPECT_EQ(reader.find_run("last"), 1);
  EXPECT_THAT(lines_of(reader, "SELECT count(*) FROM comparison WHERE gst_efficiency = 25"),
              ElementsAre("3"));
}

class RunOfAnotherProcess : public ::testing::Test {
 protected:
  RunOfAnotherProcess() {
    Store store(path());
    store.begin_run(example_run());
  }
  std::string path() const { return folder_ / "a.db"; }

  /// The outcome that a reader sees after the run's columns were set so.
  std::vector<std::string> outcome_with(const std::string& columns) const {
    execute(open_plain(path()).get(), "UPDATE t_run SET outcome = 'running', " + columns);
    return lines_of(path(), "SELECT outcome FROM runs");
  }

 private:
  Folder folder_;
};

TEST_F(RunOfAnotherProcess, GoesOnWhileItsProcessLives) {
  EXPECT_THAT(outcome_with("reason = NULL"), ElementsAre("running"));
}

TEST_F(RunOfAnotherProcess, IsInterruptedByAReboot) {
  EXPECT_THAT(outcome_with("boot_id = 'another'"), ElementsAre("interrupted"));
}

TEST_F(RunOfAnotherProcess, IsInterruptedWhenItsNumberIsSomebodyElses) {
  EXPECT_THAT(outcome_with("process_start = process_start + 1"), ElementsAre("interrupted"));
}

TEST_F(RunOfAnotherProcess, IsInterruptedWhenItsNumberIsFree) {
  const int child = start_child([] { return 0; });
  wait_for(child);
  EXPECT_THAT(outcome_with("process_id = " + std::to_string(child)), ElementsAre("interrupted"));
}

TEST_F(RunOfAnotherProcess, IsLeftToItsOwnMachine) {
  EXPECT_THAT(outcome_with("process_host = 'elsewhere', boot_id = 'another'"),
              ElementsAre("running"));
  EXPECT_THAT(outcome_with("process_namespace = 'another container', process_id = 1"),
              ElementsAre("running"));
}

TEST_F(RunOfAnotherProcess, IsGivenUpAfterADay) {
  EXPECT_THAT(outcome_with("process_host = 'elsewhere', "
                           "started = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-23 hours')"),
              ElementsAre("running"));
  EXPECT_THAT(outcome_with("process_host = 'elsewhere', "
                           "started = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-25 hours')"),
              ElementsAre("interrupted"));
}

TEST_F(RunOfAnotherProcess, MayStillEndAfterItWasGivenUp) {
  Store store(path());
  EXPECT_THAT(outcome_with("boot_id = 'another'"), ElementsAre("interrupted"));
  store.end_run(1, RunOutcome::done, "");
  EXPECT_THAT(lines_of(path(), "SELECT outcome, reason FROM runs"), ElementsAre("done|NULL"));
}

TEST(Liveness, KnowsThisProcessAndItsEnd) {
  EXPECT_EQ(liveness(ProcessIdentity::of_this_process()), Liveness::alive);
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  const int child = start_child([] { return 0; });
  ProcessIdentity process = ProcessIdentity::of_this_process();
  process.id = child;
  // Not waited for yet, it is a zombie: its number is taken, its program gone.
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(liveness(process), Liveness::gone);
  wait_for(child);
  EXPECT_EQ(liveness(process), Liveness::gone);
  close(done[0]);
  close(done[1]);
}

// Anybody's tools read the database: no view needs a function that SQLite alone does not have.
class OtherPrograms : public ::testing::TestWithParam<const char*> {};

TEST_P(OtherPrograms, ReadEveryView) {
  const std::string program = GetParam();
  if (std::system((program + " --version > /dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << program << " is not installed";
  }
  const Folder folder;
  Launch launch = example_launch();
  launch.expectations.push_back({"gst_efficiency", "==", 25, ""});
  launch.lines.push_back({"a.cu", 1, "", "global load", 1, 1, 1, Grade::exact});
  Store store(folder / "a.db");  // open: the shell reads beside a writer
  store_run(folder / "a.db", {launch});
  for (const ViewInfo& view : views()) {
    const std::string sql = "SELECT count(*) FROM (SELECT * FROM " + view.name + ")";
    const std::string file = folder / "a.db";
    const std::string command = program == "sqlite3"
                                    ? "sqlite3 -readonly '" + file + "' '" + sql + "'"
                                    : "python3 -c \"import sqlite3; print(sqlite3.connect('" +
                                          file + "').execute('" + sql + "').fetchone()[0])\"";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char buffer[64] = {};
    const bool read = fgets(buffer, sizeof buffer, pipe) != nullptr;
    EXPECT_EQ(pclose(pipe), 0) << command;
    EXPECT_TRUE(read);
    EXPECT_THAT(lines_of(folder / "a.db", sql), ElementsAre(std::to_string(atoi(buffer))))
        << view.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Schema, OtherPrograms, ::testing::Values("sqlite3", "python3"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace warpmeter::schema
