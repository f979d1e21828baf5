// SPDX-License-Identifier: MIT
// The claimed costs of the families, against what an H200 counted (tests/golden).
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "collector/family/catalogue.h"
#include "schema/catalogue.h"
#include "tests/csv.h"
#include "tests/paths.h"

namespace warpmeter::kernels {
namespace {

/// One row of the golden file, by column.
using Row = std::map<std::string, std::string>;

std::vector<Row> golden_rows() {
  std::ifstream file(source_dir() + "/tests/golden/h200_seed_kernels.csv");
  return csv_rows(file);
}

/// A golden kernel and the variant that is its like.
struct Pair {
  std::string golden_case, golden_kernel;
  std::string family, variant;
  std::int64_t size = 0;
};

std::vector<Pair> pairs() {
  const std::string mix = "mix_1024_256_65536";
  std::vector<Pair> all = {
      {mix, "transpose_naive", "transpose", "naive", 1024},
      {mix, "transpose", "transpose", "tiled_padded", 1024},
      {mix, "matrixMultiply", "matmul", "naive", 256},
      {mix, "matrixMultiplyShared", "matmul", "tiled_16", 256},
      {mix, "reduceSum", "reduction", "neighbored_divergent", 65'536},
      {mix, "reduceSum1", "reduction", "neighbored_strided", 65'536},
      {mix, "reduceSum2", "reduction", "interleaved", 65'536},
      {"rect", "setRowReadColPad", "smem_rectangle", "set_row_read_col_pad2"},
      {"rect", "setRowReadColDynPad", "smem_rectangle", "set_row_read_col_dyn_pad2"},
      {"rect_ipad1", "setRowReadColPad", "smem_rectangle", "set_row_read_col_pad1"},
      {"rect_ipad1", "setRowReadColDynPad", "smem_rectangle", "set_row_read_col_dyn_pad1"},
      {"square", "setRowReadColPad", "smem_square", "set_row_read_col_pad"},
      {"square", "setRowReadColDynPad", "smem_square", "set_row_read_col_dyn_pad"},
      {"rect", "setRowReadRow2", "smem_rectangle", "set_row_read_row2"},
      {"rect", "setColReadCol2", "smem_rectangle", "set_col_read_col2"},
  };
  const std::string ceilings = "ceilings_1024_256_65536";
  for (const auto& [family, size, variants] :
       std::vector<std::tuple<std::string, std::int64_t, std::vector<std::string>>>{
           {"transpose", 1024, {"tiled_rows", "tiled_float4", "copy_float4"}},
           {"matmul", 256, {"registers_64x64", "registers_64x128", "registers_128x128"}},
           {"reduction", 65'536, {"shuffle", "shuffle_double2", "copy"}}}) {
    for (const std::string& variant : variants) {
      all.push_back({ceilings, family + "_" + variant, family, variant, size});
    }
  }
  for (const auto& [kernel, variant] :
       std::map<std::string, std::string>{{"setRowReadRow", "set_row_read_row"},
                                          {"setColReadCol", "set_col_read_col"},
                                          {"setRowReadCol", "set_row_read_col"},
                                          {"setRowReadColDyn", "set_row_read_col_dyn"}}) {
    all.push_back({"rect", kernel, "smem_rectangle", variant});
    all.push_back({"square", kernel, "smem_square", variant});
  }
  return all;
}

double measured(const Row& row, std::string_view metric) {
  const auto number = [&](const std::string& column) { return std::stod(row.at(column)); };
  if (metric == "shared_load_transactions_per_request") {
    return number("shared_load_wavefronts") / number("shared_load_requests");
  }
  if (metric == "shared_store_transactions_per_request") {
    return number("shared_store_wavefronts") / number("shared_store_requests");
  }
  if (metric == "gld_efficiency") return number("gld_efficiency_pct");
  if (metric == "gst_efficiency") return number("gst_efficiency_pct");
  ADD_FAILURE() << "the golden file has no " << metric;
  return 0;
}

std::string written(const Dim3& dim) {
  return std::to_string(dim.x) + 'x' + std::to_string(dim.y) + 'x' + std::to_string(dim.z);
}

class GoldenKernel : public testing::TestWithParam<Pair> {
 protected:
  const Variant& variant() const {
    return *family::find_in_catalogue(GetParam().family)->find(GetParam().variant);
  }

  static Row golden() {
    for (const Row& row : golden_rows()) {
      if (row.at("case") == GetParam().golden_case &&
          row.at("kernel") == GetParam().golden_kernel) {
        return row;
      }
    }
    throw std::runtime_error("no golden row for " + GetParam().golden_kernel);
  }
};

TEST_P(GoldenKernel, CostsWhatItsVariantExpects) {
  const Row row = golden();
  for (const Expectation& expectation : variant().expectations) {
    EXPECT_EQ(expectation.relation, Relation::equal);
    EXPECT_EQ(measured(row, expectation.metric), expectation.value) << expectation.metric;
  }
}

TEST_P(GoldenKernel, HasEveryCostOfItExpected) {
  const Row row = golden();
  const auto expects = [&](std::string_view metric) {
    const auto& all = variant().expectations;
    return std::any_of(all.begin(), all.end(),
                       [&](const Expectation& each) { return each.metric == metric; });
  };
  EXPECT_EQ(row.at("shared_load_requests") != "0", expects("shared_load_transactions_per_request"));
  EXPECT_EQ(row.at("shared_store_requests") != "0",
            expects("shared_store_transactions_per_request"));
  EXPECT_EQ(row.at("global_load_requests") != "0", expects("gld_efficiency"));
  EXPECT_EQ(row.at("global_store_requests") != "0", expects("gst_efficiency"));
}

TEST_P(GoldenKernel, WasLaunchedWithTheSameGeometry) {
  const Geometry geometry = variant().geometry(GetParam().size);
  EXPECT_EQ(golden().at("grid"), written(geometry.grid));
  EXPECT_EQ(golden().at("block"), written(geometry.block));
}

INSTANTIATE_TEST_SUITE_P(H200, GoldenKernel, testing::ValuesIn(pairs()), [](const auto& instance) {
  return instance.param.family + "_" + instance.param.variant;
});

TEST(Expectations, NameMetricsOfTheCatalogue) {
  for (const Family* family : family::catalogue()) {
    for (const Variant& variant : family->variants) {
      for (const Expectation& expectation : variant.expectations) {
        EXPECT_NE(schema::Catalogue::get().find_metric(expectation.metric), nullptr)
            << expectation.metric;
      }
    }
  }
}

TEST(Expectations, SayWhyInAPhrase) {
  for (const Family* family : family::catalogue()) {
    for (const Variant& variant : family->variants) {
      for (const Expectation& expectation : variant.expectations) {
        EXPECT_GT(expectation.reason.size(), 20U) << variant.entry;
        EXPECT_EQ(expectation.reason.find_first_of("\n|"), std::string_view::npos)
            << "a reason is one cell of a table: " << expectation.reason;
        EXPECT_NE(expectation.reason.back(), '.') << expectation.reason;
      }
    }
  }
}

TEST(Expectations, HoldForDefaultSizes) {
  for (const Family* family : family::catalogue()) {
    for (const Variant& variant : family->variants) {
      for (const Expectation& expectation : variant.expectations) {
        EXPECT_EQ(expectation.sizes, family->sizes) << variant.entry;
      }
    }
  }
}

TEST(Expectations, AskVectorAddAndTheCopiesForPerfectCoalescing) {
  for (const Variant* variant : {family::find_in_catalogue("vector_add")->find("block_128"),
                                 family::find_in_catalogue("vector_add")->find("block_256"),
                                 family::find_in_catalogue("transpose")->find("copy"),
                                 family::find_in_catalogue("transpose")->find("copy_float4"),
                                 family::find_in_catalogue("reduction")->find("copy")}) {
    ASSERT_EQ(variant->expectations.size(), 2U) << variant->entry;
    EXPECT_EQ(variant->expectations[0].metric, "gld_efficiency");
    EXPECT_EQ(variant->expectations[0].value, 100);
    EXPECT_EQ(variant->expectations[1].metric, "gst_efficiency");
    EXPECT_EQ(variant->expectations[1].value, 100);
  }
}

TEST(Expectations, ShowWhatAPadIsFor) {
  const auto load = [](std::string_view variant) {
    for (const Expectation& each :
         family::find_in_catalogue("transpose")->find(variant)->expectations) {
      if (each.metric == "shared_load_transactions_per_request") return each.value;
    }
    return 0.0;
  };
  EXPECT_EQ(load("tiled"), 8);
  EXPECT_EQ(load("tiled_padded"), 2);
  EXPECT_EQ(load("tiled_rows"), 1);
}

}  // namespace
}  // namespace warpmeter::kernels
