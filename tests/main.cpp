// SPDX-License-Identifier: MIT
// The main function of the test programs: GoogleTest's, and the list of their tests for ctest.
//
//   PROGRAM --write_ctest=FILE environment=ENVIRONMENT NAME:MODE:SOURCE…
//
// A test of ctest is a suite of a source file, called NAME.Suite: one process
// for its tests, which take milliseconds where starting a program with sanitizers takes a hundred.
// Three modes differ: `each` gives every test a process of its own, for tests of seconds, so that
// all cores have something to do; `whole` makes one test of the file, whose suites share what they
// computed; suites that are `long` begin before those of milliseconds. A test in a file that is not
// named is an error: nothing is left out unseen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

/// The exit code of a program when each of its tests was skipped; ctest says so.
constexpr int all_skipped = 77;

struct Source {
  std::string name, mode;
};

/// Filters of GoogleTest by names of ctest.
using Registered = std::map<std::string, std::string>;

void add(Registered& tests, const std::string& name, const std::string& filter) {
  std::string& all = tests[name];
  all += (all.empty() ? "" : ":") + filter;
}

/// False: a test is in no file that was named.
bool register_tests(const std::map<std::string, Source>& sources, Registered& tests,
                    Registered& long_ones, Registered& slow) {
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *unit.GetTestSuite(i);
    std::map<std::string, std::vector<std::string>> of_names;  // a suite may be in several files
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string full = std::string(suite.name()) + "." + test.name();
      const auto source = sources.find(test.file());
      if (source == sources.end()) {
        std::cerr << full << " is in " << test.file()
                  << ", which its CMakeLists.txt does not name\n";
        return false;
      }
      const auto& [name, mode] = source->second;
      if (mode == "long") {
        add(long_ones, name + "." + suite.name(), full);
      } else if (mode == "each") {
        slow[name + "." + full] = full;
      } else if (mode == "whole") {
        add(slow, name, full);
      } else {
        of_names[name + "." + suite.name()].push_back(full);
      }
    }
    for (const auto& [name, all] : of_names) {
      if (static_cast<int>(all.size()) == suite.total_test_count()) {
        tests[name] = std::string(suite.name()) + ".*";
      } else {
        for (const std::string& full : all) add(tests, name, full);
      }
    }
  }
  return true;
}

int write_ctest(const std::string& file, int argc, char** argv) {
  const std::string program = argv[0];
  const std::string environment =
      argc > 1 ? std::string(argv[1]).substr(std::strlen("environment=")) : "";
  std::map<std::string, Source> sources;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t first = word.find(':'), second = word.find(':', first + 1);
    sources[word.substr(second + 1)] = {word.substr(0, first),
                                        word.substr(first + 1, second - first - 1)};
  }
  Registered tests, long_ones, slow;
  if (!register_tests(sources, tests, long_ones, slow)) return 1;
  std::ofstream out(file);
  const auto write = [&](const Registered& some, std::ptrdiff_t least_cost, bool grows) {
    for (const auto& [name, filter] : some) {
      const auto others = std::count(filter.begin(), filter.end(), ':');
      const std::ptrdiff_t cost = least_cost + (grows ? others : 0);
      out << "add_test([==[" << name << "]==] [==[" << program
          << "]==] [==[--gtest_filter=" << filter << "]==])\n"
          << "set_tests_properties([==[" << name << "]==] PROPERTIES SKIP_RETURN_CODE "
          << all_skipped << " COST " << cost << " ENVIRONMENT [==[" << environment << "]==])\n";
    }
  };
  write(slow, 100, false);  // first, lest a long one is alone at the end
  write(long_ones, 10, true);
  write(tests, 1, false);
  return out.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const char* const option = "--write_ctest=";
  if (argc > 1 && std::strncmp(argv[1], option, std::strlen(option)) == 0) {
    const std::string file = argv[1] + std::strlen(option);
    argv[1] = argv[0];
    return write_ctest(file, argc - 1, argv + 1);
  }
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  const bool is_all_skipped = unit.skipped_test_count() > 0 && unit.successful_test_count() == 0;
  return failed == 0 && is_all_skipped ? all_skipped : failed;
}
