// SPDX-License-Identifier: MIT
// The limits of launches whose counts are made up, and the peaks of cards beside their datasheets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/cards.h"
#include "reports/render/report.h"
#include "reports/sections/limits.h"
#include "reports/sections/needs.h"
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

/// TFLOP/s of single and double precision as NVIDIA's datasheets print them.
TEST(Cards, HaveThePeaksOfTheirDatasheets) {
  const std::map<std::string, std::pair<double, double>> datasheets = {
      {"NVIDIA H200", {67, 34}},
      {"NVIDIA H100 PCIe", {51, 26}},
      {"NVIDIA H100 80GB HBM3", {67, 34}},
      {"NVIDIA A100-SXM4-80GB", {19.5, 9.7}},
      {"NVIDIA A10", {31.2, 0.49}},
      {"NVIDIA GeForce RTX 3090", {35.6, 0.556}},
      {"NVIDIA L40S", {91.6, 1.43}},
      {"NVIDIA L4", {30.3, 0.473}},
      {"NVIDIA GeForce RTX 4090", {82.6, 1.29}},
      {"Tesla V100-SXM2-16GB", {15.7, 7.8}},
      {"Tesla T4", {8.1, 0.254}},
  };
  for (const auto& [name, peaks] : datasheets) {
    const CardPeaks* card = card_named(name);
    ASSERT_NE(card, nullptr) << name;
    const Rates* rates = rates_of(card->compute_capability);
    ASSERT_NE(rates, nullptr) << name;
    EXPECT_NEAR(card->peak_tflops(rates->fp32), peaks.first, 0.015 * peaks.first) << name;
    EXPECT_NEAR(card->peak_tflops(rates->fp64), peaks.second, 0.02 * peaks.second) << name;
  }
}

/// The H100's whitepaper: 3.35 TB/s of memory; 33 TB/s of L1 and of shared memory are 128 bytes a
/// cycle of 132 multiprocessors at 1.98 GHz.
TEST(Cards, DocumentTheUnitsOfMeasuredPeaks) {
  const CardPeaks& card = *card_named("NVIDIA H100 80GB HBM3");
  const Rates& rates = *rates_of(card.compute_capability);
  EXPECT_EQ(documented_peak(card, rates, "device_memory_copy"), 3350);
  EXPECT_NEAR(documented_peak(card, rates, "l1_read").value(), 33'454, 1);
  EXPECT_NEAR(documented_peak(card, rates, "shared_read").value(), 33'454, 1);
  EXPECT_NEAR(documented_peak(card, rates, "fp16").value(), 134, 1);
  EXPECT_EQ(documented_peak(card, rates, "l2_read"), std::nullopt);
  EXPECT_EQ(documented_peak(card, rates, "tensor_fp16"), 989.4);
  EXPECT_EQ(documented_peak(card, rates, "tensor_fp4"), std::nullopt) << "Hopper has none";
  EXPECT_EQ(documented_peak(card, rates, "tensor_int4"), std::nullopt) << "Hopper lost it";
  EXPECT_NEAR(documented_peak(card, rates, "issue").value(), 33.45, 0.01) << "4 warps a cycle";
}

/// The products that the whitepapers give a multiprocessor's tensor cores in a cycle, at the clock
/// of the peak: the H100's is 1.83 GHz for tensor cores, but its boost clock for FP64. The L40S's
/// datasheet has no more for INT4 than for INT8.
TEST(Cards, HaveTheTensorPeaksOfTheirCores) {
  struct Cores {
    const char* card;
    double clock_ghz;
    TensorPeaks products;
  };
  const std::pair<const char*, double TensorPeaks::*> types[] = {
      {"fp64", &TensorPeaks::fp64}, {"tf32", &TensorPeaks::tf32}, {"bf16", &TensorPeaks::bf16},
      {"fp16", &TensorPeaks::fp16}, {"fp8", &TensorPeaks::fp8},   {"int8", &TensorPeaks::int8},
      {"int4", &TensorPeaks::int4}};
  const TensorPeaks hopper = {128, 1024, 2048, 2048, 4096, 4096};
  const TensorPeaks ga100 = {64, 512, 1024, 1024, 0, 2048, 4096};
  for (const Cores& cores :
       {Cores{"NVIDIA H200", 1.83, hopper},
        {"NVIDIA H100 80GB HBM3", 1.83, hopper},
        {"NVIDIA H100 PCIe", 1.62, hopper},
        {"NVIDIA A100-SXM4-80GB", 1.41, ga100},
        {"NVIDIA A100-SXM4-40GB", 1.41, ga100},
        {"NVIDIA A10", 1.695, {0, 256, 512, 512, 0, 1024, 2048}},
        {"NVIDIA GeForce RTX 3090", 1.695, {0, 128, 256, 512, 0, 1024, 2048}},
        {"NVIDIA L40S", 2.52, {0, 256, 512, 512, 1024, 1024, 1024}},
        {"NVIDIA L4", 2.04, {0, 256, 512, 512, 1024, 1024}},
        {"NVIDIA GeForce RTX 4090", 2.52, {0, 128, 256, 512, 1024, 1024, 2048}},
        {"Tesla V100-SXM2-16GB", 1.53, {0, 0, 0, 512}},
        {"Tesla T4", 1.59, {0, 0, 0, 512, 0, 1024, 2048}}}) {
    const CardPeaks* card = card_named(cores.card);
    ASSERT_NE(card, nullptr) << cores.card;
    for (const auto& [type, of_type] : types) {
      const bool is_double = of_type == &TensorPeaks::fp64;
      const double clock_ghz = is_double ? card->clock_ghz : cores.clock_ghz;
      const double peak = 2 * cores.products.*of_type * card->multiprocessors * clock_ghz / 1000;
      EXPECT_NEAR(card->tensor.*of_type, peak, 0.015 * peak) << cores.card << " " << type;
    }
  }
}

TEST(Cards, AreFoundByWholeWords) {
  EXPECT_EQ(card_named("NVIDIA A100-PCIE-40GB"), nullptr) << "it is no A10";
  EXPECT_EQ(card_named("NVIDIA H2000"), nullptr);
  EXPECT_EQ(card_of(90)->name, "H200");
  EXPECT_EQ(card_of(61), nullptr);
}

class LimitsTest : public testing::Test {
 protected:
  LimitsTest() : store_(database_.path()) {
    run_ = store_.begin_run({});
    device_ = add_model_device(store_, run_);
  }

  void add(const std::string& variant, const std::map<std::string, double>& counts,
           std::int64_t bytes = 1024) {
    store_.add_launch(run_, device_, counted_launch(variant, counts, bytes, left_out));
  }

  /// The device of launches to come.
  schema::Device use_gpu(const char* name, int compute_capability) {
    schema::Device device;
    device.backend = "cupti";
    device.name = name;
    device.compute_capability = compute_capability;
    device.uuid = "GPU-1";
    device_ = store_.add_device(run_, device);
    return device;
  }

  std::string limits() {
    ReportOptions options;
    options.format = Format::json;
    options.sections = {{"run", ""}, {"limits", ""}};
    std::string text;
    write_report(schema::Reader(database_.path()), run_, options, [&](std::string_view part) {
      text += part;
      return true;
    });
    return nlohmann::json::parse(text).dump();
  }

  std::string left_out;
  const TemporaryDatabase database_;
  schema::Store store_;
  std::int64_t run_ = 0, device_ = 0;
};

TEST_F(LimitsTest, NamesTheResourceThatNeedsTheMostCycles) {
  // 1,000 wavefronts at 1 a cycle; 1,600 instructions at 4 a cycle; 2,400 sectors at 4 a cycle.
  add("shared", {{"shared_load_wavefronts", 1000},
                 {"warp_instructions", 1600},
                 {"global_load_sectors", 2400}});
  const std::string text = limits();
  EXPECT_THAT(text, HasSubstr("\"limit\":\"shared memory\""));
  EXPECT_THAT(text, HasSubstr("1,000 wavefronts at 1 a cycle: 1.67 times L1"));
  EXPECT_THAT(text, HasSubstr("\"issue_share\":40"));
  EXPECT_THAT(text, HasSubstr("\"l1_share\":60"));
}

TEST_F(LimitsTest, CountsTheBytesOfInputAndOutputForDeviceMemory) {
  // 4,800 GB/s over 132 multiprocessors at 1.98 GHz: 18.37 bytes a cycle.
  add("copy", {{"warp_instructions", 400}}, 4'800'000);
  EXPECT_THAT(limits(), HasSubstr("4,800,000 bytes of input and output at 18.4 a cycle"));
}

TEST_F(LimitsTest, ComparesNoDeviceMemoryOfACardWithoutDatasheet) {
  use_gpu("NVIDIA H100 NVL", 90);
  add("copy", {{"warp_instructions", 400}}, 4'800'000);
  const std::string text = limits();
  EXPECT_THAT(text, HasSubstr("\"limit\":\"issue slots, or device memory\""));
  EXPECT_THAT(text, HasSubstr("\"cycles\":100"));
}

TEST_F(LimitsTest, SaysThatRatesAreNotListed) {
  use_gpu("NVIDIA GeForce RTX 5090", 120);
  add("copy", {{"warp_instructions", 400}});
  EXPECT_THAT(limits(), HasSubstr("compute capability 12.0 are not on the list"));
}

TEST_F(LimitsTest, DrawsTwoVariantsMemoryBelowOneAnother) {
  add("bad", {{"shared_load_requests", 100},
              {"shared_load_wavefronts", 3200},
              {"global_load_sectors", 100}});
  add("good", {{"shared_load_requests", 100},
               {"shared_load_wavefronts", 400},
               {"global_load_sectors", 9970}});
  ReportOptions options;
  options.sections = {{"limits", ""}};
  options.plot_folder = "files";
  const std::vector<PlotFile> files = write_report(schema::Reader(database_.path()), run_, options,
                                                   [](std::string_view) { return true; });
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].name, "memory-of-test-size-1-024.svg");
  const std::string& svg = files[0].svg;
  const std::size_t bad = svg.find(">bad<"), good = svg.find(">good<");
  ASSERT_LT(bad, good) << "that which costs most is above";
  EXPECT_LT(svg.find(">loads 100 req, 3,200 wf (32 a req)<"), good);
  EXPECT_GT(svg.find(">loads 100 req, 400 wf ×0.12 (4 a req)<"), good);
  EXPECT_THAT(svg, HasSubstr("9,970 sec ×100, 319 kB<"));
  EXPECT_THAT(svg, HasSubstr("no cache is modelled<")) << "L2 and device memory";
  expect_golden("limits_memory.svg", svg);
}

TEST_F(LimitsTest, TakesAPairOfHalvesForOneAsItsCounterDoes) {
  // Datasheet of the H100: 134 TFLOP/s of FP16 without tensor cores, two values an instruction.
  EXPECT_NEAR(2 * card_of(90)->peak_tflops(rates_of(90)->fp16), 134, 1);
  // 80 warp instructions of HFMA2 at 128 threads a cycle; 100 instructions at 4 a cycle.
  add("halves", {{"flop_hp_fma", 80 * 32}, {"warp_instructions", 100}}, 0);
  const std::string text = limits();
  EXPECT_THAT(text, HasSubstr("\"cycles\":25"));
  EXPECT_THAT(text, HasSubstr("\"fp16_share\":80"));
}

TEST_F(LimitsTest, SaysThatCountsAreApproximate) {
  schema::Launch launch = counted_launch("shared", {{"shared_load_wavefronts", 1000}}, 1024);
  for (auto& counter : launch.counters) {
    if (counter.name == "shared_load_wavefronts") counter.grade = schema::Grade::modelled;
  }
  store_.add_launch(run_, device_, launch);
  EXPECT_THAT(limits(), HasSubstr("largest size. ᵐ is approximate."));
}

TEST_F(LimitsTest, NamesNoLimitBesideTensorCores) {
  add("product", {{"shared_wgmma_requests", 8}, {"shared_wgmma_wavefronts", 64}});
  EXPECT_THAT(limits(), HasSubstr("\"limit\":null"));
}

TEST_F(LimitsTest, NamesUnitsByTheShareOfTheirPeak) {
  // 80 % of 10,000 cycles are 8,000; 4,000 instructions at 4 a cycle are 1,000.
  schema::Launch launch = counted_launch("strided", {{"warp_instructions", 4000}}, 1024);
  for (const auto& [name, value] : std::map<std::string, double>{{"l2_input_utilization", 80},
                                                                 {"dram_utilization", 20},
                                                                 {"tensor_utilization", 0},
                                                                 {"elapsed_cycles_sm", 10'000}}) {
    launch.counters.push_back({name, value, schema::Grade::measured, ""});
  }
  store_.add_launch(run_, device_, launch);
  const std::string text = limits();
  EXPECT_THAT(text, HasSubstr("\"limit\":\"L2: way in\""));
  EXPECT_THAT(text, HasSubstr("80 % of its peak in 10,000 cycles: 4.00 times device memory"));
  EXPECT_THAT(text, HasSubstr("\"cycles\":8000"));
  EXPECT_THAT(text, HasSubstr("\"issue_of_peak\":10"));
  EXPECT_THAT(text, HasSubstr("\"device_memory_of_peak\":20"));
}

/// 128 registers of 256 threads: two blocks of 8 warps in 65,536 registers, of 64 warps.
TEST_F(LimitsTest, ShowsWhatKeepsTheOccupancyDown) {
  schema::Launch launch = counted_launch("wide", {{"warp_instructions", 400}}, 1024);
  launch.block[0] = 256;
  launch.registers = 128;
  launch.static_shared_bytes = 0;
  launch.counters.push_back({"achieved_occupancy", 21.5, schema::Grade::measured, ""});
  store_.add_launch(run_, device_, launch);
  const std::string text = limits();
  EXPECT_THAT(text, HasSubstr("\"achieved_occupancy\":21.5"));
  EXPECT_THAT(text, HasSubstr("\"theoretical_occupancy\":25"));
  EXPECT_THAT(text, HasSubstr("\"occupancy_limiter\":\"registers\""));
}

TEST_F(LimitsTest, NamesTheLimitBesideTensorCoresThatAreMeasured) {
  schema::Launch launch = counted_launch(
      "product", {{"shared_wgmma_requests", 8}, {"shared_wgmma_wavefronts", 64}}, 1024);
  launch.counters.push_back({"tensor_utilization", 90, schema::Grade::measured, ""});
  launch.counters.push_back({"elapsed_cycles_sm", 1000, schema::Grade::measured, ""});
  store_.add_launch(run_, device_, launch);
  EXPECT_THAT(limits(), HasSubstr("\"limit\":\"tensor cores\""));
}

/// A special function takes a cycle of 16 lanes, an instruction a quarter of one (CUDA's guide).
TEST_F(LimitsTest, CountsSpecialFunctions) {
  schema::Launch launch = counted_launch("sines", {{"warp_instructions", 40}}, 0);
  launch.counters.push_back({"flop_count_sp_special", 640, schema::Grade::exact, ""});
  store_.add_launch(run_, device_, launch);
  const std::string text = limits();
  EXPECT_THAT(text, HasSubstr("\"limit\":\"special functions\""));
  EXPECT_THAT(text, HasSubstr("640 operations of threads at 16 a cycle: 4.00 times issue slots"));
}

/// A T4 has no wgmma and no cp.async: nothing of them can limit a kernel there.
TEST_F(LimitsTest, NeedsNoCountOfLaterInstructions) {
  use_gpu("Tesla T4", 75);
  schema::Launch launch = counted_launch("shared", {{"shared_load_wavefronts", 1000}}, 1024);
  std::erase_if(launch.counters, [](const auto& counter) {
    return counter.name.starts_with("shared_wgmma") || counter.name.starts_with("async_copy") ||
           counter.name.starts_with("shared_matrix_store");
  });
  store_.add_launch(run_, device_, launch);
  EXPECT_THAT(limits(), HasSubstr("\"limit\":\"shared memory\""));
}

TEST_F(LimitsTest, TheSetCountsWhatTheSectionNeeds) {
  const auto counters_of = [](const std::string& metric) {
    return schema::Catalogue::get().counters_for(std::vector{metric});
  };
  const std::vector<std::string> counted = counters_of("@limits");
  for (const sections::Resource& resource : sections::resources()) {
    std::vector<const char*> names = resource.counters;
    if (resource.share != nullptr) names.insert(names.end(), {resource.share, "elapsed_cycles_sm"});
    for (const char* counter : names) {
      const std::vector<std::string> needed = counters_of(counter);
      EXPECT_FALSE(needed.empty()) << counter;
      EXPECT_THAT(counted, IsSupersetOf(needed)) << counter;
    }
  }
  for (const std::string& counter : sections::memory_counters()) {
    const std::vector<std::string> needed = counters_of(counter);
    EXPECT_FALSE(needed.empty()) << counter;
    EXPECT_THAT(counted, IsSupersetOf(needed)) << counter;
  }
}

TEST_F(LimitsTest, NamesTheLaunchesWithoutALimit) {
  add("shared", {{"shared_load_wavefronts", 1000}});
  left_out = "local_load_sectors";
  add("spilling", {{"shared_load_wavefronts", 1000}});
  EXPECT_THAT(limits(), HasSubstr("Without a limit: test/spilling (local_load_sectors was not "
                                  "counted)."));
}

TEST_F(LimitsTest, NamesTheUnitsWithoutACount) {
  add("sines", {{"warp_instructions", 36864}});
  EXPECT_THAT(limits(), HasSubstr("These have no count here, and may need more: special functions, "
                                  "integers and comparisons, FP32 and integer products, tensor "
                                  "cores, data banks of L1 and shared memory, L2."));
}

TEST_F(LimitsTest, SaysNothingWhereAResourceHasNoCount) {
  left_out = "warp_instructions";
  add("unknown", {{"shared_load_wavefronts", 1000}});
  EXPECT_THAT(limits(), Not(HasSubstr("What limits each variant")));
}

}  // namespace
}  // namespace warpmeter::reports
