// SPDX-License-Identifier: MIT
// Approximate instructions against all bits that a GPU gave, on millions of operands each.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "tests/collector/model/on_units.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/collector/model/special_function_kernel.h"
#include "tests/csv.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

using Hashes = std::map<std::pair<std::string, std::uint32_t>, std::uint32_t>;

/// By instruction and row.
Hashes recorded_hashes() {
  std::ifstream file(source_dir() + "/tests/golden/special_functions.csv");
  Hashes hashes;
  for (auto& row : csv_rows(file)) {
    hashes[{row["instruction"], static_cast<std::uint32_t>(std::stoul(row["row"]))}] =
        static_cast<std::uint32_t>(std::stoul(row["hash"], nullptr, 16));
  }
  return hashes;
}

/// The check takes every `step`-th row, the first among them.
void expect_recorded_hashes(const Unit& unit, std::uint32_t step, bool as_machine_code = false) {
  if (const std::string why = lacks(unit, as_machine_code); !why.empty()) GTEST_SKIP() << why;
  const LaunchOptions options = options_of(unit, as_machine_code);
  const Hashes hashes = recorded_hashes();
  for (const SpecialFunction& function : special_functions) {
    for (std::uint32_t row = 0; row < special_rows; row += step) {
      const std::vector<std::uint32_t> chunks = chunks_of_row(function.operands, row);
      if (chunks.empty()) continue;
      const auto expected = hashes.find({std::string(function.instruction), row});
      ASSERT_TRUE(expected != hashes.end()) << function.instruction << " row " << row;
      const TestRun run = run_ptx(
          special_function_kernel(function), "hashes",
          geometry(static_cast<std::uint32_t>(chunks.size()), 256),
          {TestArgument::buffer(std::vector<std::uint32_t>(1)), TestArgument::buffer(chunks)},
          options);
      ASSERT_EQ(run.refusal + run.trap(), "") << function.instruction;
      EXPECT_EQ(run.buffer<std::uint32_t>(0)[0], expected->second)
          << function.instruction << " row " << row;
    }
  }
}

TEST(SpecialFunctions, AreAllRecorded) {
  std::size_t rows = 0;
  for (const SpecialFunction& function : special_functions) {
    for (std::uint32_t row = 0; row < special_rows; ++row) {
      rows += chunks_of_row(function.operands, row).empty() ? 0 : 1;
    }
  }
  EXPECT_EQ(recorded_hashes().size(), rows);
}
TEST(SpecialFunctions, GiveAllBitsOfAGpu) { expect_recorded_hashes(best_unit(), 1); }
TEST(SpecialFunctions, GiveAllBitsOfAGpuAsMachineCode) {
  expect_recorded_hashes(best_unit(), 4, true);
}
TEST(SpecialFunctions, GiveAllBitsOfAGpuOnPlainProcessors) {
  expect_recorded_hashes(units()[0], 8);
}
TEST(SpecialFunctions, GiveAllBitsOfAGpuWithAvx2) {
  if (units().size() < 2) GTEST_SKIP() << "not built for this kind of processor";
  expect_recorded_hashes(units()[1], 8);
}

}  // namespace
}  // namespace warpmeter::model
