// SPDX-License-Identifier: MIT
// The answers of `check` and `compare` about a run that was stopped.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Stopped : public Workspace {
 protected:
  /// A run that a signal ends when it has stored some of its launches, not all.
  void stop_a_run(int signal) const {
    Process process(
        {{"run", "matmul/naive", "matmul/tiled_16", "-n", "32,512", "-b", "model", "-q"}, folder_});
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!std::filesystem::exists(file("warpmeter.db"))) continue;
      const Outcome count =
          warpmeter({"query", "SELECT count(*) FROM launches", "--format", "csv"});
      if (count.exit_code == 0 && count.output != "count(*)\n0\n") break;
    }
    kill(process.id(), signal);
    process.wait();
  }
};

TEST_F(Stopped, ByCtrlCOrKilledIsExitCode3OfCheckAndSaysHowFarItCame) {
  for (const int signal : {SIGINT, SIGKILL}) {
    std::filesystem::remove(file("warpmeter.db"));
    stop_a_run(signal);
    const Outcome outcome = warpmeter({"check", "-g", "gld_efficiency > 0"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.output << outcome.error;
    EXPECT_THAT(outcome.output,
                AllOf(HasSubstr("run 1 was interrupted after "), HasSubstr(" launches: ")));
    for (const char* format : {"github", "junit", "json", "csv", "sarif"}) {
      const Outcome other = warpmeter({"check", "-g", "gld_efficiency > 0", "--format", format});
      EXPECT_EQ(other.exit_code, 3);
      EXPECT_THAT(other.output, HasSubstr("was interrupted after")) << format;
    }
    const Outcome allowed =
        warpmeter({"check", "-g", "gld_efficiency > 0", "--allow-unfinished", "--format", "csv"});
    EXPECT_EQ(allowed.exit_code, 0) << allowed.output << allowed.error;
    EXPECT_THAT(allowed.error, HasSubstr("Allowed: run 1 was interrupted"));
    EXPECT_THAT(warpmeter({"report"}).output, HasSubstr(" of 4 launches, all verified"));
  }
}

TEST_F(Stopped, IsRemarkedOnByCompareAndDoesNotPassItsFailOn) {
  stop_a_run(SIGINT);
  ASSERT_EQ(warpmeter({"run", "matmul", "-n", "32", "-b", "model", "-q"}).exit_code, 0);
  const Outcome plain = warpmeter({"compare"});
  EXPECT_EQ(plain.exit_code, 0);
  std::string words = plain.output;  // where lines break depends on how far the run came
  std::replace(words.begin(), words.end(), '\n', ' ');
  EXPECT_THAT(words, AllOf(HasSubstr("Not all was measured:"), HasSubstr("run 1 was interrupted")));
  EXPECT_THAT(warpmeter({"compare", "--format", "csv"}).error, HasSubstr("run 1 was interrupted"));
  EXPECT_EQ(warpmeter({"compare", "--fail-on", "changed"}).exit_code, 3);
  EXPECT_EQ(warpmeter({"compare", "--fail-on", "changed", "--allow-unfinished"}).exit_code, 0);
}

TEST_F(Stopped, IsFinishedByContinueHoweverTheCommandIsTyped) {
  stop_a_run(SIGKILL);
  const Outcome other = warpmeter({"run", "matmul/naive", "-n", "32", "-b", "model", "--continue"});
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.error, HasSubstr("has no run of this command to go on with: a new one begins"));
  const Outcome done = warpmeter({"run", "--no-progress", "-b", "model", "--continue", "--size",
                                  "32,512", "matmul/naive", "matmul/tiled_16"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.error, AllOf(HasSubstr("going on with run 1, which has "),
                                HasSubstr("4 launches in "), HasSubstr("run 1 of warpmeter.db")));
  EXPECT_EQ(
      warpmeter({"query", "SELECT run_id, outcome, launches FROM runs", "--format", "csv"}).output,
      "run_id,outcome,launches\n1,done,4\n2,done,1\n");
}

TEST_F(Stopped, IsFinishedByABareContinueAndThenNothingIsLeft) {
  stop_a_run(SIGINT);
  EXPECT_THAT(warpmeter({"run", "--continue"}).error, HasSubstr("going on with run 1, which has "));
  const Outcome again = warpmeter({"run", "--continue"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.error, HasSubstr("nothing is left to do: run 1 has come to its end"));
}

TEST_F(Stopped, BeforeAnythingWasStoredBeginsAnew) {
  write("warpmeter.db", "");
  const Outcome outcome =
      warpmeter({"run", "matmul/naive", "-n", "32", "-b", "model", "--continue"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("a new one begins"));
}

TEST_F(Stopped, IsNotGoneOnWithWhenItsFilesHaveChanged) {
  write("k.cu", "__global__ void k(float* a) { a[threadIdx.x] = 1; }\n");
  write("f.yaml",
        "family: f\nfile: k.cu\narguments: [ a: 'f32[32]' ]\nvariants:\n"
        "  v: { kernel: k, grid: 1, block: 32 }\n");
  const std::vector<std::string> words = {"run", "f.yaml", "-b", "model", "--continue"};
  ASSERT_EQ(warpmeter(words).exit_code, 0);
  EXPECT_THAT(warpmeter(words).error, HasSubstr("nothing is left to do: run 1"));
  for (const char* name : {"k.cu", "f.yaml"}) {
    const auto before = std::filesystem::last_write_time(file(name));
    std::filesystem::last_write_time(file(name), before + std::chrono::hours(1));
    const Outcome outcome = warpmeter(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.error, HasSubstr(std::string(name) + " was changed after run 1 had begun"));
    std::filesystem::last_write_time(file(name), before);
  }
}

TEST_F(Stopped, IsLookedForWhereTheDatabaseIsAndByItsOptions) {
  const Outcome typo = warpmeter({"run", "--continue", "--db", "typo.db"});
  EXPECT_EQ(typo.exit_code, 3);
  EXPECT_THAT(typo.error, HasSubstr("there is no typo.db, so no run to go on with"));
  EXPECT_FALSE(std::filesystem::exists(file("typo.db")));
  measure_something();
  const Outcome lone = warpmeter({"run", "--continue", "-b", "model", "--label", "other"});
  EXPECT_EQ(lone.exit_code, 2);
  EXPECT_THAT(lone.error, HasSubstr("no run of warpmeter.db was begun with these options"));
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "1");
}

TEST_F(Stopped, IsShownWithWhatIsLeftByADryRun) {
  stop_a_run(SIGKILL);
  const std::string stored = value_of("SELECT count(*) FROM launches");
  const Outcome outcome = warpmeter({"run", "--continue", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output + outcome.error,
              HasSubstr("4 launches would be measured, of which run 1 has " + stored));
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), stored);
}

TEST_F(Stopped, OfAnotherCommandIsNoneThatABareContinueGoesOnWith) {
  write("k.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n");
  ASSERT_EQ(warpmeter({"model", "k.ptx", "--grid", "1", "--block", "32", "--db", "warpmeter.db"})
                .exit_code,
            0);
  const Outcome outcome = warpmeter({"run", "--continue"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("is of another command: "));
}

}  // namespace
}  // namespace warpmeter::cli
