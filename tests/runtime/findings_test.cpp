// SPDX-License-Identifier: MIT
// The answers of `profile --check` about whole programs: the rows in expected/check_NAME.txt, which
// are the mistakes planted in programs/check_NAME.cu (expected/README.md).
#include <regex>
#include <sstream>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The rows of the table of findings, and the exit code: expected/README.md.
std::string findings_of(const Outcome& outcome) {
  std::string rows;
  std::istringstream lines(outcome.error);
  bool is_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("finding ")) {
      is_table = true;
      std::getline(lines, line);  // the rule below the headings
      continue;
    }
    if (line.empty() || line.starts_with("Looked") || line.starts_with("Nothing")) is_table = false;
    if (!is_table) continue;
    rows += std::regex_replace(line, std::regex("   +"), "  ") + "\n";
  }
  return rows + "exit " + std::to_string(outcome.exit_code) + "\n";
}

/// `#` in the expected text stands for a number.
MATCHER_P(FitsRows, rows, "") {
  std::size_t at = 0;
  for (const char c : rows) {
    if (c != '#') {
      if (at == arg.size() || arg[at++] != c) return false;
      continue;
    }
    const std::size_t begin = at;
    while (at < arg.size() && arg[at] >= '0' && arg[at] <= '9') ++at;
    if (at == begin) return false;
  }
  return at == arg.size();
}

TEST_F(RuntimeProgram, IsToldItsMistakes) {
  for (const char* name : {"check_barrier",
                           "check_bulk",
                           "check_children",
                           "check_clean",
                           "check_cluster_failure",
                           "check_direction",
                           "check_direction_taken",
                           "check_driver",
                           "check_equal_writes",
                           "check_grid",
                           "check_heap",
                           "check_host_access",
                           "check_host_variables",
                           "check_ignored_launch",
                           "check_later_copies",
                           "check_launches",
                           "check_memory",
                           "check_misaligned",
                           "check_out_of_bounds",
                           "check_questions",
                           "check_race",
                           "check_refused",
                           "check_tensor",
                           "check_uninitialised",
                           "check_unset_parts",
                           "check_updates",
                           "check_use_after_free",
                           "check_warpgroups"}) {
    const Outcome outcome = checked(name);
    EXPECT_THAT(findings_of(outcome), FitsRows(expected(name))) << name << ": " << outcome.error;
  }
}

/// As on an H200, which shows nothing of it.
TEST_F(RuntimeProgram, LosesWhatItPrintsBehindTheLastWait) {
  const Outcome outcome = profile("check_host_variables");
  EXPECT_EQ(outcome.output.substr(0, outcome.output.find("Type")), "hello\n");
  EXPECT_THAT(outcome.error, HasSubstr("since the last wait is lost, as on a GPU: call "
                                       "cudaDeviceSynchronize()"));
}

TEST_F(RuntimeProgram, IsToldWhatMemoryOfTheHostItRunsOverOrHasFreed) {
  const auto found = [&](const char* which) {
    return findings_of(checked("check_host_ends", {which}));
  };
  const std::string place = "tests/runtime/programs/check_host_ends.cu:";
  EXPECT_THAT(found("past"),
              HasSubstr(place + "16  mistake  1  host code reads past the end of managed memory: "
                                "the first byte behind the 4,096 bytes of 'managed' (allocated"));
  EXPECT_THAT(found("written"),
              HasSubstr(place + "24  mistake  1  host code writes past the end of pinned memory: "
                                "300 bytes behind the 8,000 bytes of 'pinned' (allocated"));
  EXPECT_THAT(found("freed"),
              HasSubstr(place +
                        "33  mistake  1  host code reads managed memory: byte 12 of "
                        "'managed' (allocated at " +
                        place + "30), which was freed at " + place + "32;"));
  EXPECT_THAT(found("pinned"), HasSubstr(place + "40  mistake  1  host code reads pinned memory"));
  EXPECT_THAT(found("front"), HasSubstr(place + "53  mistake  1  host code reads in front of "
                                                "managed memory: 4 bytes before 'managed'"));
  EXPECT_THAT(found("behind"),
              HasSubstr(place + "45  mistake  1  host code has written past the end of 'managed'"));
}

TEST_F(RuntimeProgram, IsToldOfKernelsOfTheDriversApiThatFailUnnoticed) {
  const std::string asked = findings_of(checked("check_driver_failure", {"asks"}));
  const std::string unasked = findings_of(checked("check_driver_failure"));
  EXPECT_THAT(asked, Not(HasSubstr("ignored error")));
  EXPECT_THAT(asked, Not(HasSubstr("failed call"))) << "it tells what the kernel did";
  EXPECT_THAT(unasked, HasSubstr("ignored error"));
  EXPECT_THAT(unasked, HasSubstr("call cuCtxSynchronize() and look"));
}

TEST_F(RuntimeProgram, IsToldThatVolatileAccessesNeverRaceWhereItHasSome) {
  const auto text = [&](const char* name) {  // lines break anywhere
    return std::regex_replace(checked(name).error, std::regex("\\s+"), " ");
  };
  EXPECT_THAT(text("check_driver"), HasSubstr("races of volatile, relaxed, acquiring"));
  EXPECT_THAT(text("check_clean"), Not(HasSubstr("races of volatile")));
}

}  // namespace
}  // namespace warpmeter::cli
