// SPDX-License-Identifier: MIT
// Programs that are linked with a library of kernels: it is initialised before they are, and has to
// find the runtime answered by then.
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

class RuntimeProgramWithALibrary : public RuntimeProgram {};

TEST_F(RuntimeProgramWithALibrary, RunsAndCountsItsKernels) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's library has to be initialised before ours";
#endif
  expect_output("with_library", "with_library");
  EXPECT_EQ(counts(), "of_library,1,0,4\nof_program,1,0,0\n");
}

}  // namespace
}  // namespace warpmeter::cli
