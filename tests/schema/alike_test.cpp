// SPDX-License-Identifier: MIT
// A run of very many launches stores which of them are alike (t_alike). Whoever reads one launch of
// each kind has to find what reading each launch finds.
#include "schema/alike/alike.h"

#include <array>
#include <map>
#include <span>

#include "schema/database.h"
#include "schema/figures/figures.h"
#include "schema/figures/kinds.h"
#include "schema/merge/merge.h"
#include "schema/merge/one_run.h"
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Twelve kinds of launches, in turn: two counts, a grade, a reason, a kernel, an explanation, a
/// failure.
Launch program_launch(int i) {
  Launch launch;
  launch.family = "app";
  launch.variant = fmt::format("kernel_{}", i % 3);
  launch.kernel = launch.variant;
  launch.registers = 32;
  launch.counters = {measured("shared_load_wavefronts", 64 + i % 2),
                     measured("shared_load_requests", 64)};
  if (i % 4 == 1) launch.counters[0].grade = Grade::modelled;
  if (i % 4 == 2) launch.counters[0].reason = "loads may be merged";
  if (i % 4 == 3) launch.explanation = example_explanation();
  if (i % 12 == 8) {
    launch.outcome = LaunchOutcome::failed;
    launch.reason = "it read out of bounds";
  }
  return launch;
}

std::vector<Launch> launches_of_program(int count) {
  std::vector<Launch> launches;
  for (int i = 0; i < count; ++i) launches.push_back(program_launch(i));
  return launches;
}

constexpr int many = least_launches_alike;

class RunsOfManyLaunches : public ::testing::Test {
 protected:
  std::string path(std::string_view name = "warpmeter.db") const { return folder_ / name; }

  static std::int64_t add_run(Store& store, const std::vector<Launch>& launches) {
    const std::int64_t run = store.begin_run(example_run());
    store.add_launches(run, store.add_device(run, example_device()), launches);
    store.end_run(run, RunOutcome::done, "");
    return run;
  }
  void make(const std::vector<Launch>& launches) const {
    Store store(path());
    add_run(store, launches);
  }
  /// A database of one run of the program, which the tests of this file make once.
  void make_program(std::string_view name = "warpmeter.db") const {
    static const Folder folder;
    static const std::string made = [&] {
      Store store(folder / "program.db");
      add_run(store, launches_of_program(many));
      return folder / "program.db";
    }();
    std::filesystem::copy_file(made, path(name));
  }

  /// The numbers of the kinds of a run's first launches.
  std::vector<std::uint32_t> stored(std::int64_t run, std::size_t count) const {
    const LaunchKinds kinds = read_kinds(Reader(path()), run);
    std::vector<std::uint32_t> groups = kinds.alike.groups;
    groups.resize(std::min(groups.size(), count));
    return groups;
  }

  /// All that readers are told of a run: a line for launches with the same figures, and how many
  /// there are.
  std::map<std::string, std::size_t> told(std::int64_t run) const {
    const Reader reader(path());
    const LaunchKinds kinds = read_kinds(reader, run, Alike::resources);
    std::map<std::string, std::size_t> lines;
    each_launch(reader, kinds, [&](const LaunchFigures& launch) {
      const LaunchKind& kind = kinds.of(launch.launch);
      std::string line = fmt::format("{} first {} of {} failed {} cache {}", kind.variant,
                                     kind.first, kind.launches, kind.failed, kind.cache);
      for (std::size_t i = 0; i < launch.values.size(); ++i) {
        const FigureKind& figure = launch.shape->figures[i];
        line += fmt::format(", {} {} {} {}", figure.metric, launch.values[i],
                            to_string(figure.grade), figure.reason);
      }
      lines[line] += launch.times;
    });
    for (const ExplainedKind& one : explained_kinds(reader, run, kinds)) {
      lines[fmt::format("kind {}, explanation {}, first {}", one.kind,
                        one.explanation_id.value_or(0), one.first)] =
          static_cast<std::size_t>(one.launches);
    }
    return lines;
  }

  /// The same by reading each launch.
  std::map<std::string, std::size_t> told_launch_by_launch(std::int64_t run) const {
    execute(open_plain(path()).get(), "DELETE FROM t_alike");
    EXPECT_THAT(stored(run, 1), IsEmpty());
    return told(run);
  }

  void change(const std::string& sql) const { execute(open_plain(path()).get(), sql); }

 private:
  Folder folder_;
};

TEST_F(RunsOfManyLaunches, HaveANumberForEachLaunchInTheOrderOfTheFirstOfAKind) {
  make_program();
  EXPECT_THAT(stored(1, 14), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1));
  EXPECT_EQ(stored(1, many + 1).size(), std::size_t{many});
}

TEST_F(RunsOfManyLaunches, AreAlikeAsTheyWereWrittenAndAsTheyAreRead) {
  make_program();
  const std::vector<std::uint32_t> written = stored(1, many);
  keep_alike(open_for_writing(path()).get(), 1);
  EXPECT_EQ(stored(1, many), written);
}

TEST_F(RunsOfManyLaunches, TellWhatEachLaunchTells) {
  make_program();
  const auto lines = told(1);
  // Twelve kinds of figures. Each kernel was explained and was not; a failure is apart.
  EXPECT_EQ(lines.size(), 12u + 2 * 3 + 1);
  EXPECT_EQ(lines, told_launch_by_launch(1));
}

TEST_F(RunsOfManyLaunches, KeepTheTimesOfEachLaunch) {
  std::vector<Launch> launches = launches_of_program(many);
  for (int i = 0; i < many; ++i) {
    if (i % 3 == 0) continue;
    launches[i].timing = Timing{{1000.0 + i % 7}, CacheState::warm, 0, "one"};
    launches[i].useful_bytes_read = launches[i].useful_bytes_written = 4096;
  }
  make(launches);
  const auto lines = told(1);
  EXPECT_EQ(stored(1, many).size(), std::size_t{many});
  EXPECT_EQ(lines, told_launch_by_launch(1));
}

TEST_F(RunsOfManyLaunches, MayBeWrittenAtTheSameTime) {
  {
    Store store(path());
    std::array<std::int64_t, 2> runs{};
    for (std::int64_t& run : runs) run = store.begin_run(example_run());
    for (int first = 0; first < many; first += 1000) {
      for (const std::int64_t run : runs) {
        std::vector<Launch> launches;
        for (int i = first; i < first + 1000; ++i) launches.push_back(program_launch(i));
        store.add_launches(run, store.add_device(run, example_device()), launches);
      }
    }
    for (const std::int64_t run : runs) store.end_run(run, RunOutcome::done, "");
  }
  EXPECT_EQ(stored(2, many).size(), std::size_t{many});
  const auto lines = told(2);
  EXPECT_EQ(lines, told_launch_by_launch(2));
}

TEST_F(RunsOfManyLaunches, StoreNothingWhereFewLaunchesAreAlike) {
  make(launches_of_program(many - 1));
  EXPECT_THAT(stored(1, 1), IsEmpty());
  std::vector<Launch> launches = launches_of_program(many);
  for (int i = 0; i < many; ++i) launches[i].useful_bytes_read = i / (least_alike_of_kind / 2);
  make(launches);
  EXPECT_THAT(stored(2, 1), IsEmpty());
}

/// The counts of kernels 1 and 2 depend on their data. Some have no value, or are 0.
std::vector<Launch> launches_that_differ() {
  std::vector<Launch> launches = launches_of_program(many);
  for (int i = 0; i < many; ++i) {
    if (i % 3 == 0) continue;
    launches[i].counters[0].value = 7919 * i % 10007;
    if (i % 5 == 1) {
      launches[i].counters[1] = {"shared_load_requests", std::nullopt, Grade::unavailable, "lost"};
    }
    if (i % 5 == 2) launches[i].counters[1].value = 0;
  }
  return launches;
}

TEST_F(RunsOfManyLaunches, AreOfOneKindWhereTheirCountsDiffer) {
  make(launches_that_differ());
  // Kernel 0 has four kinds as before. Kernel 1 has four, and four where a count has no value.
  // Kernel 2 has one fewer of each: a quarter of its launches failed, which are a kind.
  EXPECT_THAT(stored(1, 16), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 12, 2, 3));
  const LaunchKinds kinds = read_kinds(Reader(path()), 1);
  EXPECT_FALSE(kinds.alike.values_differ[0]);
  EXPECT_TRUE(kinds.alike.values_differ[1]);
  EXPECT_FALSE(kinds.alike.values_differ[8]);  // the failed ones
  EXPECT_EQ(kinds.alike.first.size(), 4u + (4 + 4) + (3 + 3 + 1));
  const auto lines = told(1);
  EXPECT_EQ(lines, told_launch_by_launch(1));
}

TEST_F(RunsOfManyLaunches, ThatDifferKeepTheTimesOfEachLaunch) {
  std::vector<Launch> launches = launches_that_differ();
  for (int i = 0; i < many; i += 2) {
    launches[i].timing = Timing{{1000.0 + i % 7}, CacheState::warm, 0, "one"};
  }
  make(launches);
  EXPECT_EQ(stored(1, many).size(), std::size_t{many});
  const auto lines = told(1);
  EXPECT_EQ(lines, told_launch_by_launch(1));
}

TEST_F(RunsOfManyLaunches, ThatDifferAreRefusedWhereALaunchLostACounter) {
  make(launches_that_differ());
  change(
      "DELETE FROM t_value WHERE launch_id = 50 AND counter_id = (SELECT min(counter_id) FROM "
      "t_value WHERE launch_id = 50)");
  EXPECT_THROW(told(1), Error);
}

TEST_F(RunsOfManyLaunches, AreLookedAtAgainWhenALaunchIsCompleted) {
  make_program();
  Completion completion;
  completion.launch_id = 3;
  completion.counters = {measured("global_load_sectors", 5)};
  Store(path()).complete_launches(std::span(&completion, 1));
  EXPECT_THAT(stored(1, 15), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 12));
  const auto lines = told(1);
  EXPECT_EQ(lines, told_launch_by_launch(1));
}

TEST_F(RunsOfManyLaunches, StayAsTheyAreWhenALaunchGetsItsLines) {
  make_program();
  Completion completion;
  completion.launch_id = 3;
  completion.lines = {{"a.cu", 7, "x[i] = y[j];", "shared load", 1, 2, 1}};
  Store(path()).complete_launches(std::span(&completion, 1));
  EXPECT_THAT(stored(1, 3), ElementsAre(0, 1, 2));
}

TEST_F(RunsOfManyLaunches, ForgetWhichAreAlikeWhenTheyGoOn) {
  make_program();
  Store(path()).continue_run(1, 1);
  EXPECT_THAT(stored(1, 1), IsEmpty());
  make(launches_of_program(many));
  change("PRAGMA foreign_keys = ON; DELETE FROM t_run WHERE run_id = 2");
  EXPECT_THAT(lines_of(path(), "SELECT count(*) FROM t_alike"), ElementsAre("0"));
}

TEST_F(RunsOfManyLaunches, AreLookedAtWhenTheyAreMerged) {
  make(launches_of_program(100));
  make_program("other.db");
  const std::string other = path("other.db");
  merge(std::span(&other, 1), path(), {});
  EXPECT_THAT(stored(2, 3), ElementsAre(0, 1, 2));
  const auto lines = told(2);
  EXPECT_EQ(lines, told_launch_by_launch(2));
}

TEST_F(RunsOfManyLaunches, AreLookedAtWhenTheirPartsBecomeOneRun) {
  make_program();
  make(launches_of_program(many));
  make_one_run(path(), "warpmeter run", 0);
  EXPECT_EQ(stored(1, 3 * many).size(), std::size_t{2 * many});
  const auto lines = told(1);
  EXPECT_EQ(lines, told_launch_by_launch(1));
}

TEST_F(RunsOfManyLaunches, AreLookedAtInAnOlderDatabase) {
  make_program();
  const auto lines = told(1);
  make_older(path(), 14);
  EXPECT_THAT(stored(1, 3), ElementsAre(0, 1, 2));
  EXPECT_EQ(told(1), lines);
}

TEST_F(RunsOfManyLaunches, AreReadLaunchByLaunchWhereTheNumbersDoNotFit) {
  make_program();
  const auto lines = told(1);
  constexpr const char* changes[] = {
      "UPDATE t_alike SET kinds = substr(kinds, 1, 39999)",                        // half a number
      "UPDATE t_alike SET kinds = CAST(x'01000000' || substr(kinds, 5) AS BLOB)",  // out of turn
      "UPDATE t_alike SET kinds = CAST(x'00000080' || substr(kinds, 5) AS BLOB)",  // one differs
      "UPDATE t_alike SET kinds = CAST(kinds || x'00000000' AS BLOB)",  // a launch too many
      "UPDATE t_alike SET kinds = substr(kinds, 1, 400)",               // too few
      "UPDATE t_alike SET kinds = x''",                                 // none
      "UPDATE t_alike SET first_launch_id = 2",                         // others
      "UPDATE t_alike SET first_launch_id = 9223372036854775807",       // no launches
      // A launch twice.
      "INSERT INTO t_alike (run_id, first_launch_id, kinds) VALUES (1, 2, x'00000000')",
      // The first of a kind is gone, and one came later.
      "DELETE FROM t_launch WHERE launch_id = 5",
      "INSERT INTO t_launch (run_id, device_id, family, variant, kernel, grid_x, grid_y, grid_z, "
      "block_x, block_y, block_z, dynamic_shared_bytes, verified, is_ceiling, outcome) "
      "VALUES (1, 1, 'app', 'late', 'late', 1, 1, 1, 1, 1, 1, 0, 0, 0, 'done')"};
  for (const char* sql : changes) {
    const std::string copy = path("copy.db");
    std::filesystem::copy_file(path(), copy, std::filesystem::copy_options::overwrite_existing);
    change(sql);
    const auto told_then = told(1);
    EXPECT_EQ(told_then, told_launch_by_launch(1)) << sql;
    std::filesystem::copy_file(copy, path(), std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_EQ(told(1), lines);
}

}  // namespace
}  // namespace warpmeter::schema
