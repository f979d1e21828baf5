// SPDX-License-Identifier: MIT
// Where a person is told that a mistake is: at a line of their own.
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Places : public RuntimeProgram {
 protected:
  std::string said(const std::string& how) const {
    const Outcome outcome = checked("check_places", {how});
    EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
    return outcome.output + outcome.error;
  }
};

TEST_F(Places, OfMistakesInKernelsOfThrustAreTheCallsOfThrust) {
  EXPECT_THAT(said("1"), AllOf(HasSubstr("uninitialised read  tests/runtime/programs/"
                                         "check_places.cu:15 "),
                               HasSubstr("; in the toolkit's code at /")));
  EXPECT_THAT(said("2"), AllOf(HasSubstr("out of bounds  tests/runtime/programs/"
                                         "check_places.cu:28 "),
                               HasSubstr("/reduce.cuh:")));
}

TEST_F(Places, OfMistakesInAFunctionThatThrustCallsAreItsLines) {
  EXPECT_THAT(said("3"), HasSubstr("out of bounds  tests/runtime/programs/check_places.cu:12 "));
}

}  // namespace
}  // namespace warpmeter::cli
