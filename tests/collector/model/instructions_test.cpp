// Every instruction against what a GPU answered, on every unit that this processor runs.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "collector/model/execute/units.h"
#include "tests/collector/model/instruction_kernel.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

const std::vector<InstructionCase>& cases() {
  static const std::vector<InstructionCase> all = [] {
    std::ifstream file(source_dir() + "/tests/collector/model/data/h200_instructions.txt");
    return read_cases(file);
  }();
  return all;
}

unsigned bits_of(const std::string& type) {
  return type == "pred" ? 32 : static_cast<unsigned>(std::stoul(type.substr(1)));
}

/// Which of two NaN operands an f64 instruction passes on is not modelled.
bool are_nans(const InstructionCase& a_case, std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t magnitude = 0x7fffffffffffffff, infinity = 0x7ff0000000000000;
  return a_case.result == "b64" && a_case.operands.size() > 1 &&
         a_case.body.find(".f64") != std::string::npos && (a & magnitude) > infinity &&
         (b & magnitude) > infinity;
}

void expect_recorded_results(const Unit& unit) {
  if (!unit.is_supported) GTEST_SKIP() << "this processor has no " << unit.name;
  LaunchOptions options;
  options.unit = &unit;
  for (const InstructionCase& a_case : cases()) {
    std::vector<TestArgument> arguments = {TestArgument::buffer(std::vector<std::uint64_t>(32))};
    for (const auto& values : a_case.values) {
      arguments.push_back(
          TestArgument::buffer(std::vector<std::uint64_t>(values.begin(), values.end())));
    }
    const TestRun run =
        run_ptx(instruction_kernel(a_case), "instruction", geometry(1, 32), arguments, options);
    ASSERT_EQ(run.refusal, "") << a_case.body;
    ASSERT_EQ(run.trap(), "") << a_case.body;
    const std::vector<std::uint64_t> results = run.buffer<std::uint64_t>(0);
    const std::uint64_t mask = bits_of(a_case.result) == 64
                                   ? ~std::uint64_t{0}
                                   : (std::uint64_t{1} << bits_of(a_case.result)) - 1;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if (are_nans(a_case, results[lane], a_case.expected[lane])) continue;
      std::ostringstream operands;
      for (const auto& values : a_case.values) operands << std::hex << ' ' << values[lane];
      ASSERT_EQ(results[lane] & mask, a_case.expected[lane] & mask)
          << a_case.body << " lane " << lane << " of" << operands.str() << std::hex << ": model "
          << (results[lane] & mask) << ", GPU " << (a_case.expected[lane] & mask);
    }
  }
}

TEST(Instructions, HaveCases) { EXPECT_GT(cases().size(), 700u); }

TEST(Instructions, GiveWhatAGpuGivesOnPlainProcessors) { expect_recorded_results(units()[0]); }

TEST(Instructions, GiveWhatAGpuGivesWithAvx2) {
  if (units().size() < 2) GTEST_SKIP() << "not built for this kind of processor";
  expect_recorded_results(units()[1]);
}

TEST(Instructions, GiveWhatAGpuGivesWithAvx512) {
  if (units().size() < 3) GTEST_SKIP() << "not built for this kind of processor";
  expect_recorded_results(units()[2]);
}

}  // namespace
}  // namespace warpmeter::model
