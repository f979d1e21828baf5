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

TEST_F(Reach, AKernelThatWaitsForTheHostIsALimitAndNoMistake) {
  for (const char* how : {"host", "stream"}) {
    const Outcome outcome = checked("host_flag", {how});
    EXPECT_THAT(outcome.error, HasSubstr("limit of warpmeter")) << how;
    EXPECT_THAT(outcome.error, Not(HasSubstr("  mistake  "))) << how;
    EXPECT_THAT(outcome.error, Not(HasSubstr("Nothing was found"))) << how;
  }
  EXPECT_THAT(checked("host_flag", {"stream before"}).output, HasSubstr("7"));
  const Outcome nobody = checked("host_flag", {"nobody"});
  EXPECT_EQ(nobody.exit_code, 6);
  EXPECT_THAT(nobody.error, HasSubstr("no progress: kernel 'waits'"));
}

}  // namespace
}  // namespace warpmeter::cli
