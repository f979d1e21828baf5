// SPDX-License-Identifier: MIT
// Programs as people write them, compiled by nvcc for two architectures (programs/), and run.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model {

using Ints = std::vector<int>;
using Floats = std::vector<float>;
class CompiledPrograms : public testing::TestWithParam<int> {
 protected:
  static TestRun run(const std::string& program, const std::string& entry, std::uint32_t threads,
                     const std::vector<TestArgument>& arguments,
                     const LaunchOptions& options = {}) {
    std::ifstream file(fmt::format("{}/tests/collector/model/programs/{}.sm_{}.ptx", binary_dir(),
                                   program, GetParam()));
    std::stringstream text;
    text << file.rdbuf();
    return run_ptx(text.str(), entry, geometry(1, threads), arguments, options);
  }
  /// Runs with `count` zeros for the first argument, which is what comes out.
  template <class T>
  static std::vector<T> result(const std::string& program, const std::string& entry,
                               std::uint32_t threads, std::size_t count,
                               std::vector<TestArgument> more = {}) {
    more.insert(more.begin(), TestArgument::buffer(std::vector<T>(count)));
    const TestRun done = run(program, entry, threads, more);
    EXPECT_EQ(done.refusal + done.trap(), "") << entry;
    if (!(done.refusal + done.trap()).empty()) return {};
    return done.buffer<T>(0);
  }
};

inline Ints numbers(std::size_t count) {
  Ints values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i * 2654435761u >> 7 & 1023);
  return values;
}

inline Ints expected(int count, const std::function<int(int)>& value) {
  Ints values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(i);
  return values;
}

}  // namespace warpmeter::model
