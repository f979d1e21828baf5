// SPDX-License-Identifier: MIT
// Runs of a program for the lines of one kernel, with a program that speaks the protocol.
#include "collector/profile/line_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/profile/injector.h"

namespace warpmeter::profile {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LineRunTest : public testing::Test {
 protected:
  LaunchLines lines_of(const std::string& kernel, std::vector<std::string> acts) {
    options_.words = {WARPMETER_FAKE_PROGRAM};
    options_.words.insert(options_.words.end(), acts.begin(), acts.end());
    options_.injector = "/nowhere.so";
    options_.socket = folder_.path() / ("socket" + std::to_string(++runs_));
    options_.streams = {false, false};
    return look_by_line(options_, {}, mode_, kernel);
  }

  PrivateFolder folder_;
  Options options_;
  inject::Mode mode_ = inject::Mode::lines;
  int runs_ = 0;
};

TEST_F(LineRunTest, GivesTheLinesOfTheKernelsFirstLaunchAndOfNoOther) {
  const LaunchLines found = lines_of("second", {"connect", "launch=first,8", "launch=second,32",
                                                "launch=second,64", "launch=first,8", "bye"});
  EXPECT_EQ(found.reason, "");
  ASSERT_TRUE(found.shape);
  EXPECT_EQ(found.shape->grid[0], 4U);
  ASSERT_THAT(found.lines, SizeIs(2));
  const schema::Line& line = found.lines[0];
  EXPECT_EQ(line.file, "/src/app.cu");
  EXPECT_EQ(line.line, 7);
  EXPECT_EQ(line.access, "shared load");
  EXPECT_EQ(line.requests, 32U);
  EXPECT_EQ(line.transactions, 256U);
  EXPECT_EQ(line.ideal, 32U);
  EXPECT_EQ(line.grade, schema::Grade::measured);
  EXPECT_EQ(found.lines[1].access, "global store");
}

TEST_F(LineRunTest, SaysWhyALaunchHasNone) {
  const LaunchLines found = lines_of("a", {"connect", "launch=a,-1", "bye"});
  EXPECT_EQ(found.reason, "compile with -lineinfo");
  EXPECT_THAT(found.lines, IsEmpty());
}

TEST_F(LineRunTest, GivesWhatTheWarpsOfThatLaunchWaitFor) {
  mode_ = inject::Mode::stalls;
  const LaunchLines found = lines_of(
      "second", {"connect", "launch=first,8", "launch=second,32", "launch=second,64", "bye"});
  EXPECT_EQ(found.reason, "");
  EXPECT_THAT(found.lines, IsEmpty());
  ASSERT_THAT(found.stalls, SizeIs(3));
  EXPECT_EQ(found.stalls[0].file, "/src/app.cu");
  EXPECT_EQ(found.stalls[0].line, 7);
  EXPECT_EQ(found.stalls[0].reason, "short_scoreboard");
  EXPECT_EQ(found.stalls[0].samples, 96U);
  EXPECT_EQ(found.stalls[0].idle_samples, 32U);
  EXPECT_EQ(found.stalls[1].reason, "selected");
  EXPECT_EQ(found.stalls[2].file, "");
  EXPECT_EQ(found.stalls[2].line, 0);
  ASSERT_THAT(found.instructions, SizeIs(2));
  EXPECT_EQ(found.instructions[0].address, 16U);
  EXPECT_EQ(found.instructions[0].what, "short_scoreboard");
  EXPECT_EQ(found.instructions[0].count, 96U);
  EXPECT_EQ(found.instructions[1].what, "selected");
  EXPECT_EQ(lines_of("a", {"connect", "launch=a,-1", "bye"}).reason,
            "the launch was too short for a sample");
}

TEST_F(LineRunTest, SaysThatTheKernelWasNotLaunched) {
  const LaunchLines found = lines_of("missing", {"connect", "launch=a,1", "bye"});
  EXPECT_FALSE(found.shape);
  EXPECT_THAT(found.reason, HasSubstr("launched no missing outside of a CUDA graph"));
}

TEST_F(LineRunTest, SaysHowAProgramEndedThatDidNotGetThere) {
  const LaunchLines found = lines_of("missing", {"connect", "exit3"});
  EXPECT_THAT(found.reason, HasSubstr("ended with exit code 3"));
}

TEST_F(LineRunTest, SaysWhatTheProcessCouldNotDo) {
  const LaunchLines found = lines_of("a", {"connect", "problem", "bye"});
  EXPECT_EQ(found.reason, "no permission");
}

TEST_F(LineRunTest, TakesTheLinesOfTheChildThatHasThem) {
  const LaunchLines found = lines_of("a", {"connect", "launch=a,-1", "child=16", "bye"});
  EXPECT_EQ(found.reason, "");
  ASSERT_THAT(found.lines, SizeIs(2));
  EXPECT_EQ(found.lines[0].requests, 16U);
}

TEST_F(LineRunTest, LeavesOutAProcessThatBreaksTheProtocol) {
  const LaunchLines found = lines_of("a", {"connect", "noise", "launch=a,2", "bye"});
  EXPECT_THAT(found.lines, SizeIs(2));
}

TEST_F(LineRunTest, GivesTheProgramTheVariablesThatItIsToHave) {
  options_.variables = {{"WARPMETER_TEST_EXIT", "3"}};
  options_.words = {"/bin/sh", "-c", "exit $WARPMETER_TEST_EXIT"};
  options_.injector = "/nowhere.so";
  options_.socket = folder_.path() / ("socket" + std::to_string(++runs_));
  options_.streams = {false, false};
  EXPECT_THAT(look_by_line(options_, {}, inject::Mode::lines, "a").reason,
              HasSubstr("ended with exit code 3"));
}

}  // namespace
}  // namespace warpmeter::profile
