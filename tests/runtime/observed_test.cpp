// SPDX-License-Identifier: MIT
// The answers of `profile --check` about programs of which it did not see everything: killed, ended
// in the middle, or started where the library does not come.
#include <sys/stat.h>
#include <unistd.h>

#include <regex>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Observed : public Workspace {
 protected:
  /// The text on standard error, in one line: its lines break anywhere.
  struct Answer {
    int exit_code = 0;
    std::string text;
  };
  Answer check(const std::vector<std::string>& words, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"profile", "--check", "-b", "model"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_program({all, folder_, {{"LD_LIBRARY_PATH", ""}}});
    return {outcome.exit_code, std::regex_replace(outcome.error, std::regex("\\s+"), " ")};
  }
  std::string script(const std::string& text) {
    const std::string path = file("script.sh").string();
    std::ofstream(path) << "#!/bin/sh\n" << text;
    chmod(path.c_str(), 0755);
    return path;
  }
  static std::string program(const std::string& name) {
    return binary_dir() + "/tests/runtime/" + name;
  }
  const std::string clean_ = program("check_endings");
};

constexpr const char* clean = "Nothing was found of what was looked for in the program";
constexpr const char* unended = "what a process would have done that did not come to its end";

TEST_F(Observed, AProgramThatEndsInOrderIsClean) {
  const Answer returns = check({clean_}, {"-v"});
  EXPECT_EQ(returns.exit_code, 0);
  EXPECT_THAT(returns.text, HasSubstr(std::string(clean) + " and its one launch"));
  EXPECT_THAT(returns.text, HasSubstr("whether what kernels allocate themselves (malloc, new) is"));
  EXPECT_THAT(check({clean_, "no call"}).text,
              HasSubstr(std::string(clean) + ", which launched nothing"));
  EXPECT_THAT(check({clean_, "another program"}).text,
              HasSubstr(std::string(clean) + " and its one launch"));
}

TEST_F(Observed, AProgramNoneOfWhoseLaunchesCanRunIsNotCalledClean) {
  const Answer answer = check({program("endings_machine_code")});
  EXPECT_EQ(answer.exit_code, 3);
  EXPECT_THAT(answer.text, HasSubstr("nothing was checked: no launch of the program could run"));
  EXPECT_THAT(answer.text,
              HasSubstr("Looked for in the program, none of whose launches could run"));
}

TEST_F(Observed, AProgramThatEndsInTheMiddleIsNotCalledCleanAndHasItsLaunches) {
  for (const char* how : {"_exit", "abort", "child"}) {
    const Answer answer = check({clean_, how});
    EXPECT_EQ(answer.exit_code, std::string(how) == "abort" ? 134 : 0) << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("Looked for in the program and its one launch")) << how;
    EXPECT_THAT(answer.text, HasSubstr(unended)) << how;
  }
}

/// A daemon closes whatever it did not open.
TEST_F(Observed, AProgramThatClosesTheConnectionIsNamed) {
  const char* const named = "closed its connection to warpmeter";
  const Answer checked = check({clean_, "closes in the middle"});
  EXPECT_EQ(checked.exit_code, 0) << checked.text;
  EXPECT_THAT(checked.text, HasSubstr("Looked for in the program and its one launch"));
  EXPECT_THAT(checked.text, HasSubstr(unended));
  EXPECT_THAT(checked.text, HasSubstr(named));
  const Outcome measured = run_program(
      {{"profile", "-b", "model", clean_, "closes"}, folder_, {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_EQ(measured.exit_code, 3);
  EXPECT_THAT(measured.error, HasSubstr(named));
  EXPECT_THAT(measured.error, HasSubstr("nothing was measured before the connection"));
  for (const char* how : {"_exit", "abort", "child", "killed before a call", "then another"}) {
    EXPECT_THAT(check({clean_, how}).text, Not(HasSubstr(named))) << how;
  }
}

TEST_F(Observed, AProgramThatEndsOutOfOrderIsNotSaidToHaveLaunchedNothing) {
  const Outcome outcome = run_program(
      {{"profile", "-b", "model", clean_, "no launch"}, folder_, {{"LD_LIBRARY_PATH", ""}}});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("before a process ended out of order"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("launched no kernel")));
}

TEST_F(Observed, AProgramThatIsKilledBeforeItsFirstCallIsNotCalledClean) {
  const Answer direct = check({clean_, "killed before a call"});
  EXPECT_EQ(direct.exit_code, 137);
  EXPECT_THAT(direct.text, HasSubstr("Looked for in the program, which launched nothing"));
  EXPECT_THAT(direct.text, HasSubstr(unended));
  // A program without CUDA tells nothing of itself at all.
  EXPECT_THAT(check({script("kill -9 $$\n")}).text, HasSubstr(unended));
  // Nor is it forgotten behind one that is clean.
  const Answer child =
      check({script("'" + clean_ + "' 'killed before a call'\n'" + clean_ + "'\n")});
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_THAT(child.text, HasSubstr("Looked for in the program and its one launch"));
  EXPECT_THAT(child.text, HasSubstr(unended));
}

TEST_F(Observed, AProgramThatStartsOthersUnobservedIsNotCalledClean) {
  const std::string stripped = program("launches_stripped");
  const Answer answer = check({script("'" + stripped + "'\n'" + clean_ + "'\n")});
  EXPECT_EQ(answer.exit_code, 0);
  EXPECT_THAT(answer.text, HasSubstr("Looked for in the program and its one launch"));
  EXPECT_THAT(answer.text, HasSubstr("started and not observed: " + stripped));
  EXPECT_THAT(answer.text, HasSubstr(stripped + " was not observed: the CUDA runtime is linked"));
  const Answer emptied = check({script("env -i '" + clean_ + "'\n'" + clean_ + "'\n")});
  EXPECT_THAT(emptied.text, HasSubstr("Looked for in the program and its one launch"));
  EXPECT_THAT(emptied.text, HasSubstr(clean_ + " was not observed: it is started with another"));
  const Answer whole = check({script("'" + program("starts_static") + "'\n'" + clean_ + "'\n")});
  EXPECT_THAT(whole.text, HasSubstr("starts_static was not observed: it is statically linked"));
  EXPECT_THAT(check({script("env -i '" + clean_ + "'\n'" + clean_ + "'\n")},
                    {"--target-processes", "application-only"})
                  .text,
              Not(HasSubstr("not observed")));
}

/// For sm_100 its PTX has to be compiled, which nobody has done before in this folder.
TEST_F(Observed, WhatWarpmeterStartsItselfIsNoGap) {
  const Outcome outcome = run_program(
      {{"profile", "--check", "-b", "model", "--arch", "sm_100", program("check_occupancy")},
       folder_,
       {{"LD_LIBRARY_PATH", ""}, {"XDG_CACHE_HOME", file("new").string()}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(std::filesystem::exists(file("new"))) << outcome.error;  // ptxas was at work
  EXPECT_THAT(outcome.error, Not(HasSubstr("ptxas"))) << outcome.error;
}

TEST_F(Observed, ProgramsThatCannotUseCudaOrAreHeardOfAreNoGap) {
  const Answer answer =
      check({script("'" + program("no_cuda_static") + "'\n'" + program("no_cuda") +
                    "'\nPATH=/nowhere:$PATH ls\nmissing\n'" + clean_ + "'\n")});
  EXPECT_THAT(answer.text, HasSubstr(std::string(clean) + " and its one launch"));
}

/// Another user can neither reach the socket nor, maybe, read the library.
TEST_F(Observed, AProgramThatRunsAsAnotherUserIsNotCalledClean) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string no_cuda = "/bin/true";
  const Answer answer =
      check({script("'" + clean_ + "'\n'" + program("drops") + "' " + no_cuda + "\n")});
  EXPECT_THAT(answer.text, HasSubstr("Looked for in the program and its one launch"));
  EXPECT_THAT(answer.text, HasSubstr(no_cuda + " was not observed: it runs as another user"));
  EXPECT_THAT(answer.text, Not(HasSubstr(clean)));
}

TEST_F(Observed, ByWhateverWayAProgramIsStarted) {
  for (const char* how : {"execve", "execv", "execvp", "execvpe", "execveat", "fexecve", "execl",
                          "execlp", "execle", "posix_spawn", "posix_spawnp", "system", "popen"}) {
    const Answer answer = check({program("starts"), how, program("no_cuda")});
    EXPECT_EQ(answer.exit_code, 3) << how << answer.text;
    EXPECT_THAT(answer.text, HasSubstr("Looked for in the program, which launched nothing")) << how;
    EXPECT_THAT(answer.text, HasSubstr("was not observed: it is started with another")) << how;
  }
  const Answer answer = check({program("starts"), "with environment", program("no_cuda")});
  EXPECT_THAT(answer.text, HasSubstr(clean));
}

}  // namespace
}  // namespace warpmeter::cli
