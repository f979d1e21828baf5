// SPDX-License-Identifier: MIT
// A test with a folder of its own, where the program runs and its database lies.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/temporary.h"
#include "tests/collector/cli/program.h"

namespace warpmeter::cli {

/// `text` with the first `from` in it, which must be there, replaced.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

class Workspace : public ::testing::Test {
 protected:
  Outcome warpmeter(std::vector<std::string> words) const {
    return run_program({std::move(words), folder_});
  }

  /// A small run on the model; its launches are in warpmeter.db.
  void measure_something() const {
    const Outcome outcome = warpmeter({"run", "vector_add", "-n", "1000", "-b", "model", "-q"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  }

  /// The single value that a query answers.
  std::string value_of(const std::string& sql) const {
    const Outcome outcome = warpmeter({"query", sql, "--format", "csv"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    const std::size_t heading_end = outcome.output.find('\n');
    const std::size_t end = outcome.output.find('\n', heading_end + 1);
    return outcome.output.substr(heading_end + 1, end - heading_end - 1);
  }

  std::filesystem::path file(const std::string& name) const { return folder_ / name; }

  std::string contents(const std::string& name) const {
    std::ifstream stream(file(name));
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

}  // namespace warpmeter::cli
