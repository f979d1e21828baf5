// SPDX-License-Identifier: MIT
#include "collector/profile/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "collector/profile/injector.h"

namespace warpmeter::profile {
namespace {

using testing::HasSubstr;

Ending run(const std::vector<std::string>& words,
           const std::map<std::string, std::string>& variables = {},
           const Program::Streams& streams = {true, true}) {
  Program program(words, variables, streams);
  for (;;) {
    if (const auto ending = program.poll()) return *ending;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string refusal(const std::string& name) {
  try {
    find_program(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(Program, IsFoundAsAShellFindsIt) {
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find_program("sh").filename(), "sh");
}

TEST(Program, ThatIsNotThereIsRefusedWithTheReason) {
  const PrivateFolder folder;
  const std::string text = (folder.path() / "text").string();
  std::ofstream(text) << "no program";
  EXPECT_THAT(refusal("/no/such/program"), HasSubstr("no such file"));
  EXPECT_THAT(refusal("no-such-program"), HasSubstr("no folder of PATH"));
  EXPECT_THAT(refusal(folder.path().string()), HasSubstr("folder"));
  EXPECT_THAT(refusal(text), HasSubstr("not executable"));
  const std::string source = (folder.path() / "app.cu").string();
  std::ofstream(source) << "int main() {}";
  EXPECT_THAT(refusal(source), HasSubstr("it is a source: nvcc -lineinfo -o app "));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_THAT(refusal("app.cu"), HasSubstr("it is a source: nvcc -lineinfo -o app app.cu makes"));
  std::filesystem::current_path(before);
  EXPECT_THAT(refusal(""), HasSubstr("cannot be started"));
}

TEST(Program, ExitCodeAndSignalAreTold) {
  EXPECT_EQ(run({"sh", "-c", "exit 7"}).exit_code, 7);
  const Ending killed = run({"sh", "-c", "kill -9 $$"});
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.status(), 137);
  EXPECT_EQ(killed.in_words(), "was ended by signal 9 (Killed)");
}

TEST(Program, GetsOurEnvironmentWithTheVariablesInIt) {
  setenv("WARPMETER_TEST_OLD", "old", 1);
  setenv("WARPMETER_TEST_KEPT", "kept", 1);
  EXPECT_EQ(run({"sh", "-c", "[ $WARPMETER_TEST_OLD$WARPMETER_TEST_KEPT = newkept ]"},
                {{"WARPMETER_TEST_OLD", "new"}})
                .exit_code,
            0);
}

TEST(Program, WithoutOurStreamsReadsAndWritesNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"sh", "-c", "echo out; echo error >&2; read line || exit 5"}, {}, {false, false})
                .exit_code,
            5);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// It would read and write our streams, which are not meant for it.
TEST(Program, IsNotStartedWhereNothingCanBeOpenedInPlaceOfOurStreams) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(STDOUT_FILENO);  // the lowest number that is free
  close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string refused;
  try {
    run({"/bin/true"}, {}, {false, false});
  } catch (const Error& error) {
    refused = error.what();
  }
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(refused, HasSubstr("/dev/null cannot be opened: Too many open files"));
}

TEST(Program, DoesNotInheritOurIgnoringOfSigpipe) {
  signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(run({"sh", "-c", "kill -PIPE $$"}).signal, SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
}

}  // namespace
}  // namespace warpmeter::profile
