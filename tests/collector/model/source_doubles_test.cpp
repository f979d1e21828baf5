// SPDX-License-Identifier: MIT
// The cause of double arithmetic in a source line. A line of 300,000 digits once ended the program:
// a regular expression took a stack frame a digit.
#include "collector/model/explain/source_doubles.h"

#include <gtest/gtest.h>

#include <string>

namespace warpmeter::model::explain {
namespace {

TEST(SourceDoubles, FindsLiteralsWithoutSuffix) {
  for (const char* code :
       {"x*0.5", ".5*x", "5.", "x = 1e3;", "1.5E-7+x", "f(2.,x)", "0.1", "-1e+2"}) {
    EXPECT_TRUE(has_double_literal(code)) << code;
  }
  for (const char* code : {"", ".", "x", "5", "0.5f", ".5f", "5.f", "1e3f", "x1.5", "a.5", "1e",
                           "1.0e", "0x1e3", "v.x", "x[3].y", "1..2", "1.5.x", "e5", "10u"}) {
    EXPECT_FALSE(has_double_literal(code)) << code;
  }
}

TEST(SourceDoubles, NamesTheCause) {
  EXPECT_STREQ(cause_of_doubles("y = x * 0.5;"), "A literal without f makes it so");
  EXPECT_STREQ(cause_of_doubles("y = x * M_PI;"), "A constant of math.h is a double");
  EXPECT_STREQ(cause_of_doubles("double y = x;"), "The line asks for double");
  EXPECT_STREQ(cause_of_doubles("y = sqrt(x);  // double 0.5 M_PI"), "The line computes in double");
  EXPECT_STREQ(cause_of_doubles("doubles + M_ + DIM_X"), "The line computes in double");
}

TEST(SourceDoubles, ReadsALineOfAnyLength) {
  const std::string digits(300'000, '1'), name(300'000, 'M');
  EXPECT_STREQ(cause_of_doubles("/* " + digits + " */ y = x;"), "The line computes in double");
  EXPECT_STREQ(cause_of_doubles(name + " " + digits + ".5"), "A literal without f makes it so");
}

}  // namespace
}  // namespace warpmeter::model::explain
