// SPDX-License-Identifier: MIT
// The parts of a job that need no cluster: its division, its plan, its scripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/temporary.h"
#include "collector/lab/folder.h"
#include "collector/lab/plan.h"
#include "collector/lab/progress.h"
#include "collector/lab/script.h"
#include "collector/lab/slurm.h"
#include "collector/lab/split.h"

namespace warpmeter::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(Split, GivesEachPartAboutTheSameCost) {
  const std::vector<Part> parts =
      split({{"a", 6}, {"b", 1}, {"c", 5}, {"d", 2}, {"e", 3}, {"f", 1}}, 3);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_THAT(parts[0].launches, ElementsAre("a"));
  EXPECT_THAT(parts[1].launches, ElementsAre("b", "c"));
  EXPECT_THAT(parts[2].launches, ElementsAre("d", "e", "f"));
  for (const Part& part : parts) EXPECT_NEAR(part.share, 1.0 / 3, 0.01);
}

TEST(Split, LeavesNoPartEmpty) {
  EXPECT_EQ(split({{"a", 1}, {"b", 1}}, 16).size(), 2U);
  const std::vector<Part> free = split({{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}}, 2);
  EXPECT_EQ(free[0].launches.size(), 2U);
  EXPECT_EQ(free[1].launches.size(), 2U);
}

Plan plan() {
  Plan plan;
  plan.id = "0123";
  plan.created = "2026-11-22T20:00:00Z";
  plan.program = "/opt/war'p/warpmeter";
  plan.directory = "/home/ana/a b";
  plan.command = {"run", "tune.yaml", "-n", "64"};
  plan.label = "night\nly";
  plan.time = "30";
  plan.options = {"--qos=low", "-A lab"};
  plan.tasks = {{1, {"64 tune/a"}, 0.5, "", "", 0}, {2, {"64 tune/b"}, 0.5, "", "", 0}};
  return plan;
}

TEST(Plan, IsReadAsItWasWritten) {
  const std::string text = to_json(plan());
  const Plan again = plan_from_json(text, "plan.json");
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(again.label, "night\nly");
  EXPECT_THAT(again.tasks.at(1).launches, ElementsAre("64 tune/b"));
}

TEST(Plan, OfANewerVersionOrOfNothingIsRefused) {
  for (const char* text : {"{\"version\": 99}", "{\"version\": 1}", "[]", "nonsense"}) {
    EXPECT_THROW(plan_from_json(text, "plan.json"), Error) << text;
  }
}

TEST(Plan, IsTheSameJobWhateverItsNumberAndDivisionAre) {
  Plan other = plan();
  other.id = "4567";
  other.tasks[0].launches.swap(other.tasks[1].launches);
  EXPECT_TRUE(is_same_job(plan(), other));
  other.command.back() = "128";
  EXPECT_FALSE(is_same_job(plan(), other));
}

TEST(Script, QuotesWhatAPersonTyped) {
  const std::string script = task_script(plan(), "/data/100%/job");
  EXPECT_THAT(script, HasSubstr("warpmeter='/opt/war'\\''p/warpmeter'"));
  EXPECT_THAT(script, HasSubstr("cd -- '/home/ana/a b'"));
  EXPECT_THAT(script, HasSubstr("--label 'night\nly'"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=1-2\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH -Alab\n"));
  EXPECT_THAT(script, HasSubstr("--output=/data/100%%/job/logs/%4a.log"));
  EXPECT_THAT(merge_script(plan(), "/data/job"),
              HasSubstr("--one-run 'warpmeter run tune.yaml -n 64' --planned 2"));
}

TEST(Script, OfAWholeCommandDividesNothing) {
  Plan whole = plan();
  whole.tasks = {{1, {}, 1, "n1", "gpu:2", 1}};
  EXPECT_THAT(task_script(whole, "/data/job"), Not(HasSubstr("--launches")));
  EXPECT_THAT(task_script(whole, "/data/job"), HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(merge_script(whole, "/data/job"), Not(HasSubstr("--one-run")));
}

TEST(Script, TakesNativeOptionsAsTheyAreTyped) {
  EXPECT_THAT(words_of_option("--qos low"), ElementsAre("--qos=low"));
  EXPECT_THAT(words_of_option("--qos=low and slow"), ElementsAre("--qos=low and slow"));
  EXPECT_THAT(words_of_option("-A lab"), ElementsAre("-A", "lab"));
  EXPECT_THAT(words_of_option("--exclusive"), ElementsAre("--exclusive"));
  EXPECT_EQ(ranges({1, 2, 3, 5, 7, 8}), "1-3,5,7-8");
}

TEST(Slurm, GpusAreReadFromGres) {
  EXPECT_THAT(gpus_of("gpu:h200:8(S:0-1),shard:4,gpu:a100:1"),
              ElementsAre(Pair("a100", 1), Pair("h200", 8)));
  EXPECT_THAT(gpus_of("gpu:2"), ElementsAre(Pair("", 2)));
  EXPECT_THAT(gpus_of("gpu"), ElementsAre(Pair("", 1)));
  EXPECT_THAT(gpus_of("gpu:h200"), ElementsAre(Pair("h200", 1)));
  EXPECT_TRUE(gpus_of("(null)").empty());
}

JobProgress job_with(const std::vector<std::optional<int>>& exit_codes) {
  JobProgress job;
  for (const std::optional<int>& code : exit_codes) {
    TaskProgress task;
    task.exit_code = code;
    job.tasks.push_back(task);
  }
  return job;
}

/// Slurm's commands are those of a folder.
class FakeSlurm {
 public:
  FakeSlurm() : path_(getenv("PATH")) {
    setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  FakeSlurm(const FakeSlurm&) = delete;
  FakeSlurm& operator=(const FakeSlurm&) = delete;
  ~FakeSlurm() { setenv("PATH", path_.c_str(), 1); }

  void answers(const std::string& command, const std::string& script) const {
    const std::filesystem::path file = folder_.path() / command;
    std::ofstream(file) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

 private:
  const TemporaryFolder folder_;
  const std::string path_;
};

TEST(Progress, KnowsWhatWasMergedWhileSlurmWasAsked) {
  const TemporaryFolder place;
  const Folder folder((place.path() / "job").string());
  Plan made = plan();
  made.tasks.resize(1);
  folder.write(made);
  const std::string task = folder.path() + "/tasks/0001";
  std::ofstream(task + ".db") << "measured";
  std::ofstream(task + ".exit") << "0\n";
  std::ofstream(folder.path() + "/jobs") << "7 1\n8 merge\n";
  const FakeSlurm slurm;
  slurm.answers("sacct", "exit 1");
  slurm.answers("squeue", "exit 0");
  EXPECT_FALSE(progress_of(folder, made).is_merged);
  slurm.answers("squeue", "touch '" + folder.path() + "/merged.db'");
  const JobProgress progress = progress_of(folder, made);
  EXPECT_TRUE(progress.has_ended());
  EXPECT_TRUE(progress.is_merged);
}

TEST(Progress, ExitsAsTheCommandWould) {
  EXPECT_EQ(job_with({0, 0}).exit_code(), ExitCode::done);
  EXPECT_EQ(job_with({0, 6, 5}).exit_code(), ExitCode::kernel);
  EXPECT_EQ(job_with({0, 5, {}}).exit_code(), ExitCode::file);
  EXPECT_EQ(job_with({0, {}}).exit_code(), ExitCode::nothing);
  EXPECT_EQ(job_with({0, 3}).exit_code(), ExitCode::done);
  EXPECT_EQ(job_with({3, 3}).exit_code(), ExitCode::nothing);
}

}  // namespace
}  // namespace warpmeter::lab
