// SPDX-License-Identifier: MIT
// The parts that tests of programs without a GPU share: how one is run, what it has to print, and
// what was counted of it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::string program(const std::string& name) {
  return binary_dir() + "/tests/runtime/" + name;
}

inline std::string expected(const std::string& name) {
  return text_of(source_dir() + "/tests/runtime/expected/" + name + ".txt");
}

class RuntimeProgram : public Workspace {
 protected:
  /// Whatever was counted holds what holds for every launch.
  void TearDown() override {
    if (!std::filesystem::exists(file("warpmeter.db"))) return;
    const Outcome broken =
        warpmeter({"query", text_of(source_dir() + "/tests/invariants.sql"), "--format", "csv"});
    EXPECT_EQ(broken.output, "rule,launch_id,broken\n") << broken.error;
  }
  /// Without the toolkit's libraries in sight, as on a machine that has none.
  Outcome profile(const std::string& name, const std::vector<std::string>& more = {},
                  const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> words = {"profile", "-b", "model", "-m", "@default"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back(program(name));
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program({words, folder_, {{"LD_LIBRARY_PATH", ""}}});
  }
  /// From the repository's root, so that places are what expected/ has.
  Outcome checked(const std::string& name, const std::vector<std::string>& arguments = {}) const {
    std::vector<std::string> words = {
        "profile", "--check", "-b", "model", "--db", file("warpmeter.db").string(), program(name)};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_program({words, source_dir(), {{"LD_LIBRARY_PATH", ""}}});
  }
  void expect_output(const std::string& name, const std::string& text) const {
    const Outcome outcome = profile(name);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.output, expected(text));
    EXPECT_EQ(outcome.error.find("no version information"), std::string::npos) << outcome.error;
  }
  /// "kernel,launches,…", a line for each kernel of the last run: of each metric the values that
  /// its launches have, without repetitions, in the order of the launches.
  std::string counts(const std::vector<std::string>& metrics = {"gld_transactions",
                                                                "gst_transactions"}) const {
    std::string columns;
    for (const std::string& metric : metrics) {
      columns += ", replace(group_concat(DISTINCT CASE WHEN metric = '" + metric +
                 "' THEN CAST(value AS INTEGER) END), ',', ' ')";
    }
    const Outcome outcome =
        warpmeter({"query", "--format", "csv",
                   "SELECT variant, count(DISTINCT launch_id)" + columns +
                       " FROM (SELECT * FROM results WHERE run_id = (SELECT max(run_id) FROM runs) "
                       "ORDER BY launch_id) GROUP BY variant ORDER BY variant"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    return outcome.output.substr(outcome.output.find('\n') + 1);
  }
};

}  // namespace warpmeter::cli
