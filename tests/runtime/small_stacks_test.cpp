// SPDX-License-Identifier: MIT
// A program whose threads have small stacks: each calls CUDA to the end, whatever is measured. The
// sums are counted by hand: of 0 to 63 it is 2,016, of 3 more each 2,208, and twice that is 4,416.
// An H200 (driver 580.159.04, 2026-11-29) prints the same from 64 KiB on. On 16 and 32 KiB, and in
// the handler of a signal, NVIDIA's own driver crashes.
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(RuntimeProgram, MayHaveSmallStacks) {
  expect_output("small_stacks", "small_stacks");
  // Ten places, of two launches and one each; 64 ints are 8 sectors, and who prints reads one
  // again.
  EXPECT_EQ(counts(), "add,20,9,8\ntwice,10,8,8\n");
}

TEST_F(RuntimeProgram, MayHaveSmallStacksWhateverIsMeasured) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"-m", "@all"}, {"-m", "@default", "--lines"}, {"--trace"}}) {
    std::vector<std::string> words = {"profile", "-b", "model"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(program("small_stacks"));
    const Outcome outcome = run_program({words, folder_, {{"LD_LIBRARY_PATH", ""}}});
    EXPECT_EQ(outcome.output, expected("small_stacks")) << outcome.error;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  }
}

TEST_F(RuntimeProgram, MayHaveSmallStacksWhileItIsChecked) {
  const Outcome outcome = checked("small_stacks");
  EXPECT_THAT(outcome.output, HasSubstr(expected("small_stacks"))) << outcome.error;
  EXPECT_THAT(outcome.error, Not(HasSubstr("ended by signal"))) << outcome.error;
}

/// The main thread's stack and those that threads have by default are as large as the limit.
TEST_F(RuntimeProgram, MayHaveASmallLimitOfTheStack) {
  Start start{{"profile", "-b", "model", "-m", "@default", program("threads")},
              folder_,
              {{"LD_LIBRARY_PATH", ""}}};
  start.most_stack = std::size_t{64} << 10;
  const Outcome outcome = run_program(start);
  EXPECT_EQ(outcome.output, expected("threads")) << outcome.error;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

}  // namespace
}  // namespace warpmeter::cli
