// SPDX-License-Identifier: MIT
// warpmeter's own kernels against whole kernels measured on an H200: every count and efficiency of
// tests/golden/h200_seed_kernels.csv, through the backend as a session uses it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "collector/family/catalogue.h"
#include "collector/model/counts/rules/measured.h"
#include "collector/model/session/backend.h"
#include "tests/csv.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> golden_kernels() {
  std::ifstream file(source_dir() + "/tests/golden/h200_seed_kernels.csv");
  return csv_rows(file);
}

struct Ours {
  std::string family, variant;
  std::int64_t size = 0;
};

/// Our name for a golden kernel. The pad of the rectangle's kernels is named by the case.
Ours ours(const Row& row) {
  static const std::map<std::string, std::string> tiles = {
      {"setRowReadRow", "set_row_read_row"},
      {"setRowReadRow2", "set_row_read_row2"},
      {"setColReadCol", "set_col_read_col"},
      {"setColReadCol2", "set_col_read_col2"},
      {"setRowReadCol", "set_row_read_col"},
      {"setRowReadColDyn", "set_row_read_col_dyn"},
      {"setRowReadColPad", "set_row_read_col_pad"},
      {"setRowReadColDynPad", "set_row_read_col_dyn_pad"}};
  static const std::map<std::string, Ours> mixed = {
      {"transpose_naive", {"transpose", "naive", 1024}},
      {"transpose", {"transpose", "tiled_padded", 1024}},
      {"matrixMultiply", {"matmul", "naive", 256}},
      {"matrixMultiplyShared", {"matmul", "tiled_16", 256}},
      {"reduceSum", {"reduction", "neighbored_divergent", 65536}},
      {"reduceSum1", {"reduction", "neighbored_strided", 65536}},
      {"reduceSum2", {"reduction", "interleaved", 65536}},
      {"transpose_tiled_rows", {"transpose", "tiled_rows", 1024}},
      {"transpose_tiled_float4", {"transpose", "tiled_float4", 1024}},
      {"transpose_copy_float4", {"transpose", "copy_float4", 1024}},
      {"matmul_registers_64x64", {"matmul", "registers_64x64", 256}},
      {"matmul_registers_64x128", {"matmul", "registers_64x128", 256}},
      {"matmul_registers_128x128", {"matmul", "registers_128x128", 256}},
      {"reduction_shuffle", {"reduction", "shuffle", 65536}},
      {"reduction_shuffle_double2", {"reduction", "shuffle_double2", 65536}},
      {"reduction_copy", {"reduction", "copy", 65536}}};
  const std::string& kernel = row.at("kernel");
  const std::string& golden_case = row.at("case");
  if (const auto found = mixed.find(kernel); found != mixed.end()) return found->second;
  std::string variant = tiles.at(kernel);
  if (golden_case == "square") return {"smem_square", variant, 0};
  if (variant.ends_with("_pad")) variant += golden_case == "rect" ? "2" : "1";
  return {"smem_rectangle", variant, 0};
}

const std::vector<std::string> counted = {"shared_load_wavefronts",  "shared_load_requests",
                                          "shared_store_wavefronts", "shared_store_requests",
                                          "global_load_sectors",     "global_load_requests",
                                          "global_store_sectors",    "global_store_requests"};

const std::vector<std::string> instructions = {"warp_instructions", "thread_instructions"};

/// The golden kernels were written by others. These make the same accesses as ours, by other
/// instructions.
const std::set<std::string> with_other_instructions = {
    "transpose_naive", "transpose", "matrixMultiply", "matrixMultiplyShared", "setRowReadRow2"};

std::map<std::string, schema::Counter> measure(const Ours& wanted, const Options& options,
                                               std::vector<std::string> names = counted) {
  const auto backend = open(options);
  names.insert(names.end(), {"global_load_bytes", "global_store_bytes"});
  backend->select(names);
  const kernels::Family* family = family::find_in_catalogue(wanted.family);
  const kernels::Variant* variant = family->find(wanted.variant);
  const kernels::Problem problem = family->prepare(wanted.size);
  const auto workload = backend->load(problem);
  const run::Launch launch{variant->image, std::string(variant->entry),
                           variant->geometry(wanted.size)};
  const run::Execution execution = workload->execute(launch);
  EXPECT_EQ(execution.failure, "");
  for (const kernels::Expected& expected : variant->expected(wanted.size, problem)) {
    EXPECT_TRUE(execution.buffers.at(expected.buffer) == expected.values) << "wrong answer";
  }
  std::map<std::string, schema::Counter> counters;
  const auto all = workload->count({&launch, 1});
  for (const schema::Counter& counter : all.at(0)) {
    counters[counter.name] = counter;
  }
  return counters;
}

/// Per cent, as nvprof printed it; a kernel without requests has none, which the file writes as 0.
double efficiency(const std::map<std::string, schema::Counter>& counters, const std::string& kind) {
  const double sectors = *counters.at(kind + "_sectors").value;
  return sectors == 0 ? 0 : 100 * *counters.at(kind + "_bytes").value / (32 * sectors);
}

class GoldenKernels : public testing::TestWithParam<int> {};

TEST_P(GoldenKernels, AreMetToTheLastCount) {
  Options options;
  options.arch = GetParam();
  const std::vector<Row> rows = golden_kernels();
  ASSERT_EQ(rows.size(), 38u);
  for (const Row& row : rows) {
    const Ours wanted = ours(row);
    SCOPED_TRACE(row.at("case") + " " + row.at("kernel") + " as " + wanted.family + "/" +
                 wanted.variant);
    const auto counters = measure(wanted, options);
    for (const std::string& name : counted) {
      const schema::Counter& counter = counters.at(name);
      ASSERT_TRUE(counter.value) << name;
      EXPECT_EQ(*counter.value, std::stod(row.at(name))) << name;
      EXPECT_EQ(counter.reason, why_not_exact(options.arch)) << name;
      EXPECT_EQ(counter.grade,
                counter.reason.empty() ? schema::Grade::exact : schema::Grade::modelled)
          << name;
    }
    EXPECT_EQ(efficiency(counters, "global_load"), std::stod(row.at("gld_efficiency_pct")));
    EXPECT_EQ(efficiency(counters, "global_store"), std::stod(row.at("gst_efficiency_pct")));
  }
}

TEST(GoldenKernelsOfSm90, HaveTheHardwaresCountsOfInstructions) {
  int rows = 0;
  for (const Row& row : golden_kernels()) {
    if (with_other_instructions.contains(row.at("kernel"))) continue;
    ++rows;
    const Ours wanted = ours(row);
    const auto counters = measure(wanted, {}, instructions);
    for (const std::string& name : instructions) {
      const schema::Counter& counter = counters.at(name);
      const std::string where = wanted.family + "/" + wanted.variant + " " + name;
      EXPECT_EQ(counter.value, std::stod(row.at(name))) << where;
      EXPECT_EQ(counter.grade, schema::Grade::exact) << where << ": " << counter.reason;
    }
  }
  EXPECT_EQ(rows, 32);
}

TEST(OwnKernels, HaveExactCountsOfInstructions) {
  int variants = 0;
  for (const kernels::Family* family : family::catalogue()) {
    const std::int64_t size = family->has_sizes() ? family->sizes.front() : 0;
    for (const kernels::Variant& variant : family->variants) {
      if (!variant.library.empty()) continue;
      ++variants;
      for (const auto& [name, counter] :
           measure({family->name, variant.name, size}, {}, instructions)) {
        if (name.ends_with("_instructions")) {
          EXPECT_EQ(counter.grade, schema::Grade::exact) << family->name << '/' << variant.name;
        }
      }
    }
  }
  EXPECT_EQ(variants, 37);
}

INSTANTIATE_TEST_SUITE_P(EveryEmbeddedArchitecture, GoldenKernels, testing::Values(80, 90),
                         [](const auto& arch) { return "sm_" + std::to_string(arch.param); });

TEST(OwnKernels, CountTheSameInDynamicAndStaticSharedMemory) {
  for (const auto& [family, variant] :
       std::vector<std::pair<std::string, std::string>>{{"smem_square", "set_row_read_col"},
                                                        {"smem_square", "set_row_read_col_pad"},
                                                        {"smem_rectangle", "set_row_read_col"}}) {
    const bool padded = variant.ends_with("_pad");
    const std::string dynamic = padded ? "set_row_read_col_dyn_pad" : variant + "_dyn";
    const auto in_static = measure({family, variant, 0}, {}),
               in_dynamic = measure({family, dynamic, 0}, {});
    for (const std::string& name : counted) {
      EXPECT_EQ(in_static.at(name).value, in_dynamic.at(name).value) << family << " " << name;
    }
  }
}

TEST(OwnKernels, AreRightAtOddSizesOnAnyNumberOfThreads) {
  const std::vector<Ours> odd = {{"vector_add", "block_128", 1},
                                 {"vector_add", "block_256", 1000},
                                 {"transpose", "copy", 33},
                                 {"transpose", "naive", 100},
                                 {"transpose", "tiled", 47},
                                 {"transpose", "tiled_padded", 17},
                                 {"transpose", "tiled_rows", 45},
                                 {"transpose", "tiled_float4", 70},
                                 {"transpose", "tiled_float4", 68},
                                 {"transpose", "copy_float4", 33},
                                 {"matmul", "naive", 50},
                                 {"matmul", "tiled_16", 33},
                                 {"matmul", "registers_64x64", 65},
                                 {"matmul", "registers_64x128", 132},
                                 {"matmul", "registers_128x128", 63},
                                 {"reduction", "interleaved", 5000},
                                 {"reduction", "neighbored_divergent", 1025},
                                 {"reduction", "neighbored_strided", 3},
                                 {"reduction", "shuffle", 1025},
                                 {"reduction", "shuffle_double2", 1500},
                                 {"reduction", "copy", 1},
                                 {"reduction", "copy", 1026},
                                 {"reduction", "copy", 1028}};
  for (const Ours& kernel : odd) {
    SCOPED_TRACE(kernel.family + "/" + kernel.variant);
    Options options;
    options.threads = 1;
    const auto alone = measure(kernel, options);
    for (unsigned threads = 2; threads <= 5; ++threads) {
      options.threads = threads;
      const auto together = measure(kernel, options);
      for (const auto& [name, counter] : alone) {
        EXPECT_EQ(together.at(name).value, counter.value) << name << " on " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace warpmeter::model
