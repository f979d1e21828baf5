// SPDX-License-Identifier: MIT
// The roofline of launches whose counts are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "reports/render/report.h"
#include "schema/catalogue.h"
#include "schema/upkeep/peaks.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/limits_run.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

using Amounts = std::map<std::string, double>;

/// The counts of L2 and device memory, in bytes.
Amounts beyond_l1(Amounts counts, double l2_bytes, double device_bytes) {
  counts["l2_read_sectors"] = l2_bytes / 32;
  counts["l2_write_sectors"] = counts["l2_atomic_sectors"] = counts["l2_reduction_sectors"] = 0;
  counts["dram_read_bytes"] = device_bytes;
  counts["dram_write_bytes"] = 0;
  return counts;
}

class RooflineTest : public testing::Test {
 protected:
  RooflineTest() : store_(database_.path()) {
    run_ = store_.begin_run({});
    device_ = add_model_device(store_, run_);
  }

  schema::Launch launch_of(const std::string& variant, const Amounts& counts,
                           std::int64_t bytes = 0) {
    schema::Launch launch = counted_launch(variant, counts, bytes);
    for (const auto& [name, value] : counts) {
      const bool is_there = std::any_of(launch.counters.begin(), launch.counters.end(),
                                        [&, &of = name](const auto& c) { return c.name == of; });
      if (!is_there) launch.counters.push_back({name, value, schema::Grade::exact, ""});
    }
    return launch;
  }

  void add(const std::string& variant, const Amounts& counts, std::int64_t bytes = 0) {
    store_.add_launch(run_, device_, launch_of(variant, counts, bytes));
  }

  /// The device of launches to come.
  schema::Device use_h200() {
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    device.compute_capability = 90;
    device.uuid = "GPU-1";
    device_ = store_.add_device(run_, device);
    return device;
  }

  nlohmann::json report() {
    ReportOptions options;
    options.format = Format::json;
    options.sections = {{"run", ""}, {"limits", ""}};
    std::string text;
    write_report(schema::Reader(database_.path()), run_, options, [&](std::string_view part) {
      text += part;
      return true;
    });
    return nlohmann::json::parse(text);
  }

  /// The rows of a table with this column.
  std::vector<nlohmann::json> rows_with(const std::string& column) {
    std::vector<nlohmann::json> found;
    collect(report(), column, found);
    return found;
  }

  std::vector<PlotFile> rooflines() {
    ReportOptions options;
    options.sections = {{"limits", ""}};
    options.plot_folder = "files";
    std::vector<PlotFile> files = write_report(schema::Reader(database_.path()), run_, options,
                                               [](std::string_view) { return true; });
    std::erase_if(files, [](const PlotFile& file) { return !file.name.starts_with("roofline"); });
    return files;
  }

  const TemporaryDatabase database_;
  schema::Store store_;
  std::int64_t run_ = 0, device_ = 0;

 private:
  static void collect(const nlohmann::json& at, const std::string& column,
                      std::vector<nlohmann::json>& found) {
    if (at.is_object() && at.contains(column)) {
      found.push_back(at);
    } else if (at.is_structured()) {
      for (const auto& child : at) collect(child, column, found);
    }
  }
};

TEST_F(RooflineTest, HasOperationsOverTheBytesOfL1) {
  // 2 x 6,400 operations over 100 sectors of 32 bytes: 4 a byte, right of the ridge at 2.
  add("compute", {{"flop_sp_fma", 6400}, {"global_load_sectors", 100}});
  const auto rows = rows_with("intensity");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["kind"], "FP32");
  EXPECT_EQ(rows[0]["memory"], "L1");
  EXPECT_EQ(rows[0]["operations"], 12800);
  EXPECT_EQ(rows[0]["bytes"], 3200);
  EXPECT_EQ(rows[0]["intensity"], 4);
  EXPECT_NEAR(rows[0]["roof"].get<double>(), 66.9, 0.05);
  EXPECT_TRUE(rows[0]["achieved"].is_null());
}

/// 100 sectors of loads, 20 of atomics, 10 of local memory and 30 of textures.
TEST_F(RooflineTest, CountsAllThatMovesAtL1) {
  add("all", {{"flop_sp_fma", 6400},
              {"global_load_sectors", 100},
              {"global_atomic_sectors", 20},
              {"local_load_sectors", 10}});
  schema::Launch textures = launch_of("textures", {{"flop_sp_fma", 6400}});
  for (auto& counter : textures.counters) {
    if (counter.name == "texture_load_sectors") counter.value = 30;
  }
  store_.add_launch(run_, device_, textures);
  const auto rows = rows_with("intensity");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["bytes"], 130 * 32);
  EXPECT_EQ(rows[1]["bytes"], 30 * 32);
}

TEST_F(RooflineTest, HasAPointForEachMemoryUnderItsOwnRoof) {
  const schema::Device device = use_h200();
  const schema::Peak peaks[] = {{"fp32", "TFLOP/s", 60, 1980, ""},
                                {"l1_read", "GB/s", 30'000, 1980, ""},
                                {"l2_read", "GB/s", 6'000, 1980, ""},
                                {"device_memory_read", "GB/s", 4'500, 1980, ""},
                                {"device_memory_copy", "GB/s", 4'000, 1980, ""}};
  schema::store_peaks(database_.path(), device, peaks);
  // A byte has 1 operation at L1, 4 at L2, and 8 at device memory.
  add("product", beyond_l1({{"flop_sp_fma", 6400}, {"global_load_sectors", 400}}, 3200, 1600));
  const auto rows = rows_with("intensity");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["measured_roof"], 30);
  EXPECT_EQ(rows[1]["memory"], "L2");
  EXPECT_EQ(rows[1]["intensity"], 4);
  EXPECT_EQ(rows[1]["measured_roof"], 24);
  EXPECT_TRUE(rows[1]["roof"].is_null()) << "NVIDIA publishes none of L2";
  EXPECT_EQ(rows[2]["memory"], "device memory");
  EXPECT_EQ(rows[2]["intensity"], 8);
  EXPECT_EQ(rows[2]["measured_roof"], 36) << "reading is faster than copying";
  EXPECT_NEAR(rows[2]["roof"].get<double>(), 38.4, 0.001);
}

/// Input and output, each once, are the least that a kernel moves.
TEST_F(RooflineTest, SaysThatDeviceMemoryMovesAtLeastInputAndOutput) {
  add("product", {{"flop_sp_fma", 6400}, {"global_load_sectors", 400}}, 1600);
  const auto rows = rows_with("intensity");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1]["memory"], "device memory, at least");
  EXPECT_EQ(rows[1]["intensity"], 8);
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0].svg, HasSubstr("product: device memory, at least"));
  expect_golden("limits_roofline_least.svg", files[0].svg);
}

TEST_F(RooflineTest, HasARowForEachKindOfOperations) {
  add("mixed", {{"flop_sp_fma", 3200},
                {"flop_hp_fma", 1600},
                {"flop_dp_add", 32},
                {"tensor_ops_bf16", 4096},
                {"tensor_ops_int8", 8192},
                {"inst_integer", 9999},
                {"global_load_sectors", 100}});
  const auto rows = rows_with("intensity");
  std::map<std::string, double> operations, roofs;
  for (const auto& row : rows) {
    operations[row["kind"]] = row["operations"].get<double>();
    roofs[row["kind"]] = row["roof"].get<double>();
  }
  EXPECT_THAT(
      operations,
      testing::ElementsAre(testing::Pair("BF16 on tensor cores", 4096),
                           testing::Pair("FP16 (a pair as one)", 3200), testing::Pair("FP32", 6400),
                           testing::Pair("FP64", 32), testing::Pair("INT8 on tensor cores", 8192)));
  // All of L1's 33,454 GB/s: 4,096 operations over 3,200 bytes.
  EXPECT_NEAR(roofs["BF16 on tensor cores"], 33.454 * 4096 / 3200, 0.01);
  EXPECT_EQ(rooflines().size(), 5U) << "a picture of each kind";
}

TEST_F(RooflineTest, HasThePeakOfTheTensorCores) {
  add("product", {{"tensor_ops_fp16", 1e9}, {"global_load_sectors", 100}});
  const auto rows = rows_with("intensity");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0]["roof"].get<double>(), 989.4, 0.001);
}

/// A copy has its integers below the issue slots, 4 warps a cycle and multiprocessor, and its bytes
/// against the memory. Additions are 64 a cycle, but products have a pipe of their own.
TEST_F(RooflineTest, PlacesKernelsWithoutFloatingPointOperations) {
  add("copy", {{"inst_integer", 64'000}, {"global_load_sectors", 50}, {"global_store_sectors", 50}},
      3200);
  const auto rows = rows_with("intensity");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["kind"], "integers");
  EXPECT_EQ(rows[0]["intensity"], 20);
  EXPECT_NEAR(rows[0]["roof"].get<double>(), 4 * 32 * 132 * 1.98 / 1000, 0.01);
  EXPECT_THAT(report().dump(), HasSubstr("The roof of integers is the peak of the issue slots."));
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0].svg, HasSubstr("The roofs are H200's: 33.5 TOP/s of issue slots, "));
  const auto bytes = rows_with("bandwidth_roof");
  ASSERT_EQ(bytes.size(), 2U);
  EXPECT_EQ(bytes[1]["memory"], "device memory, at least");
  EXPECT_EQ(bytes[1]["bytes"], 3200);
  EXPECT_EQ(bytes[1]["bandwidth_roof"], 4.8);
  EXPECT_TRUE(bytes[1]["achieved_bytes"].is_null());
}

TEST_F(RooflineTest, ShowsTheBandwidthThatACopyAchieved) {
  use_h200();
  schema::Launch launch = launch_of("copy", beyond_l1({{"global_load_sectors", 1}}, 64, 4'000'000));
  launch.timing = schema::Timing{{1000}, schema::CacheState::cold, 0, "samples"};
  store_.add_launch(run_, device_, launch);
  const auto bytes = rows_with("bandwidth_roof");
  ASSERT_EQ(bytes.size(), 3U);
  EXPECT_EQ(bytes[2]["memory"], "device memory");
  EXPECT_EQ(bytes[2]["achieved_bytes"], 4) << "4,000,000 bytes in a microsecond";
}

/// Two sizes of one intensity are two points.
TEST_F(RooflineTest, DrawsEverySizeOfOneIntensity) {
  for (const int size : {1024, 2048}) {
    schema::Launch launch =
        launch_of("add", {{"flop_sp_add", size}, {"global_load_sectors", size}});
    launch.size = size;
    store_.add_launch(run_, device_, launch);
  }
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 1U);
  std::size_t points = 0;
  for (std::size_t at = 0; (at = files[0].svg.find("add: L1: ", at)) != std::string::npos; ++at) {
    ++points;
  }
  EXPECT_EQ(points, 2U);
}

TEST_F(RooflineTest, DrawsAllFamiliesTogetherToo) {
  add("compute", {{"flop_sp_fma", 6400}, {"global_load_sectors", 100}}, 320);
  for (int i = 0; i < 14; ++i) {
    schema::Launch launch = launch_of("kernel_" + std::to_string(i),
                                      {{"flop_sp_fma", 64 << i}, {"global_load_sectors", 100}});
    launch.family = "other";
    store_.add_launch(run_, device_, launch);
  }
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].name, "roofline-of-all-families-fp32-on-model-sm-90.svg");
  EXPECT_THAT(files[0].svg, HasSubstr("The 12 of 15 kernels with most operations."));
  EXPECT_THAT(files[0].svg, HasSubstr("other/kernel_13"));
  EXPECT_THAT(files[0].svg, HasSubstr("test/compute"));
  EXPECT_THAT(files[0].svg, Not(HasSubstr("other/kernel_2:"))) << "it has few operations";
  EXPECT_THAT(files[1].svg, HasSubstr("The 12 of 14 variants with most operations."));
}

TEST_F(RooflineTest, ShowsEachFamilyAtItsLargestSizeAmongAllFamilies) {
  for (const auto& [family, variant, size] :
       {std::tuple{"a", "old", 512}, {"a", "new", 1024}, {"b", "new", 512}}) {
    schema::Launch launch = launch_of(variant, {{"flop_sp_fma", 6400}, {"global_load_sectors", 1}});
    launch.family = family;
    launch.size = size;
    store_.add_launch(run_, device_, launch);
  }
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_THAT(files[0].svg,
              testing::AllOf(HasSubstr("a/new"), HasSubstr("b/new"), Not(HasSubstr("a/old"))));
}

TEST_F(RooflineTest, DrawsTheLongestKernelsWhereTheyHaveTimes) {
  use_h200();
  for (int i = 0; i < 13; ++i) {
    // The first has the most operations, and takes the least time.
    schema::Launch launch =
        launch_of(std::string(1, static_cast<char>('a' + i)) + "_variant",
                  {{"flop_sp_fma", 64 * (20 - i)}, {"global_load_sectors", 100}});
    launch.timing = schema::Timing{{1000.0 + i}, schema::CacheState::cold, 0, "samples"};
    store_.add_launch(run_, device_, launch);
  }
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0].svg, HasSubstr("The 12 longest of 13 variants."));
  EXPECT_THAT(files[0].svg, HasSubstr("m_variant: L1"));
  EXPECT_THAT(files[0].svg, Not(HasSubstr("a_variant: L1")));
}

/// A roof has its points, and a text is about what the picture has.
TEST_F(RooflineTest, SaysThatAPictureOfManyVariantsHasOneMemory) {
  for (int i = 0; i < 8; ++i) {
    add("variant_" + std::to_string(i), {{"flop_sp_fma", 6400}, {"global_load_sectors", 100 + i}},
        1600);
  }
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0].svg, HasSubstr("The table has the other memories."));
  EXPECT_THAT(files[0].svg, HasSubstr("variant_7: L1"));
  EXPECT_THAT(files[0].svg, Not(HasSubstr("device memory")));
  EXPECT_THAT(files[0].svg, Not(HasSubstr("“At least”")));
}

TEST_F(RooflineTest, ShowsTheRoofThatWasMeasuredOnTheCard) {
  schema::Device device = use_h200();
  device.driver = "an earlier one";  // the same card all the same
  const schema::Peak peaks[] = {{"fp32", "TFLOP/s", 60, 1980, ""},
                                {"l1_read", "GB/s", 30'000, 1980, ""}};
  schema::store_peaks(database_.path(), device, peaks);
  // 4 operations a byte are right of the ridge at 60 / 30, and 1 is left of it.
  add("compute", {{"flop_sp_fma", 6400}, {"global_load_sectors", 100}});
  add("memory", {{"flop_sp_fma", 1600}, {"global_load_sectors", 100}});
  const auto rows = rows_with("measured_roof");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["measured_roof"], 60);
  EXPECT_EQ(rows[1]["measured_roof"], 30);
  const std::vector<PlotFile> files = rooflines();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_THAT(files[0].svg,
              HasSubstr("This card was measured at 60 TFLOP/s of FP32, 30 TB/s of L1."));
  expect_golden("limits_roofline.svg", files[0].svg);
}

TEST(RooflineSet, CountsWhatTheRooflineNeeds) {
  const auto& catalogue = schema::Catalogue::get();
  EXPECT_THAT(catalogue.counters_for(std::vector<std::string>{"@limits"}),
              IsSupersetOf({"global_bytes_moved", "texture_load_sectors", "surface_load_sectors",
                            "surface_store_sectors", "l2_atomic_sectors", "l2_reduction_sectors",
                            "inst_integer", "tensor_ops_fp64", "tensor_ops_tf32", "tensor_ops_bf16",
                            "tensor_ops_fp16", "tensor_ops_fp8", "tensor_ops_fp4",
                            "tensor_ops_int8", "tensor_ops_int4", "tensor_ops_int1"}));
}

}  // namespace
}  // namespace warpmeter::reports
