// SPDX-License-Identifier: MIT
// The answers of `profile --check` about programs with several streams: a race on every line that
// says so, and on no other; and nothing of programs that are right.
#include <regex>
#include <set>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Races : public Workspace {
 protected:
  Outcome check(const std::string& name, const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> words = {"profile", "--check", "-b", "model",
                                      binary_dir() + "/tests/runtime/" + name};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program({words, folder_, {{"LD_LIBRARY_PATH", ""}}});
  }
};

using Lines = std::set<std::string>;  ///< "race between streams 12"

/// "// race" at a line's end, or "// race: host".
Lines lines_that_say_so(const std::string& name) {
  std::ifstream source(source_dir() + "/tests/runtime/programs/" + name + ".cu");
  Lines lines;
  std::size_t number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    const std::size_t mark = line.find("// race");
    if (mark == std::string::npos) continue;
    const std::string kind = line.substr(mark + 3);
    lines.insert(std::string(kind == "race" ? "race between streams" : "race with the host") + " " +
                 std::to_string(number));
  }
  return lines;
}

Lines lines_found(const std::string& name, const std::string& text) {
  const std::regex row("(?:^|\n)(race [a-z ]*[a-z])  +\\S*" + name + "\\.cu:(\\d+) ");
  Lines lines;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) {
    lines.insert((*it)[1].str() + " " + (*it)[2].str());
  }
  return lines;
}

TEST_F(Races, BetweenStreamsAreFoundWhereTheyAre) {
  const Outcome outcome = check("check_stream_races");
  EXPECT_EQ(outcome.exit_code, 6);
  const Lines expected = lines_that_say_so("check_stream_races");
  EXPECT_GE(expected.size(), 42u);
  EXPECT_EQ(lines_found("check_stream_races", outcome.error), expected) << outcome.error;
}

TEST_F(Races, BetweenStreamsNameBothOperationsAndTheWayOut) {
  const std::string text = check("check_stream_races").error;
  EXPECT_THAT(text, testing::ContainsRegex(
                        "kernel 'move' in stream [0-9]+ reads 4,096 bytes of 'x' \\(allocated at "
                        "[^)]*races.h:[0-9]+\\), from byte 0 on, which kernel 'fill' in stream "
                        "[0-9]+ \\(launched at [^)]*\\) writes, and nothing orders the two: "
                        "record an event behind the first"));
  EXPECT_THAT(text, HasSubstr("waits for an event that was not recorded yet, which is no wait"));
  EXPECT_THAT(text, HasSubstr("was made with cudaStreamNonBlocking and the default stream do not"));
  EXPECT_THAT(text, HasSubstr("add an edge between the two nodes of the graph"));
  EXPECT_THAT(text, HasSubstr("cudaFreeAsync in stream"));
}

/// The program goes on as without: what it prints is right.
TEST_F(Races, OfHostCodeThatDoesNotWaitAreFoundWhereItTouches) {
  const Outcome outcome = check("check_host_reads");
  EXPECT_EQ(outcome.exit_code, 6);
  const Lines expected = lines_that_say_so("check_host_reads");
  EXPECT_GE(expected.size(), 11u);
  EXPECT_EQ(lines_found("check_host_reads", outcome.error), expected) << outcome.error;
  // By hand: 1 to 1,024 in managed_memory_without_a_wait(), 100,000 of the large array, 42 of
  // others.
  EXPECT_EQ(outcome.output, std::to_string(1024 * 1025 / 2 + 100'000 + 42) + "\n");
  EXPECT_THAT(
      outcome.error,
      testing::ContainsRegex(
          "host code reads byte 0 of '[a-z]+' \\(allocated at [^)]*\\), which kernel 'fill' in "
          "the default stream \\(launched at [^)]*check_host_reads.cu:[0-9]+\\) might still be "
          "writing: wait for it before \\(cudaDeviceSynchronize"));
}

/// Fields of structures, variables beside each other, and what the system touches for the program:
/// what is right gets no finding, and all of it the result that it would have without.
TEST_F(Races, OfHostCodeAreToldApartWithinAPage) {
  const Outcome outcome = check("check_host_parts");
  EXPECT_EQ(outcome.exit_code, 6);
  const Lines expected = lines_that_say_so("check_host_parts");
  EXPECT_GE(expected.size(), 16u);
  EXPECT_EQ(lines_found("check_host_parts", outcome.error), expected) << outcome.error;
  // By hand: bytes of write(), read() and writev(); elements of fread() and fwrite(); what
  // system_has_the_other_half() sees; table[2000]; 0 to 19 and 18 of other_field(); 28 of others.
  EXPECT_EQ(outcome.output, std::to_string(3 * 12'000 + 2 * 3'000 + (400 + 400 + 2'800 + 101) +
                                           2'001 + (19 * 20 / 2 + 18) + 28) +
                                "\n");
  EXPECT_THAT(outcome.error, HasSubstr("host code reads byte 0 of 'steps', which kernel"));
  EXPECT_THAT(outcome.error, HasSubstr("host code (by fread()) writes byte 0 of 'out'"));
}

TEST_F(Races, OfTheHostAreFoundAlthoughTheProgramHandlesTheSignalItself) {
  const Outcome outcome = check("check_own_handler");
  EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
  // The plain handler came; it was the one before; the other one came; it is in place. Element 0.
  EXPECT_EQ(outcome.output, "1121\n1\n");
  EXPECT_EQ(lines_found("check_own_handler", outcome.error),
            lines_that_say_so("check_own_handler"));
  const Outcome past = check("check_own_handler", {"past"});
  EXPECT_EQ(past.exit_code, 0) << past.error;
  EXPECT_EQ(past.output, "1121\n1\n");
  EXPECT_THAT(past.error, HasSubstr("the program handles SIGSEGV by a way of its own"));
  EXPECT_THAT(std::regex_replace(past.error, std::regex("\\s+"), " "),
              HasSubstr("races on memory beyond what this machine could follow"));
}

TEST_F(Races, AreNotFoundInProgramsThatAreRight) {
  for (const char* name : {"check_stream_order", "check_host_order"}) {
    const Outcome outcome = check(name);
    EXPECT_EQ(outcome.exit_code, 0) << name << ": " << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr("Nothing was found")) << name;
    EXPECT_EQ(outcome.output, "") << name;
  }
}

/// CUB's and Thrust's own use of registers, shared memory and ranges in place: remarks, on the
/// user's line where the code was inlined into the user's kernel.
TEST_F(Races, AndUnsetSharedMemoryOfTheToolkitsCodeAreNoMistakes) {
  const Outcome outcome = check("check_algorithms");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  // (7,919 i) mod 1,000 is 999 for i = 321. 20,000 numbers i / 3: the first 6,666 is at 19,998.
  EXPECT_EQ(outcome.output, "0 999\n19998\n6667\n");
  const std::string error = std::regex_replace(outcome.error, std::regex("\\s+"), " ");
  EXPECT_THAT(error, HasSubstr("check_algorithms.cu:22 remark"));
  EXPECT_THAT(error, HasSubstr("in code of the toolkit, which may make no use of it"));
  EXPECT_THAT(error, HasSubstr("in code of the toolkit, which may order them otherwise"));
  EXPECT_THAT(error, Not(HasSubstr("--check found")));
  EXPECT_THAT(error, Not(HasSubstr("Nothing was found")));
}

/// A kernel's mistake around such code is its own mistake.
TEST_F(Races, AndUnsetValuesOfTheProgramAroundTheToolkitsCodeAreFound) {
  const Outcome outcome = check("check_collectives");
  EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
  const std::string error = std::regex_replace(outcome.error, std::regex("\\s+"), " ");
  EXPECT_THAT(error, HasSubstr("check_collectives.cu:11 mistake"));
  EXPECT_THAT(error, HasSubstr("check_collectives.cu:20 mistake"));
}

}  // namespace
}  // namespace warpmeter::cli
