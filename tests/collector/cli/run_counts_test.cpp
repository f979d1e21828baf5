// SPDX-License-Identifier: MIT
// Who counts where a GPU gives times and no counters: `run` from its command line to its exit code,
// on a GPU that is none and computes as the model does.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/temporary.h"
#include "collector/cli/options.h"
#include "collector/cupti/backend.h"
#include "collector/model/session/backend.h"
#include "schema/store.h"
#include "tests/collector/cli/either_compiler.h"
#include "tests/collector/run/fake_backend.h"

namespace warpmeter::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* no_permission = "it takes a permission that this user lacks";

constexpr const char* shared_card = "the card is another process's too";

constexpr const char* no_gpu = "there is no driver here; install one";

/// Counts 32 of everything, where it may.
std::unique_ptr<run::Backend> open_fake(const std::string& no_counters) {
  if (no_counters == no_gpu) throw Error(ExitCode::no_hardware, no_gpu);
  auto gpu = std::make_unique<run::FakeBackend>();
  gpu->no_counters = no_counters;
  const std::shared_ptr<run::Backend> model = model::open({.arch = 90, .threads = 1});
  gpu->answer = [model](const run::Launch& launch, const kernels::Problem& problem) {
    return model->load(problem)->execute(launch);
  };
  if (no_counters == shared_card) {
    gpu->disturbances = {{"process", true, "python3 computed", 490, "python3", 774, 88, ""}};
    gpu->no_counters = "";
  }
  return gpu;
}

struct Outcome {
  ExitCode code = ExitCode::done;
  std::string output, error;
};

class RunCounts : public testing::Test {
 protected:
  /// `warpmeter run vector_add -n 1024` and more, in this process.
  Outcome run(const std::vector<std::string>& more,
              const std::string& no_counters = no_permission) const {
    std::vector<std::string> words = {"vector_add/block_256", "-n", "1024"};
    words.insert(words.end(), more.begin(), more.end());
    return run_words(words, no_counters);
  }

  Outcome run_words(const std::vector<std::string>& more, const std::string& no_counters) const {
    std::vector<std::string> words = {"warpmeter", "run", "--max-samples", "5", "--db", database_};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    CLI::App program;
    const Command command =
        add_run(program, words, [&](const cupti::Options&) { return open_fake(no_counters); });
    Outcome outcome;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      program.parse(static_cast<int>(arguments.size()), arguments.data());
      outcome.code = command.run();
    } catch (const Error& error) {
      outcome.code = error.code();
      outcome.error = error.what();
    }
    outcome.output = testing::internal::GetCapturedStdout();
    outcome.error += testing::internal::GetCapturedStderr();
    return outcome;
  }

  /// "metric value grade" of the last run.
  std::vector<std::string> results() const {
    const schema::Rows rows = schema::Reader(database_).query(
        "SELECT metric || ' ' || coalesce(value, 'none') || ' ' || grade FROM results WHERE metric "
        "IN ('duration', 'gld_transactions') AND run_id = (SELECT max(run_id) FROM runs) ORDER BY "
        "metric");
    std::vector<std::string> all;
    for (const auto& row : rows.rows) all.push_back(std::get<std::string>(row.at(0)));
    return all;
  }

  bool is_measured() const { return std::filesystem::exists(database_); }

 protected:
  const TemporaryFolder folder_;
  const std::string database_ = (folder_.path() / "a.db").string();
};

// A time is to be that of the code that a program has, and counts beside it are of that code too.
TEST_F(RunCounts, AreOfNvccsCodeWhereAGpuTimesIt) {
  const std::string source = (folder_.path() / "k.cu").string();
  std::ofstream(source) << loads_if_nvrtc;
  std::vector<std::string> words = {source,       "-k",       "k",     "--grid",      "1",
                                    "--block",    "32",       "--arg", "out:f32[32]", "--arg",
                                    "in:f32[32]", "--counts", "model"};
  const Outcome timed = run_words(words, "");
  EXPECT_EQ(timed.code, ExitCode::done) << timed.error;
  EXPECT_THAT(results(), ElementsAre("duration 1000.0 measured", "gld_transactions 0.0 exact"));
  EXPECT_THAT(timed.error, Not(HasSubstr("NVRTC")));
  words.insert(words.end(), {"--compiler", "nvrtc"});
  EXPECT_EQ(run_words(words, "").code, ExitCode::done);
  EXPECT_THAT(results(), testing::Contains("gld_transactions 4.0 exact"));
  words.resize(words.size() - 2);
  // Nobody asked for nvcc, and it cannot.
  std::ofstream(source) << "#ifndef __CUDACC_RTC__\n#error no program\n#endif" << loads_if_nvrtc;
  const Outcome other = run_words(words, "");
  EXPECT_EQ(other.code, ExitCode::done) << other.error;
  EXPECT_THAT(other.error, HasSubstr("k.cu is compiled by NVRTC, since nvcc could not (#error no "
                                     "program"));
  EXPECT_THAT(results(), testing::Contains("gld_transactions 4.0 exact"));
  words.insert(words.end(), {"--compiler", "nvcc"});
  const Outcome refused = run_words(words, "");
  EXPECT_EQ(refused.code, ExitCode::kernel);
  EXPECT_THAT(refused.output + refused.error, HasSubstr("#error no program"));
}

TEST_F(RunCounts, AreTheModelsWhereTheGpuGivesTimesAlone) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr(fmt::format(
                                 "Fake 9000 gives the times and model sm_90 the counts, since the "
                                 "GPU's counters are unavailable: {}",
                                 no_permission)));
  EXPECT_THAT(results(), ElementsAre("duration 1000.0 measured", "gld_transactions 256.0 exact"));
  EXPECT_THAT(outcome.output, HasSubstr("block_256"));
}

TEST_F(RunCounts, WhatDisturbedTheCardIsStoredAndSaidOnce) {
  const Outcome outcome = run({}, shared_card);
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.error;
  EXPECT_THAT(outcome.error,
              HasSubstr("times may be disturbed: python3 computed, before and after\n"));
  const Outcome quiet = run({"--quiet"}, shared_card);
  EXPECT_EQ(quiet.error, "");
  EXPECT_THAT(run({}, "").error, Not(HasSubstr("disturbed")));
}

TEST_F(RunCounts, AreTheGpusWhereItGivesThem) {
  const Outcome outcome = run({}, "");
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.error;
  EXPECT_THAT(outcome.error, Not(HasSubstr("the counts")));
  EXPECT_THAT(results(), ElementsAre("duration 1000.0 measured", "gld_transactions 32.0 measured"));
}

TEST_F(RunCounts, AreTheModelsWhereThatWasAskedFor) {
  for (const char* no_counters : {"", no_permission}) {
    const Outcome outcome = run({"--counts", "model", "-b", "cupti"}, no_counters);
    EXPECT_EQ(outcome.code, ExitCode::done) << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr("Fake 9000 gives the times and model sm_90 the counts"));
    EXPECT_THAT(results(), testing::Contains("gld_transactions 256.0 exact"));
    EXPECT_THAT(results(), Not(testing::Contains("gld_transactions 32.0 measured")));
  }
}

TEST_F(RunCounts, OfAGpuThatGivesNoneAreAnErrorOfTheHardware) {
  for (const std::vector<std::string>& asked :
       std::vector<std::vector<std::string>>{{"--counts", "gpu"},
                                             {"--counts", "gpu", "-b", "cupti"},
                                             {"-b", "cupti"},
                                             {"--counters-only"}}) {
    const Outcome outcome = run(asked);
    EXPECT_EQ(outcome.code, ExitCode::no_hardware) << fmt::format("{}", fmt::join(asked, " "));
    EXPECT_EQ(static_cast<int>(outcome.code), 4);
    EXPECT_THAT(outcome.error,
                HasSubstr(fmt::format("Fake 9000 does not give its counters: {}; --counts model "
                                      "has the model count, --timing-only measures without",
                                      no_permission)));
    EXPECT_THAT(outcome.output, IsEmpty());
    EXPECT_FALSE(is_measured()) << "nothing is recorded";
  }
}

TEST_F(RunCounts, OfAGpuAreNotTheModelsWhereThereIsNone) {
  const Outcome outcome = run({"--counts", "gpu"}, no_gpu);
  EXPECT_EQ(outcome.code, ExitCode::no_hardware);
  EXPECT_EQ(outcome.error,
            "no GPU is usable (there is no driver here), and --counts gpu needs one: leave it out, "
            "or say --counts model, and the model counts");
  EXPECT_FALSE(is_measured()) << "nothing is recorded";
  // Without it the model answers, as it does where it was asked to count.
  EXPECT_EQ(run({}, no_gpu).code, ExitCode::done);
  EXPECT_EQ(run({"--counts", "model"}, no_gpu).code, ExitCode::done);
  // A GPU that was asked for says itself what is missing.
  EXPECT_EQ(run({"--counts", "gpu", "-b", "cupti"}, no_gpu).error, no_gpu);
}

TEST_F(RunCounts, OfAGpuDoNotGoWithOptionsOfTheModel) {
  for (const std::vector<std::string>& model :
       std::vector<std::vector<std::string>>{{"--threads", "1"}, {"--arch", "sm_90"}}) {
    std::vector<std::string> words = {"--counts", "gpu"};
    words.insert(words.end(), model.begin(), model.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, ExitCode::usage) << model[0];
    EXPECT_THAT(outcome.error, HasSubstr("--counts gpu needs a GPU, and --arch and --threads are"));
  }
}

// A GPU counts all blocks, and a search for mistakes looks at all.
TEST_F(RunCounts, AreNoSampleWhereAllBlocksAreNeeded) {
  const std::pair<std::vector<std::string>, const char*> refused[] = {
      {{"--blocks", "5%", "-b", "cupti"}, "--blocks samples the model's counts, and a GPU counts"},
      {{"--blocks", "5%"}, "--blocks samples the model's counts, and the GPU counts here"},
      {{"--blocks", "5%", "--check"}, "--check looks at every block, and --blocks at some"},
      {{"--blocks", "31", "-b", "model"}, "--blocks 31 is too few for a bound on the error"},
      {{"--blocks", "many", "-b", "model"},
       "--blocks takes a number of blocks or a share of them"}};
  for (const auto& [words, why] : refused) {
    const Outcome outcome = run(words, "");
    EXPECT_EQ(outcome.code, ExitCode::usage) << why;
    EXPECT_THAT(outcome.error, HasSubstr(why));
    EXPECT_FALSE(is_measured()) << why;
  }
}

// 2,048 blocks of 256 threads, each thread of which loads two floats: 64 sectors a block.
TEST_F(RunCounts, AreSampledWhereThatIsSaid) {
  const std::vector<std::string> words = {
      "vector_add/block_256", "-n", "524288", "-b", "model", "-m", "gld_transactions"};
  std::vector<std::string> some = words, all = words;
  some.insert(some.end(), {"--blocks", "5%"});
  ASSERT_EQ(run_words(some, no_gpu).code, ExitCode::done);
  EXPECT_THAT(results(), testing::Contains("gld_transactions 131072.0 sampled"));
  const schema::Rows bounds = schema::Reader(database_).query(
      "SELECT low <= value AND value <= high, reason FROM results JOIN intervals USING (launch_id, "
      "metric) WHERE grade = 'sampled' AND metric = 'gld_transactions'");
  ASSERT_EQ(bounds.rows.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(bounds.rows[0][0]), 1);
  EXPECT_EQ(std::get<std::string>(bounds.rows[0][1]), "estimated from 103 of 2048 blocks (5.03 %)");
  all.insert(all.end(), {"--blocks", "100%"});
  ASSERT_EQ(run_words(all, no_gpu).code, ExitCode::done);
  EXPECT_THAT(results(), testing::Contains("gld_transactions 131072.0 exact"));
  ASSERT_EQ(run_words(words, no_gpu).code, ExitCode::done);
  EXPECT_THAT(results(), testing::Contains("gld_transactions 131072.0 exact"));
}

TEST_F(RunCounts, AreNobodysWhereOnlyTimesAreWanted) {
  const Outcome outcome = run({"--timing-only"});
  EXPECT_EQ(outcome.code, ExitCode::done) << outcome.error;
  EXPECT_THAT(outcome.error, Not(HasSubstr("the counts")));
  EXPECT_THAT(results(), testing::Contains("duration 1000.0 measured"));
  EXPECT_THAT(results(), Not(testing::Contains(HasSubstr("exact"))));
}

}  // namespace
}  // namespace warpmeter::cli
