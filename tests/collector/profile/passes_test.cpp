// SPDX-License-Identifier: MIT
// A program that runs several times: application replay, and clean times beside counters.
#include "collector/profile/passes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "collector/profile/injector.h"
#include "schema/store.h"

namespace warpmeter::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* first_counter = "shared_load_wavefronts";
constexpr const char* second_counter = "x__y.sum";

class PassesTest : public testing::Test {
 protected:
  /// One counter a run, and times where they are wanted.
  Outcome profile_program(std::vector<std::string> acts) {
    RecorderOptions recording;
    recording.database = database();
    recording.program = "fake";
    recording.has_more_passes = true;
    recording.timing_reason = "no clean time";
    recorder_ = std::make_unique<Recorder>(recording);
    options_.words = {WARPMETER_FAKE_PROGRAM};
    options_.words.insert(options_.words.end(), acts.begin(), acts.end());
    options_.injector = "/nowhere.so";
    options_.socket = folder_.path() / fmt::format("{}.", ++sessions_);
    options_.remark = [this](const std::string& remark) { remarks_.push_back(remark); };
    inject::Config config;
    config.mode = inject::Mode::counters;
    config.selection = selection_;
    const Outcome outcome = profile_passes(options_, config, passes_, *recorder_);
    recorder_->finish(schema::RunOutcome::done, "");
    return outcome;
  }

  std::string database() const { return (folder_.path() / "test.db").string(); }

  /// "kernel first second duration" of each launch; "-" is no value.
  std::vector<std::string> launches() const {
    const schema::Rows rows =
        schema::Reader(database())
            .query(
                "SELECT l.variant || ' ' || "
                "group_concat(iif(r.value IS NULL, '-', printf('%g', r.value)), ' ') "
                "FROM launches l JOIN (SELECT * FROM results ORDER BY metric "
                "= 'duration', metric) r "
                "USING (launch_id) WHERE r.metric IN "
                "('shared_load_wavefronts', 'x__y.sum', 'duration') "
                "GROUP BY l.launch_id ORDER BY l.launch_id");
    std::vector<std::string> lines;
    for (const auto& row : rows.rows) lines.push_back(std::get<std::string>(row.at(0)));
    return lines;
  }

  std::vector<std::string> reasons() const {
    const schema::Rows rows = schema::Reader(database())
                                  .query(
                                      "SELECT DISTINCT metric || ': ' || reason FROM results WHERE "
                                      "reason IS NOT NULL AND metric "
                                      "IN ('shared_load_wavefronts', 'x__y.sum') ORDER BY 1");
    std::vector<std::string> lines;
    for (const auto& row : rows.rows) lines.push_back(std::get<std::string>(row.at(0)));
    return lines;
  }

  PrivateFolder folder_;
  Options options_;
  Passes passes_{{{first_counter}, {second_counter}}, false};
  inject::Selection selection_;
  std::unique_ptr<Recorder> recorder_;
  std::vector<std::string> remarks_;
  int sessions_ = 0;
};

TEST_F(PassesTest, EachRunAddsItsCountersToTheSameLaunches) {
  const Outcome outcome = profile_program({"connect", "in=shared_load_wavefronts", "launch=a,1",
                                           "in=shared_load_wavefronts", "launch=b,2",
                                           "in=shared_load_wavefronts", "launch=a,3",  //
                                           "in=x__y.sum", "launch=b,20", "in=x__y.sum",
                                           "launch=a,10", "in=x__y.sum", "launch=a,30", "bye"});
  EXPECT_TRUE(outcome.ending.ok());
  EXPECT_THAT(launches(), ElementsAre("a 1 10 -", "b 2 20 -", "a 3 30 -"));
  EXPECT_EQ(recorder_->launches(), 3U);
  EXPECT_THAT(recorder_->mismatches(), IsEmpty());
  EXPECT_THAT(reasons(), IsEmpty());
}

TEST_F(PassesTest, TimesComeFromARunOfTheirOwn) {
  passes_ = {{{first_counter, second_counter}}, true};
  profile_program({"connect", "launch=a", "launch=a,700", "bye"});
  EXPECT_THAT(launches(), ElementsAre("a 64 64 1500", "a 700 700 700"));
}

TEST_F(PassesTest, TimesAreFoundForTheLaunchesThatTheFilterChose) {
  passes_ = {{{first_counter}}, true};
  selection_.skip = 1;
  // The fake program counts every launch and sends what it is told to: the second and third one.
  profile_program({"connect", "skip=a", "launch=a,2", "launch=a,3", "bye"});
  EXPECT_THAT(launches(), ElementsAre("a 2 2", "a 3 3"));
}

TEST_F(PassesTest, WhatOneRunOnlyLaunchedIsStoredWithTheReason) {
  profile_program({"connect", "launch=a,1", "in=shared_load_wavefronts", "launch=b,2",
                   "in=x__y.sum", "launch=c,3", "bye"});
  EXPECT_THAT(launches(), ElementsAre("a 1 1 -", "b 2 - -", "c - 3 -"));
  EXPECT_THAT(reasons(),
              ElementsAre("shared_load_wavefronts: only run 2 of the program launched it",
                          "x__y.sum: run 2 of the program did not launch it"));
  ASSERT_EQ(recorder_->mismatches().size(), 1U);
  const Mismatch& mismatch = recorder_->mismatches().front();
  EXPECT_EQ(mismatch.pass, 2);
  EXPECT_EQ(mismatch.missing, 1U);
  EXPECT_EQ(mismatch.additional, 1U);
  EXPECT_THAT(mismatch.kernels, ElementsAre("b", "c"));
}

TEST_F(PassesTest, ALaunchThatALaterRunWasFirstToSeeIsCompletedByTheNext) {
  passes_.counters.push_back({"z__y.sum"});
  profile_program(
      {"connect", "launch=a,1", "in=x__y.sum", "launch=c,3", "in=z__y.sum", "launch=c,4", "bye"});
  const schema::Rows rows =
      schema::Reader(database())
          .query(
              "SELECT metric, value FROM results WHERE variant = 'c' AND metric LIKE '%__y.sum' "
              "ORDER BY metric");
  EXPECT_EQ(rows.rows,
            (std::vector<std::vector<schema::Value>>{{"x__y.sum", 3.0}, {"z__y.sum", 4.0}}));
}

TEST_F(PassesTest, ARefusalInALaterRunKeepsItsReason) {
  profile_program({"connect", "in=shared_load_wavefronts", "launch", "in=x__y.sum", "refuse"});
  EXPECT_THAT(launches(), ElementsAre("reduce 64 - -"));
  EXPECT_THAT(reasons(), ElementsAre("x__y.sum: it was a trap"));
  EXPECT_EQ(recorder_->refusals().begin()->first, "it was a trap (in run 2 of the program)");
}

TEST_F(PassesTest, AProgramThatCrashesIsMeasuredUpToThere) {
  const Outcome outcome = profile_program({"connect", "launch=a,1", "launch=a,2", "crash"});
  EXPECT_EQ(outcome.ending.signal, SIGABRT);
  EXPECT_THAT(launches(), ElementsAre("a 1 1 -", "a 2 2 -"));
}

TEST_F(PassesTest, TheExitCodeIsTheFirstRunsAndAnotherOneIsSaid) {
  const Outcome outcome = profile_program({"connect", "launch", "in=x__y.sum", "exit3", "bye"});
  EXPECT_TRUE(outcome.ending.ok());
  EXPECT_THAT(remarks_, ElementsAre(HasSubstr("run 1 of 2"), HasSubstr("run 2 of 2"),
                                    HasSubstr("run 2 of the program ended with exit code 3, the "
                                              "first ended with exit code 0")));
}

TEST_F(PassesTest, AProgramThatMeasuresNothingRunsOnce) {
  profile_program({"print"});
  EXPECT_EQ(remarks_.size(), 1U);
  EXPECT_FALSE(recorder_->run_id());
}

TEST_F(PassesTest, CancellingLeavesTheOtherRunsOutAndSaysSo) {
  bool asked = false;
  options_.cancelled = [&] { return std::exchange(asked, true); };
  const Outcome outcome = profile_program({"connect", "launch=a,1", "hang"});
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_THAT(launches(), ElementsAre("a 1 - -"));
  EXPECT_THAT(reasons(), ElementsAre("x__y.sum: stopped before the run of the program that counts "
                                     "it"));
}

TEST_F(PassesTest, ATimeoutEndsEachRun) {
  options_.timeout = 200ms;
  const Outcome outcome =
      profile_program({"connect", "launch=a,1", "in=shared_load_wavefronts", "launch=a,2", "hang"});
  EXPECT_TRUE(outcome.timed_out);
  EXPECT_THAT(launches(), ElementsAre("a 1 1 -", "a 2 - -"));
  EXPECT_THAT(reasons(), ElementsAre("x__y.sum: run 2 of the program was stopped before it"));
}

TEST_F(PassesTest, OutputIsShownOnceAndInputThatIsAFileIsReadEachTime) {
  const std::string input = (folder_.path() / "input").string();
  std::ofstream(input) << "read me\n";
  const int before = dup(STDIN_FILENO), file = open(input.c_str(), O_RDONLY);
  dup2(file, STDIN_FILENO);
  testing::internal::CaptureStdout();
  const Outcome outcome = profile_program({"connect", "launch", "echo", "bye"});
  const std::string output = testing::internal::GetCapturedStdout();
  lseek(STDIN_FILENO, 0, SEEK_SET);
  profile_program({"connect", "launch", "read", "bye"});
  dup2(before, STDIN_FILENO);
  EXPECT_TRUE(outcome.ending.ok());
  EXPECT_EQ(output, "read me\n");
  // The second run could read it, too: it ended as the first.
  for (const std::string& remark : remarks_) EXPECT_THAT(remark, HasSubstr(" of 2"));
  close(before);
  close(file);
}

TEST_F(PassesTest, ChildrenAreMatchedWithTheirOwnKind) {
  const Outcome outcome = profile_program({"connect", "launch=a,1", "child=5", "child=6", "bye"});
  EXPECT_EQ(outcome.processes, 3);
  EXPECT_THAT(launches(), ElementsAre("a 1 1 -", "a 5 5 -", "a 6 6 -"));
}

}  // namespace
}  // namespace warpmeter::profile
