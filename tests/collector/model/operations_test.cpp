// SPDX-License-Identifier: MIT
// The table of operations against an H200. tests/golden/h200_operation_classes.csv has kernels of
// one warp, and the kernels of tests/device/model: how often ncu saw each operation executed, by
// warps and by threads whose guard was true, and what PerfWorks counted (sm_90; driver 580.159.04,
// Nsight Compute of CUDA 13, 2026-11-28). Each counter must be the sum over the table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "collector/model/counts/sass/operations.h"
#include "tests/csv.h"
#include "tests/paths.h"

namespace warpmeter::model::sass {
namespace {

/// A counter by its name in the file.
struct Counted {
  CountedAs flag = 0;
  bool is_of_threads = false;
  bool needs_all = false;  ///< it was measured only where the row says "all"
};
const std::map<std::string, Counted>& counters() {
  using namespace counted;
  static const std::map<std::string, Counted> all = {
      {"fp16", {fp16, true}},
      {"fp32", {fp32, true}},
      {"fp64", {fp64, true}},
      {"fp8", {fp8, true}},
      {"integer", {integer, true}},
      {"bit", {bit, true}},
      {"conversion", {conversion, true}},
      {"control", {control, true}},
      {"memory", {memory, true}},
      {"inter_thread_communication", {exchange, true}},
      {"uniform", {uniform, true}},
      {"misc", {misc, true}},
      {"fadd", {fadd, true}},
      {"fmul", {fmul, true}},
      {"ffma", {ffma, true}},
      {"dadd", {dadd, true}},
      {"dmul", {dmul, true}},
      {"dfma", {dfma, true}},
      {"hadd", {hadd, true}},
      {"hmul", {hmul, true}},
      {"hfma", {hfma, true}},
      {"pipe_cbu", {cbu}},
      {"pipe_adu", {adu}},
      {"pipe_fma", {fma_pipe}},
      {"pipe_fp64", {fp64_pipe}},
      {"op_global_ld", {global_load, false, true}},
      {"op_global_st", {global_store, false, true}},
      {"op_global_red", {global_reduction, false, true}},
      {"op_local_ld", {local_load, false, true}},
      {"op_local_st", {local_store, false, true}},
      {"op_shared_ld", {shared_load, false, true}},
      {"op_shared_st", {shared_store, false, true}},
      {"op_shared_atom", {shared_atomic, false, true}},
      {"op_shared_atom_dot_cas", {shared_compare_and_swap, false, true}},
      {"op_generic_ld", {generic_load, false, true}},
      {"op_generic_st", {generic_store, false, true}},
      {"op_generic_atom_dot_alu", {atomic, false, true}},
      {"op_generic_atom_dot_cas", {compare_and_swap, false, true}},
      {"op_surface_ld", {surface_load, false, true}},
      {"op_surface_st", {surface_store, false, true}},
      {"op_surface_red", {surface_reduction, false, true}},
      {"op_texture", {texture, false, true}},
  };
  return all;
}

/// An operation of a kernel: "919.21:16:512" is S2R of the special register 0x21, executed by 16
/// warps and 512 threads.
struct Executed {
  std::string text;
  Word word;
  std::uint64_t warps = 0, threads = 0;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Executed executed(const std::string& text) {
  Executed one;
  one.text = text;
  const std::size_t warps = text.find(':'), threads = text.find(':', warps + 1);
  one.word.low = std::stoull(text, nullptr, 16);
  const std::size_t special = text.find('.');
  if (special < warps) one.word.high = std::stoull(text.substr(special + 1), nullptr, 16) << 8;
  one.warps = std::stoull(text.substr(warps + 1));
  one.threads = std::stoull(text.substr(threads + 1));
  return one;
}

class Operations : public testing::TestWithParam<std::map<std::string, std::string>> {};

TEST_P(Operations, AddUpToWhatTheHardwareCounted) {
  const auto& row = GetParam();
  std::map<std::string, std::uint64_t> measured;
  for (const std::string& pair : words_of(row.at("values"))) {
    const std::size_t colon = pair.find(':');
    measured[pair.substr(0, colon)] = std::stoull(pair.substr(colon + 1));
  }
  const bool has_all = row.at("counters") == "all";
  // Where lanes of a warp part, another run may part them elsewhere.
  const bool has_warps = row.at("counters") != "threads";
  bool knows_units = true;
  std::map<std::string, std::uint64_t> sums;
  for (const std::string& text : words_of(row.at("operations"))) {
    const Executed one = executed(text);
    const CountedAs flags = counted_as(one.word);
    if (flags == 0) GTEST_SKIP() << text << " is of an operation that the table leaves out";
    EXPECT_EQ(std::popcount(flags & counted::classes), 1) << text;
    knows_units = knows_units && (flags & counted::any_unit) == 0;
    for (const auto& [name, counter] : counters()) {
      if ((flags & counter.flag) != 0)
        sums[name] += counter.is_of_threads ? one.threads : one.warps;
    }
  }
  for (const auto& [name, counter] : counters()) {
    if ((counter.needs_all && !has_all) || (!counter.is_of_threads && !has_warps)) continue;
    if (name == "pipe_adu" && !knows_units) continue;
    EXPECT_EQ(sums[name], measured[name]) << name;
  }
}

std::vector<std::map<std::string, std::string>> golden() {
  std::ifstream file(source_dir() + "/tests/golden/h200_operation_classes.csv");
  return csv_rows(file);
}

INSTANTIATE_TEST_SUITE_P(H200, Operations, testing::ValuesIn(golden()),
                         [](const auto& info) { return info.param.at("kernel"); });

TEST(OperationsAsAWhole, EachRowOfTheTableWasExecuted) {
  std::map<unsigned, std::uint64_t> warps;
  int left_out = 0;
  const auto rows = golden();
  for (const auto& row : rows) {
    bool is_whole = true;
    for (const std::string& text : words_of(row.at("operations"))) {
      const Executed one = executed(text);
      warps[one.word.low & 0x1ff] += one.warps;
      is_whole = is_whole && counted_as(one.word) != 0;
    }
    left_out += is_whole ? 0 : 1;
  }
  EXPECT_GT(rows.size(), 150u);
  EXPECT_LE(left_out, 3);
  for (const OperationRow& row : operation_rows()) {
    EXPECT_GT(warps[row.number], 0u) << row.name;
  }
}

/// MUFU as ptxas of CUDA 13 writes it for sm_90: the function's number, and the precision below it.
TEST(OperationsAsAWhole, SpecialFunctionsOfSinglePrecisionAreTold) {
  const auto flags = [](std::uint64_t high) {
    return counted_as({0x1000117308, high}) & (counted::special | counted::any_special);
  };
  EXPECT_EQ(flags(0x00000000000800), counted::special);  // EX2
  EXPECT_EQ(flags(0xff00000002400), counted::special);   // TANH
  EXPECT_EQ(flags(0xfea0008001800), 0u);                 // RCP64H
  EXPECT_EQ(flags(0xfe20008001c00), 0u);                 // RSQ64H
  EXPECT_EQ(flags(0xfe20008000900), 0u);                 // EX2.F16
  EXPECT_EQ(flags(0xfea0008002600), 0u);                 // TANH.BF16
  EXPECT_EQ(flags(0x2800), counted::any_special);        // no function of today
}

TEST(OperationsAsAWhole, ClassesHoldForTheArchitecturesThatHaveTheirNumbers) {
  EXPECT_EQ(why_not_counted(80), "");
  EXPECT_EQ(why_not_counted(90), "");
  EXPECT_NE(why_not_counted(100), "");
  EXPECT_NE(why_classes_not_exact(80), "");
  EXPECT_EQ(why_classes_not_exact(90), "");
}

}  // namespace
}  // namespace warpmeter::model::sass
