// SPDX-License-Identifier: MIT
// The program is killed at a random moment while it merges, measures or removes. The data that was
// committed before is there afterwards, the database is sound, and the next call completes the
// work. Ten times each; WARPMETER_CRASH_TRIALS (the preset `nightly`) says how often instead.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "schema/store.h"
#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

int trials() {
  const char* text = std::getenv("WARPMETER_CRASH_TRIALS");
  return text != nullptr ? std::atoi(text) : 10;
}

/// A run of `launches` launches, each with `counters` counters.
void store_run(const std::string& path, int launches, int counters) {
  schema::Store store(path);
  schema::Run run;
  run.backend = "cupti";
  const std::int64_t id = store.begin_run(run);
  schema::Device device;
  device.backend = "cupti";
  device.name = "NVIDIA H200";
  schema::Launch launch;
  launch.family = "transpose";
  launch.variant = "tiled";
  for (int i = 0; i < counters; ++i) {
    launch.counters.push_back(
        {"unit__counter_" + std::to_string(i) + ".sum", i, schema::Grade::measured, ""});
  }
  store.add_launches(id, store.add_device(id, device),
                     std::vector<schema::Launch>(static_cast<std::size_t>(launches), launch));
  store.end_run(id, schema::RunOutcome::done, "");
}

std::int64_t number(const std::string& path, const std::string& sql) {
  return std::get<std::int64_t>(schema::Reader(path).query(sql).rows.at(0).at(0));
}

void expect_sound(const std::string& path) {
  const schema::Reader reader(path);
  EXPECT_EQ(std::get<std::string>(reader.query("PRAGMA integrity_check").rows.at(0).at(0)), "ok");
  EXPECT_TRUE(reader.query("PRAGMA foreign_key_check").rows.empty());
}

class Killed : public Workspace {
 protected:
  static constexpr int launches = 20, counters = 40;

  /// How long the program takes when nobody kills it.
  double seconds_of(const std::vector<std::string>& words) const {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(warpmeter(words).exit_code, 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  /// Starts the program and kills it at a moment up to `longest` seconds later; calls `before` just
  /// before that.
  template <class Before>
  void kill_while(const std::vector<std::string>& words, double longest, Before&& before) {
    Process process({words, folder_});
    const double wait = std::uniform_real_distribution<double>(0, longest)(random_);
    std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    before();
    kill(process.id(), SIGKILL);
    process.wait();
  }

  std::string path(const std::string& name) const { return file(name).string(); }
  void remove_database(const std::string& name) const {
    for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(path(name + ending));
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }

  std::mt19937_64 random_{std::random_device()()};
};

TEST_F(Killed, MergeKeepsTheRunsThatItMergedAndIsCompletedByTheNext) {
  constexpr int runs = 20;
  for (int i = 0; i < runs; ++i) store_run(path("a.db"), launches, counters);
  store_run(path("out.db"), 1, counters);
  std::filesystem::copy(path("out.db"), path("first.db"));
  const std::vector<std::string> merge = {"merge", "a.db", "-o", "out.db", "-q"};
  const double seconds = seconds_of(merge);
  for (int i = 0; i < trials(); ++i) {
    remove_database("out.db");
    std::filesystem::copy(path("first.db"), path("out.db"));
    std::int64_t merged = 0;
    kill_while(merge, seconds,
               [&] { merged = number(path("out.db"), "SELECT count(*) FROM runs"); });
    expect_sound(path("out.db"));
    expect_sound(path("a.db"));
    EXPECT_GE(number(path("out.db"), "SELECT count(*) FROM runs"), merged);
    EXPECT_EQ(number(path("out.db"), "SELECT count(*) FROM runs WHERE launches NOT IN (1, 20)"), 0);
    EXPECT_EQ(number(path("out.db"),
                     "SELECT count(*) FROM (SELECT 1 FROM t_value GROUP BY launch_id HAVING "
                     "count(*) <> 40)"),
              0);
    EXPECT_EQ(warpmeter(merge).exit_code, 0);
    EXPECT_EQ(number(path("out.db"), "SELECT count(*) FROM runs"), runs + 1);
    EXPECT_EQ(number(path("out.db"), "SELECT count(*) FROM launches"), runs * launches + 1);
  }
}

TEST_F(Killed, RunKeepsItsFinishedLaunchesAndIsInterrupted) {
  const std::vector<std::string> run = {"run",       "vector_add", "reduction", "-n",
                                        "4096,8192", "-b",         "model",     "-q"};
  const double seconds = seconds_of(run);
  const std::int64_t counters_each = number(
      path("warpmeter.db"), "SELECT count(*) / (SELECT count(*) FROM launches) FROM t_value");
  const std::int64_t all = number(path("warpmeter.db"), "SELECT count(*) FROM launches");
  for (int i = 0; i < trials(); ++i) {
    remove_database("warpmeter.db");
    ASSERT_EQ(warpmeter(run).exit_code, 0);
    std::int64_t stored = 0;
    kill_while(run, seconds,
               [&] { stored = number(path("warpmeter.db"), "SELECT count(*) FROM launches"); });
    expect_sound(path("warpmeter.db"));
    EXPECT_GE(number(path("warpmeter.db"), "SELECT count(*) FROM launches"), stored);
    EXPECT_EQ(number(path("warpmeter.db"), "SELECT launches FROM runs WHERE run_id = 1"), all);
    EXPECT_EQ(number(path("warpmeter.db"), "SELECT count(*) FROM runs WHERE outcome = 'running'"),
              0);
    EXPECT_EQ(number(path("warpmeter.db"),
                     "SELECT count(*) FROM (SELECT 1 FROM t_value GROUP BY launch_id HAVING "
                     "count(*) <> " +
                         std::to_string(counters_each) + ")"),
              0);
    EXPECT_EQ(warpmeter(run).exit_code, 0) << "a killed run is in nobody's way";
  }
}

TEST_F(Killed, RemovingTakesWholeRunsAndNoOther) {
  constexpr int runs = 21;
  for (int i = 0; i < runs; ++i) store_run(path("first.db"), launches, counters);
  std::filesystem::copy(path("first.db"), path("warpmeter.db"));
  const std::vector<std::string> remove = {"runs", "rm", "--keep", "1", "--yes"};
  const double seconds = seconds_of(remove);
  for (int i = 0; i < trials(); ++i) {
    remove_database("warpmeter.db");
    std::filesystem::copy(path("first.db"), path("warpmeter.db"));
    std::int64_t left = runs;
    kill_while(remove, seconds,
               [&] { left = number(path("warpmeter.db"), "SELECT count(*) FROM runs"); });
    expect_sound(path("warpmeter.db"));
    EXPECT_LE(number(path("warpmeter.db"), "SELECT count(*) FROM runs"), left);
    EXPECT_EQ(number(path("warpmeter.db"), "SELECT count(*) FROM runs WHERE launches <> 20"), 0);
    EXPECT_EQ(number(path("warpmeter.db"), "SELECT count(*) FROM t_value"),
              counters * number(path("warpmeter.db"), "SELECT count(*) FROM launches"));
    EXPECT_EQ(number(path("warpmeter.db"), "SELECT max(run_id) FROM runs"), runs)
        << "the one to keep";
    warpmeter(remove);
    EXPECT_EQ(number(path("warpmeter.db"), "SELECT count(*) FROM runs"), 1);
  }
}

}  // namespace
}  // namespace warpmeter::cli
