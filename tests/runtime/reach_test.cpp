// SPDX-License-Identifier: MIT
// A program's uses of memory that hardware would not allow, or that stand beside its kernels:
// copies onto themselves, another device's memory, kernels that wait for the host.
#include <set>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Reach : public RuntimeProgram {};

TEST_F(Reach, ACopyWhoseSidesOverlapIsAMistake) {
  std::set<int> expected, found;
  std::ifstream source(source_dir() + "/tests/runtime/programs/check_overlap.cu");
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.ends_with("// overlaps")) expected.insert(number);
  }
  const Outcome outcome = checked("check_overlap");
  EXPECT_EQ(outcome.exit_code, 6);
  std::istringstream rows(outcome.error);
  for (std::string row; std::getline(rows, row);) {
    if (!row.starts_with("overlapping copy")) continue;
    found.insert(std::stoi(row.substr(row.find(".cu:") + 4)));
  }
  EXPECT_EQ(found, expected) << outcome.error;
  EXPECT_EQ(expected.size(), 10u);
  EXPECT_THAT(outcome.error, Not(HasSubstr("out of bounds  ")));
}

TEST_F(Reach, AKernelReachesAnotherDevicesMemoryWhereItIsOpened) {
  // By the Programming Guide, "Peer-to-Peer Memory Access", and cudaMemPoolSetAccess().
  for (const char* how : {"open", "managed", "pinned", "open pool", "copied"}) {
    const Outcome outcome = profile("peer_access", {"--model-devices", "2"}, {how});
    EXPECT_EQ(outcome.output, "0 1\n") << how << outcome.error;
  }
  for (const char* how : {"closed", "closed again", "pool"}) {
    const Outcome outcome = profile("peer_access", {"--model-devices", "2"}, {how});
    EXPECT_THAT(outcome.output, HasSubstr("700 -1")) << how;  // cudaErrorIllegalAddress
    EXPECT_THAT(outcome.error, HasSubstr("lies on another device")) << how;
  }
}

TEST_F(Reach, AKernelAndTheHostRunSideBySide) {
  for (const char* how :
       {"pinned",     "registered", "driver",  "variable",  "managed",       "by value",
        "by pointer", "all blocks", "plainly", "counts",    "by call",       "copy",
        "symbol",     "set",        "value",   "kernel",    "kernel before", "kernels",
        "function",   "thread",     "process", "ping pong", "reset"}) {
    const Outcome outcome = checked("host_flag", {how});
    EXPECT_EQ(outcome.output, "7\n") << how;
    EXPECT_THAT(outcome.error, HasSubstr("Nothing was found")) << how;
    EXPECT_EQ(outcome.exit_code, 0) << how << outcome.error;
  }
  for (const char* how : {"plainly, in blocks", "ping pong", "counts"}) {
    EXPECT_EQ(profile("host_flag", {}, {how}).output, "7\n") << how;
  }
}

TEST_F(Reach, CountsOfAKernelThatWaitsForTheHostAreNotExact) {
  for (const char* how : {"pinned", "plainly"}) {
    profile("host_flag", {}, {how});
    EXPECT_EQ(value_of("SELECT grade FROM results WHERE metric = 'gld_transactions' "
                       "ORDER BY launch_id DESC LIMIT 1"),
              "modelled")
        << how;
  }
}

TEST_F(Reach, AKernelThatWaitsForNobodyIsAMistake) {
  for (const char* how : {"nobody", "nobody, pinned", "nobody, beside others", "too late", "end"}) {
    const Outcome outcome = checked("host_flag", {how});
    EXPECT_EQ(outcome.exit_code, 6) << how;
    EXPECT_THAT(outcome.error, HasSubstr("no progress: kernel 'waits'")) << how;
  }
}

TEST_F(Reach, AKernelThatAnotherThreadMayAnswerIsALimitAndNoMistake) {
  const Outcome outcome = checked("host_flag", {"perhaps a thread"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("limit of warpmeter: kernel 'waits'"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("  mistake  ")));
}

}  // namespace
}  // namespace warpmeter::cli
