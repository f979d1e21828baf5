// SPDX-License-Identifier: MIT
// Every instruction against what a GPU answered, on every unit that this processor runs.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/collector/model/instruction_kernel.h"
#include "tests/collector/model/on_units.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

const std::vector<InstructionCase>& cases() {
  static const std::vector<InstructionCase> all = [] {
    std::vector<InstructionCase> read;
    for (const char* name : {"h200_instructions.txt", "h200_narrow_instructions.txt",
                             "h200_video_instructions.txt", "h100_instructions.txt"}) {
      std::ifstream file(source_dir() + "/tests/collector/model/data/" + name);
      const std::vector<InstructionCase> more = read_cases(file);
      read.insert(read.end(), more.begin(), more.end());
    }
    return read;
  }();
  return all;
}

unsigned bits_of(const std::string& type) {
  return type == "pred" ? 32 : static_cast<unsigned>(std::stoul(type.substr(1)));
}

void expect_recorded_results(const Unit& unit, bool as_machine_code = false) {
  if (const std::string why = lacks(unit, as_machine_code); !why.empty()) GTEST_SKIP() << why;
  const LaunchOptions options = options_of(unit, as_machine_code);
  for (const InstructionCase& a_case : cases()) {
    std::vector<TestArgument> arguments = {TestArgument::buffer(std::vector<std::uint64_t>(32))};
    for (const auto& values : a_case.values) {
      arguments.push_back(
          TestArgument::buffer(std::vector<std::uint64_t>(values.begin(), values.end())));
    }
    const TestRun run =
        run_ptx(instruction_kernel(a_case), "instruction", geometry(1, 32), arguments, options);
    EXPECT_EQ(run.refusal + run.trap(), "") << a_case.body;
    if (!(run.refusal + run.trap()).empty()) continue;
    const std::vector<std::uint64_t> results = run.buffer<std::uint64_t>(0);
    const std::uint64_t mask = bits_of(a_case.result) == 64
                                   ? ~std::uint64_t{0}
                                   : (std::uint64_t{1} << bits_of(a_case.result)) - 1;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      std::ostringstream operands;
      for (const auto& values : a_case.values) operands << std::hex << ' ' << values[lane];
      EXPECT_EQ(results[lane] & mask, a_case.expected[lane] & mask)
          << a_case.body << " lane " << lane << " of" << operands.str() << std::hex << ": model "
          << (results[lane] & mask) << ", GPU " << (a_case.expected[lane] & mask);
    }
  }
}

TEST(Instructions, TakePartsOfRegistersWherePtxDoes) {
  const auto refusal = [](const std::string& body) {
    return run_ptx(instruction_kernel({"b32", {"b32", "b32", "b32"}, body, {}, {}}), "instruction",
                   geometry(1, 32), std::vector<TestArgument>(4, TestArgument::scalar(0ul)))
        .refusal;
  };
  for (const char* body :
       {"add.s32 D, -A, B;", "add.s32 D, A.h0, B;", "mov.b32 D.b0, A;",
        "vadd.s32.s32.s32 D, A.b4, B;", "vadd.s32.s32.s32 D, A.h2, B;",
        "vadd.s32.s32.s32 D, -A, B;", "vadd.s32.s32.s32.add D.h0, A, B, C;",
        "vmad.s32.s32.s32.po D, -A, B, C;", "vmad.s32.s32.s32 D, -A, B, -C;",
        "vmad.s32.s32.s32 D.h0, A, B, C;", "vadd2.s32.s32.s32 D, A.h4, B, C;",
        "vadd2.s32.s32.s32 D.h01, A, B, C;", "vadd4.s32.s32.s32 D, A.b321, B, C;",
        "vadd4.s32.s32.s32 D, A.h10, B, C;"}) {
    EXPECT_NE(refusal(body).find("of a form that it does not take"), std::string::npos)
        << body << ": " << refusal(body);
  }
  EXPECT_NE(refusal("vadd.s32.s32.s32.add D, A, B;").find("no third source"), std::string::npos);
}

TEST(Instructions, HaveCases) { EXPECT_GT(cases().size(), 1300u); }

TEST(Instructions, GiveWhatAGpuGivesOnPlainProcessors) { expect_recorded_results(units()[0]); }

TEST(Instructions, GiveWhatAGpuGivesWithAvx2) {
  if (units().size() < 2) GTEST_SKIP() << "not built for this kind of processor";
  expect_recorded_results(units()[1]);
}

TEST(Instructions, GiveWhatAGpuGivesWithAvx512) {
  if (units().size() < 3) GTEST_SKIP() << "not built for this kind of processor";
  expect_recorded_results(units()[2]);
}

TEST(Instructions, GiveWhatAGpuGivesAsMachineCode) { expect_recorded_results(best_unit(), true); }

}  // namespace
}  // namespace warpmeter::model
