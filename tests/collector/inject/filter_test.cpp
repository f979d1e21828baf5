// SPDX-License-Identifier: MIT
#include "collector/inject/filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace warpmeter::inject {
namespace {

Selection kernels(const std::string& pattern) {
  Selection selection;
  selection.kernel = pattern;
  return selection;
}

/// Which of `launches` launches of "reduce" on device 0 are taken: "-++-".
std::string taken(Filter& filter, int launches) {
  std::string marks;
  for (int i = 0; i < launches; ++i) marks += filter.takes("reduce", 0) ? '+' : '-';
  return marks;
}

TEST(Filter, TakesEverythingWhenNothingIsChosen) {
  Filter filter{Selection{}};
  EXPECT_EQ(taken(filter, 3), "+++");
}

TEST(Filter, ANameIsTheWholeFunctionName) {
  Filter filter(kernels("reduce"));
  EXPECT_TRUE(filter.takes("_Z6reduceILi4EEvPf", 0));
  EXPECT_FALSE(filter.takes("_Z7reducerPf", 0));
}

TEST(Filter, ANameTellsInstancesApartAsTablesDo) {
  Filter filter(kernels("reduce<4>"));
  EXPECT_TRUE(filter.takes("_Z6reduceILi4EEvPf", 0));
  EXPECT_FALSE(filter.takes("_Z6reduceILi8EEvPf", 0));
}

TEST(Filter, ARegularExpressionIsFoundAnywhereInTheName) {
  Filter filter(kernels("regex:duce$"));
  EXPECT_TRUE(filter.takes("_Z6reduceILi4EEvPf", 0));
  EXPECT_FALSE(filter.takes("_Z7reducerPf", 0));
}

TEST(Filter, ABadRegularExpressionIsAMistakeOfUsage) {
  try {
    KernelPattern{"regex:(["};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("(["), std::string::npos);
  }
}

// 100,000 parentheses once took the stack of the C library's compiler of patterns.
TEST(Filter, ALongRegularExpressionIsAMistakeOfUsage) {
  try {
    KernelPattern{"regex:" + std::string(100'000, '(')};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("100000 characters"), std::string::npos);
  }
  EXPECT_TRUE(KernelPattern("regex:" + std::string(2'000, '(') + "f" + std::string(2'000, ')'))
                  .matches("f"));
}

// It would be 16 million letters, and the C library's compiler of patterns would take all memory.
TEST(Filter, BoundsThatRepeatPartsTooOftenAreAMistakeOfUsage) {
  try {
    KernelPattern{"regex:((a{1,255}){1,255}){1,255}"};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("write smaller ones"), std::string::npos);
  }
  EXPECT_TRUE(KernelPattern("regex:^(ab{2}){3}[{(]*x\\{$").matches("abbabbabbx{"));
  EXPECT_FALSE(KernelPattern("regex:^(ab{2}){3}$").matches("abbabb"));
  EXPECT_TRUE(KernelPattern("regex:^k{40,60}$").matches(std::string(50, 'k')));
}

TEST(Filter, SkipAndCountCountChosenLaunchesOnly) {
  Selection selection = kernels("reduce");
  selection.skip = 1;
  selection.count = 2;
  Filter filter(selection);
  EXPECT_FALSE(filter.takes("scan", 0));
  EXPECT_EQ(taken(filter, 2), "-+");
  EXPECT_FALSE(filter.takes("scan", 0));
  EXPECT_EQ(taken(filter, 3), "+--");
}

TEST(Filter, OtherDevicesAreLeftOut) {
  Selection selection;
  selection.devices = {1, 3};
  Filter filter(selection);
  EXPECT_FALSE(filter.takes("reduce", 0));
  EXPECT_TRUE(filter.takes("reduce", 3));
}

TEST(Filter, OneOfTheRangesMustBeOpen) {
  Selection selection;
  selection.ranges = {"solve", "check"};
  Filter filter(selection);
  const std::vector<std::string> inside = {"whole", "solve"}, outside = {"whole"};
  EXPECT_TRUE(filter.takes("reduce", 0, inside));
  EXPECT_FALSE(filter.takes("reduce", 0, outside));
  EXPECT_FALSE(filter.takes("reduce", 0));
}

}  // namespace
}  // namespace warpmeter::inject
