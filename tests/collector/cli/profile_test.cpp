// SPDX-License-Identifier: MIT
// `warpmeter profile` as a person types it: what it refuses before the program starts. Its
// measurements are tested with a fake program (profile/session_test.cpp) and on a GPU
// (device/profile_check.sh).
#include <sstream>

#include "base/utf8.h"
#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;

class ProfileProgram : public Workspace {
 protected:
  Outcome profile(std::vector<std::string> words) const {
    words.insert(words.begin(), "profile");
    return warpmeter(words);
  }
};

TEST_F(ProfileProgram, NeedsAProgram) {
  const Outcome outcome = profile({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("needs a program"));
}

TEST_F(ProfileProgram, ThatIsNotThereIsAMistakeOfUsage) {
  write("text", "no program");
  for (const char* name : {"./nothing", "./text", "nothing-of-this-name"}) {
    const Outcome outcome = profile({name});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_THAT(outcome.error, HasSubstr("cannot be started")) << name;
  }
}

TEST_F(ProfileProgram, AnUnknownMetricIsSaidWithTheNearestNames) {
  const Outcome outcome = profile({"-m", "gld_eficiency", "true"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("gld_efficiency"));
}

TEST_F(ProfileProgram, AnUnknownPerfworksNameIsSaidWithTheNearestNames) {
#ifdef WARPMETER_SANITIZED
  GTEST_SKIP() << "a sanitized program cannot load libnvperf_host";
#endif
  for (const char* metric : {"smsp__inst_exec.sum", "smsp__inst_executed"}) {
    const Outcome outcome = profile({"-m", metric, "touch", "ran"});
    if (outcome.exit_code == 4) GTEST_SKIP() << outcome.error;  // no CUPTI
    EXPECT_EQ(outcome.exit_code, 2) << metric;
    EXPECT_THAT(outcome.error, HasSubstr("smsp__inst_executed")) << metric;
    EXPECT_FALSE(std::filesystem::exists(file("ran")));
  }
}

TEST_F(ProfileProgram, DoesNotRunWithoutADriver) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"touch", "ran"},
        {"-m", "@default", "touch", "ran"},
        {"-m", "@default", "--replay", "application", "--timing", "touch", "ran"}}) {
    const Outcome outcome = profile(words);
    if (outcome.error.find("no NVIDIA driver") == std::string::npos) {
      GTEST_SKIP() << "there is a driver here";
    }
    EXPECT_EQ(outcome.exit_code, 4);
    EXPECT_FALSE(std::filesystem::exists(file("ran")));
    EXPECT_FALSE(std::filesystem::exists(file("warpmeter.db")));
  }
}

TEST_F(ProfileProgram, MistakesInFiltersAreSaid) {
  EXPECT_THAT(profile({"-k", "regex:([", "true"}).error, HasSubstr("regular expression"));
  EXPECT_THAT(profile({"--devices", "one", "true"}).error, HasSubstr("--devices"));
  EXPECT_THAT(profile({"--replay", "application", "true"}).error, HasSubstr("--metrics"));
  EXPECT_THAT(profile({"--timing", "true"}).error, HasSubstr("--metrics"));
  EXPECT_THAT(profile({"--launch-timeout", "2", "true"}).error, HasSubstr("--metrics"));
  EXPECT_THAT(profile({"--launch-timeout", "-1", "-m", "ipc", "true"}).error,
              HasSubstr("--launch-timeout"));
  EXPECT_THAT(profile({"--replay", "aplication", "-m", "ipc", "true"}).error,
              HasSubstr("application"));
  EXPECT_THAT(profile({"-c", "0", "true"}).error, HasSubstr("--launch-count"));
  EXPECT_THAT(profile({"--metrix", "a", "true"}).error, HasSubstr("--metrics"));
}

TEST_F(ProfileProgram, OptionsAfterTheProgramAreItsOwn) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"./nothing", "--metrix", "-k"},
        {"--", "./nothing", "--help"},
        {"-s", "2", "-c3", "--label=x", "./nothing", "--version"}}) {
    const Outcome outcome = profile(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("./nothing cannot be started")) << words.front();
  }
}

TEST_F(ProfileProgram, ListsThePassesOfEachGenerationOrOfTheChipHere) {
#ifdef WARPMETER_SANITIZED
  GTEST_SKIP()
      << "a sanitized program cannot load libnvperf_host; the planner's test covers the passes";
#endif
  const Outcome outcome = profile({"-m", "@default", "--list-passes"});
  if (outcome.exit_code == 4) GTEST_SKIP() << outcome.error;  // no CUPTI
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("passes"));
  EXPECT_THAT(outcome.output, HasSubstr("runs with"));
}

/// PerfWorks calls the bytes dram__bytes_read on Hopper, and dram__bytes_op_read on Blackwell.
TEST_F(ProfileProgram, APassesListTakesANameOfOneChipAlone) {
#ifdef WARPMETER_SANITIZED
  GTEST_SKIP() << "a sanitized program cannot load libnvperf_host";
#endif
  const Outcome outcome =
      profile({"-m", "dram__bytes_read.sum", "--list-passes", "--format", "csv"});
  if (outcome.exit_code == 4) GTEST_SKIP() << outcome.error;  // no CUPTI
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  if (outcome.output.find("GB202") == std::string::npos) GTEST_SKIP() << "only the GPU here";
  EXPECT_THAT(outcome.output, HasSubstr("GH100,1,1,1,\"\"\n"));
  EXPECT_THAT(outcome.output, HasSubstr("GB202,1,0,0,dram__bytes_read.sum\n"));
  EXPECT_EQ(profile({"-m", "dram__no_such.sum", "--list-passes"}).exit_code, 2);
}

TEST_F(ProfileProgram, ATerminalSeesWhichChipIsPlannedAndNoLineBeyondItsWidth) {
#ifdef WARPMETER_SANITIZED
  GTEST_SKIP() << "a sanitized program cannot load libnvperf_host";
#endif
  Start start{{"profile", "-m", "@default", "--list-passes"}, folder_};
  start.output_is_terminal = start.error_is_terminal = true;
  const Outcome outcome = run_program(start);
  if (outcome.exit_code == 4) GTEST_SKIP() << outcome.error;  // no CUPTI
  EXPECT_THAT(outcome.error, HasSubstr("plans the passes of "));
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 81U) << line;
}

TEST_F(ProfileProgram, ANumberOfKernelsWithoutLinesIsAMistakeOfUsage) {
  const Outcome outcome = profile({"--lines-kernels", "3", "touch", "ran"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("--lines-kernels says how many kernels --lines looks at"));
  EXPECT_FALSE(std::filesystem::exists(file("ran")));
}

TEST_F(ProfileProgram, HelpNamesTheOptions) {
  const Outcome outcome = profile({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* option : {"--metrics", "--kernel-name", "--launch-skip", "--replay", "--timing",
                             "--timeout", "Examples"}) {
    EXPECT_THAT(outcome.output, HasSubstr(option));
  }
}

}  // namespace
}  // namespace warpmeter::cli
