// SPDX-License-Identifier: MIT
// The machine code of the kernels of tests/device/model as warps go through it here, against how
// often an H200 executed each of its instructions: h200_executed_instructions.csv, recorded by
// Nsight Compute (inst_executed, thread_inst_executed, thread_inst_executed_true by address).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/steps/operation.h"
#include "collector/model/counts/steps/steps.h"
#include "tests/collector/model/prepared_launch.h"
#include "tests/csv.h"
#include "tests/device/model/arguments.h"
#include "tests/device/model/cases.h"
#include "tests/device/model/images.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

/// "2*16/512/30 0" is two instructions that 16 warps executed, of 512 threads with 30 that the
/// guard let pass, and one that nobody did.
std::vector<Execution> executions_of(const std::string& text) {
  std::vector<Execution> all;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t star = word.find('*');
    const std::size_t times = star == std::string::npos ? 1 : std::stoul(word);
    std::istringstream numbers(star == std::string::npos ? word : word.substr(star + 1));
    Execution one;
    char slash = 0;
    numbers >> one.warps >> slash >> one.threads;
    one.passed = one.threads;
    std::uint64_t passed = 0;
    if (numbers >> slash >> passed) one.passed = passed;
    all.insert(all.end(), times, one);
  }
  return all;
}

const std::map<std::string, std::string>& golden() {
  static const std::map<std::string, std::string> rows = [] {
    std::ifstream file(source_dir() + "/tests/golden/h200_executed_instructions.csv");
    std::map<std::string, std::string> all;
    for (const auto& row : csv_rows(file)) all[row.at("kernel")] = row.at("executed");
    return all;
  }();
  return rows;
}

struct Followed {
  schema::Counter warps, threads, threads_on, control;
  Executions executions;
};

Followed follow(const agreement::Case& which) {
  const kernels::Problem problem = which.problem();
  const auto prepared = prepare_launch(*which.image, which.entry, problem);
  EXPECT_EQ(prepared->refusal, "");
  const auto code =
      std::find_if(which.image->codes.begin(), which.image->codes.end(),
                   [](const kernels::Code& candidate) { return candidate.arch == 90; });
  const std::string why =
      steps::audit(prepared->program, *prepared->module, std::as_bytes(code->cubin));
  EXPECT_EQ(why, "");
  LaunchOptions options;
  options.follows_machine_code = true;
  options.print = [](std::string_view) {};
  const LaunchOutcome outcome =
      launch(prepared->program, which.geometry, prepared->parameters, prepared->memory, options);
  EXPECT_FALSE(outcome.trap) << outcome.trap->message;
  return {counter("warp_instructions", prepared->program, outcome),
          counter("thread_instructions", prepared->program, outcome),
          counter("thread_instructions_pred_on", prepared->program, outcome),
          counter("inst_control", prepared->program, outcome),
          outcome.executions.value_or(Executions())};
}

/// The words of nvcc 13.0 for max.f32, max.NaN.f32 and min.xorsign.abs.f32.
TEST(MachineOperation, IsUnknownWhereItsFormIsNotExecuted) {
  constexpr std::uint64_t control = 0x000fe20000000000;
  const auto kind = [&](std::uint64_t low, std::uint64_t high) {
    return steps::decode_operation({low, control | high}, 0, 90).kind;
  };
  EXPECT_EQ(kind(0x0000000902057209, 0x07800000), steps::Kind::minimum_floats);
  EXPECT_EQ(kind(0x0000000902047209, 0x07820000), steps::Kind::unknown);
  EXPECT_EQ(kind(0x4000000902067209, 0x03840200), steps::Kind::unknown);
}

class MachineCode : public testing::TestWithParam<agreement::Case> {};

TEST_P(MachineCode, IsExecutedAsOftenAsOnTheHardwareWhereItsCountIsExact) {
  const Followed ours = follow(GetParam());
  EXPECT_LE(ours.warps.grade, ours.threads.grade);
  EXPECT_EQ(ours.warps.grade == schema::Grade::exact, ours.warps.reason.empty());
  if (ours.warps.grade != schema::Grade::exact) return;
  const std::vector<Execution> theirs = executions_of(golden().at(std::string(GetParam().entry)));
  ASSERT_EQ(ours.executions.of.size(), theirs.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const Execution& one = ours.executions.of[i];
    EXPECT_EQ(one.warps, theirs[i].warps) << "warps, instruction " << i;
    EXPECT_EQ(one.threads, theirs[i].threads) << "threads, instruction " << i;
    if (one.passed) EXPECT_EQ(*one.passed, *theirs[i].passed) << "guard, instruction " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(H200, MachineCode,
                         testing::ValuesIn(agreement::cases().begin(), agreement::cases().end()),
                         [](const auto& info) { return std::string(info.param.entry); });

TEST(MachineCodeAsAWhole, MostKernelsHaveExactCounts) {
  std::size_t exact = 0;
  for (const agreement::Case& which : agreement::cases()) {
    exact += follow(which).warps.grade == schema::Grade::exact ? 1 : 0;
  }
  EXPECT_GE(exact, 169U) << exact;
}

Followed follow(std::string_view entry) {
  const auto& all = agreement::cases();
  const auto which = std::find_if(all.begin(), all.end(),
                                  [&](const agreement::Case& one) { return one.entry == entry; });
  EXPECT_NE(which, all.end()) << entry;
  return follow(*which);
}

/// Totals of an H200 (h200_model_kernels.csv). Behind a loop it issues a BSYNC less often than
/// groups come there; without one as often, with threads that wait already now and then.
TEST(MachineCodeAsAWhole, CountsWarpsWhereManyGroupsMeetUnlessALoopComesBefore) {
  const Followed collatz = follow("collatz");
  EXPECT_EQ(collatz.warps.value, 5405);
  EXPECT_EQ(collatz.warps.grade, schema::Grade::exact);
  std::uint64_t of_instructions = 0;
  for (const Execution& one : executions_of(golden().at("collatz"))) of_instructions += one.threads;
  EXPECT_EQ(collatz.threads.value, of_instructions) << "the H200's counter says 87136";
  EXPECT_EQ(collatz.threads.grade, schema::Grade::modelled);
  EXPECT_NE(collatz.threads.reason, "");
  for (const std::string_view entry : {"mandelbrot", "nested", "follow_links", "break_deep"}) {
    EXPECT_NE(follow(entry).warps.grade, schema::Grade::exact) << entry;
  }
}

/// A WARPSYNC at which lanes meet, or that lets those of each mask go alone, is issued again:
/// smsp__inst_executed and smsp__thread_inst_executed of an H200 hold more than the sum of the
/// instructions, which the file of golden counts has.
TEST(MachineCodeAsAWhole, CountsTheIssuesOfAWarpsyncThatNoInstructionHas) {
  struct Totals {
    std::string_view entry;
    double warps, threads;
  };
  for (const Totals& theirs : {Totals{"group_sums", 3400, 69808},
                               {"reduced_by_warp", 976, 29760},
                               {"tile_sums", 1824, 51456}}) {
    const Followed ours = follow(theirs.entry);
    EXPECT_EQ(ours.warps.value, theirs.warps) << theirs.entry;
    EXPECT_EQ(ours.threads.value, theirs.threads) << theirs.entry;
    EXPECT_EQ(ours.threads.grade, schema::Grade::exact) << theirs.entry;
  }
}

/// A second predicate of an exit or a jump (`@P0 EXIT P1`): an H200's class of control flow has the
/// threads of the first, its sum over all instructions those of both
/// (tests/device/facts/two_predicates.cu, driver 580.159.04, 2026-11-30).
TEST(MachineCodeAsAWhole, CountsTheThreadsForWhichBothPredicatesOfAJumpHold) {
  struct Totals {
    agreement::Case which;
    double warps, threads, threads_on, control;
  };
  const auto corner = [] {
    return kernels::Problem(agreement::Arguments()
                                .ints(std::vector<std::int32_t>(320))
                                .ints(std::vector<std::int32_t>(320))
                                .out<float>(320)
                                .value<std::int32_t>(10));
  };
  const auto rows = [] {
    std::vector<std::int32_t> left, right;
    for (int i = 0; i < 320; ++i) {
      left.push_back(i % 10 * (i / 10 % 5 + 1));
      right.push_back(i % 10 * 7 + i / 10);
    }
    return kernels::Problem(
        agreement::Arguments().ints(left).ints(right).out<std::int32_t>(640).value<std::int32_t>(
            10));
  };
  for (const Totals& theirs :
       {Totals{{"all_but_a_corner", &kernels::images::agree_control, {{1}, {32, 16}}, corner},
               416,
               11728,
               11348,
               732},
        {{"merged_rows", &kernels::images::agree_control, {{1}, {1}}, rows}, 400, 400, 383, 22}}) {
    const Followed ours = follow(theirs.which);
    EXPECT_EQ(ours.warps.value, theirs.warps) << theirs.which.entry;
    EXPECT_EQ(ours.threads.value, theirs.threads) << theirs.which.entry;
    EXPECT_EQ(ours.threads_on.value, theirs.threads_on) << theirs.which.entry;
    EXPECT_EQ(ours.control.value, theirs.control) << theirs.which.entry;
    for (const schema::Counter* one :
         {&ours.warps, &ours.threads, &ours.threads_on, &ours.control}) {
      EXPECT_EQ(one->grade, schema::Grade::exact) << theirs.which.entry << " " << one->reason;
    }
  }
}

}  // namespace
}  // namespace warpmeter::model
