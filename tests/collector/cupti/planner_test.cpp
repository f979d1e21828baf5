// SPDX-License-Identifier: MIT
// CUPTI's host side knows every chip without a GPU, so names and passes are tested for all of them.
#include "collector/cupti/planner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "collector/cupti/passes.h"
#include "schema/catalogue.h"

namespace warpmeter::cupti {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

constexpr const char* chips[] = {"TU102", "GA100", "AD102", "GH100", "GB100", "GB202"};

class Planner : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cupti_library().ok()) GTEST_SKIP() << cupti_library().sentence();
  }
  static Plan plan(const std::string& chip, const std::vector<std::string>& counters) {
    return Plan(cupti_library().api, chip, {}, counters);
  }
  static std::vector<std::string> standard() {
    const std::vector<std::string> names = {"@default"};
    return schema::Catalogue::get().counters_for(names);
  }
};

/// Instructions came with chips, and so did their counters: cp.async, then copies in bulk and
/// distributed shared memory. Multicast is counted on chips of data centres.
const std::vector<std::string> async_copies = {
    "async_copy_requests", "async_copy_bypass_requests", "async_copy_sectors",
    "async_copy_bytes",    "async_copy_wavefronts",      "async_copy_bypass_wavefronts"};
const std::vector<std::string> bulk_copies = {"bulk_load_requests",
                                              "bulk_load_sectors",
                                              "bulk_load_bytes",
                                              "bulk_store_requests",
                                              "bulk_store_sectors",
                                              "bulk_store_bytes",
                                              "bulk_reduction_requests",
                                              "bulk_reduction_sectors",
                                              "bulk_reduction_bytes",
                                              "distributed_shared_load_requests",
                                              "distributed_shared_load_sectors",
                                              "distributed_shared_store_requests",
                                              "distributed_shared_store_sectors",
                                              "distributed_shared_atomic_requests",
                                              "distributed_shared_atomic_sectors",
                                              "distributed_shared_async_store_requests",
                                              "distributed_shared_async_reduction_requests",
                                              "distributed_shared_bulk_store_requests",
                                              "distributed_shared_bulk_store_bytes",
                                              "distributed_shared_bulk_reduction_requests",
                                              "distributed_shared_bulk_reduction_bytes",
                                              "distributed_shared_async_reduction_sectors"};

const std::set<std::string> before_stmatrix = {"TU102", "GA100", "GA102", "AD102"};

TEST_F(Planner, TakesTheStandardSetInTwoPassesOnEveryChip) {
  for (const char* chip : chips) {
    SCOPED_TRACE(chip);
    const Plan made = plan(chip, standard());
    for (const Plan::Item& item : made.items()) {
      // stmatrix came with GH100, and so did its counters; wgmma is of that chip alone.
      const bool is_too_new =
          (item.counter.starts_with("shared_matrix_store") && before_stmatrix.contains(chip)) ||
          (item.counter.starts_with("shared_wgmma") && chip != std::string("GH100")) ||
          (item.counter.starts_with("async_copy") && chip == std::string("TU102")) ||
          ((item.counter.starts_with("bulk") || item.counter.starts_with("distributed")) &&
           before_stmatrix.contains(chip));
      EXPECT_EQ(item.lacking.empty(), !is_too_new) << item.counter << ": " << item.lacking;
    }
    EXPECT_EQ(made.items().size(), standard().size());
    EXPECT_EQ(made.passes(), 2u);
  }
}

TEST_F(Planner, ResolvesEveryCatalogueCounterOrSaysThatTheChipLacksIt) {
  // The metrics that CUPTI 13.0 lacks; anything else missing is a wrong name in the catalogue.
  std::map<std::string, std::set<std::string>> lacking = {{"GB100", {"stalled_imc_miss"}},
                                                          {"GB202", {"stalled_imc_miss"}}};
  for (const std::string& chip : before_stmatrix) {
    lacking[chip] = {"shared_matrix_store_wavefronts", "shared_matrix_store_requests"};
    lacking[chip].insert(bulk_copies.begin(), bulk_copies.end());
    lacking[chip].insert("bulk_load_multicast_bytes");
  }
  lacking["TU102"].insert(async_copies.begin(), async_copies.end());
  lacking["GB202"].insert("bulk_load_multicast_bytes");
  lacking["TU102"].insert({"tensor_ops_fp64", "tensor_ops_tf32", "tensor_ops_bf16"});
  for (const char* chip : {"TU102", "GA100"}) lacking[chip].insert("tensor_ops_fp8");
  for (const char* chip : {"TU102", "GA100", "AD102", "GH100"}) {
    lacking[chip].insert("tensor_ops_fp4");
  }
  for (const char* chip : {"GH100", "GB100", "GB202"}) lacking[chip].insert("tensor_ops_int4");
  for (const char* chip : {"GB100", "GB202"}) lacking[chip].insert("tensor_ops_int1");
  for (const char* chip : chips) {  // wgmma is of one chip
    if (chip == std::string("GH100")) continue;
    lacking[chip].insert({"shared_wgmma_wavefronts", "shared_wgmma_requests"});
  }
  for (const char* chip : {"AD102", "GB202"}) {  // without NVLink
    for (const char* which : {"received", "transmitted"}) {
      for (const char* counter : {"nvlink_total_data_{}", "nvlink_user_data_{}",
                                  "nvlink_protocol_bytes_{}", "nvlink_bytes_{}_per_second"}) {
        lacking[chip].insert(fmt::format(fmt::runtime(counter), which));
      }
    }
    lacking[chip].insert(
        {"nvlink_total_response_data_received", "nvlink_user_response_data_received"});
  }
  std::vector<std::string> counters, nvlink, pcie;
  for (const schema::CounterInfo& info : schema::Catalogue::get().counters()) {
    if (info.perfworks.empty()) continue;
    (info.perfworks.starts_with("nvl")    ? nvlink
     : info.perfworks.starts_with("pcie") ? pcie
                                          : counters)
        .push_back(info.name);
  }
  for (const char* chip : chips) {
    std::set<std::string> missing;
    for (const auto& asked : {counters, nvlink, pcie}) {
      const Plan made = plan(chip, asked);
      for (const Plan::Item& item : made.items()) {
        if (item.perfworks.empty()) missing.insert(item.counter);
        EXPECT_EQ(item.perfworks.empty(), !item.lacking.empty()) << chip << ' ' << item.counter;
      }
    }
    const auto known = lacking.find(chip);
    EXPECT_EQ(missing, known == lacking.end() ? std::set<std::string>{} : known->second) << chip;
  }
}

TEST_F(Planner, UsesAChipsOwnNameWhereItDiffers) {
  EXPECT_EQ(plan("GH100", {"dram_read_bytes_per_second"}).items().front().perfworks,
            "dram__bytes_read.sum.per_second");
  EXPECT_EQ(plan("GB202", {"dram_read_bytes_per_second"}).items().front().perfworks,
            "dram__bytes_op_read.sum.per_second");
}

/// A family of chips shares its names: those of GB202 are GB203's too.
TEST_F(Planner, FindsTheNamesOfChipsThatNoListHas) {
  EXPECT_EQ(plan("GB203", {"dram_read_bytes"}).items().front().perfworks,
            "dram__bytes_op_read.sum");
  EXPECT_EQ(plan("GA102", {"dram_read_bytes"}).items().front().perfworks, "dram__bytes_read.sum");
}

/// CUPTI refuses a configuration that has both.
TEST_F(Planner, ReadsCountersOfLinksAlone) {
  const Plan alone = plan("GH100", {"nvlink_total_data_received", "nvlink_total_data_transmitted",
                                    "duration_profiled"});
  EXPECT_FALSE(alone.leaves_links_out());
  EXPECT_EQ(alone.metrics().size(), 3u);
  for (const char* other : {"global_load_sectors", "nvlink_total_data_received"}) {
    const Plan both = plan("GH100", {"pcie_total_data_received", other});
    EXPECT_TRUE(both.leaves_links_out());
    EXPECT_THAT(both.items()[0].lacking, HasSubstr("ask for them without others"));
    EXPECT_TRUE(both.items()[1].lacking.empty());
  }
}

TEST_F(Planner, SaysWhyHardwareHasNoCounter) {
  EXPECT_THAT(plan("GH100", {"flop_count_sp_special"}).items().front().lacking,
              HasSubstr("smsp__inst_executed_pipe_xu.sum"));
}

/// Loads of cp.async have a counter of their own where the chip has the instruction.
TEST_F(Planner, AddsTheLoadsOfCopiesToOthers) {
  for (const char* counter : {"global_load_sectors", "global_load_requests", "global_load_bytes"}) {
    EXPECT_EQ(plan("GH100", {counter}).items().front().metrics.size(), 2u) << counter;
    EXPECT_EQ(plan("GA100", {counter}).items().front().metrics.size(), 2u) << counter;
    EXPECT_EQ(plan("TU102", {counter}).items().front().metrics.size(), 1u) << counter;
  }
  EXPECT_EQ(plan("GH100", {"global_store_sectors"}).items().front().metrics.size(), 1u);
}

/// Chips before GH100 and after count products of halves by the type of their sums.
TEST_F(Planner, AddsTheOperationsOfTensorCoresOfAllSums) {
  const std::pair<const char*, std::size_t> chips_parts[] = {
      {"TU102", 2}, {"GA100", 2}, {"AD102", 2}, {"GH100", 1}, {"GB100", 2}, {"GB202", 2}};
  for (const auto& [chip, parts] : chips_parts) {
    EXPECT_EQ(plan(chip, {"tensor_ops_fp16"}).items().front().metrics.size(), parts) << chip;
  }
  EXPECT_EQ(plan("GB100", {"tensor_ops_fp8"}).items().front().metrics.size(), 2U);
  EXPECT_EQ(plan("GB202", {"tensor_ops_fp8"}).items().front().metrics.size(), 4U);
  EXPECT_EQ(plan("GH100", {"tensor_ops"}).items().front().metrics.size(), 7U);
}

/// The sum of what a chip can move has no part that the chip has no instruction for.
TEST_F(Planner, AddsUpAllThatMovesGlobalMemory) {
  const std::pair<const char*, std::size_t> chips_parts[] = {
      {"TU102", 4}, {"GA100", 5}, {"GB202", 8}};
  for (const auto& [chip, parts] : chips_parts) {
    const Plan made = plan(chip, {"global_bytes_moved"});
    EXPECT_EQ(made.items().front().metrics.size(), parts) << chip;
    EXPECT_TRUE(made.items().front().doubts.empty()) << chip;
    EXPECT_LE(made.passes(), 2u) << chip;
  }
  const Plan::Item item = plan("GH100", {"global_bytes_moved"}).items().front();
  EXPECT_EQ(item.metrics.front(), (std::pair<std::size_t, double>{0, 32}));
  EXPECT_EQ(item.metrics.back(), (std::pair<std::size_t, double>{7, 1}));
}

TEST_F(Planner, LeavesOutWhatTheCodeOfKernelsHasNot) {
  const KernelCode plain{false, false, false, false}, bulk{true, false, false, false};
  const Plan without(cupti_library().api, "GH100", {}, standard(), &plain);
  EXPECT_FALSE(without.metrics().empty());
  for (const char* metric : without.metrics()) {
    const std::string name = metric;  // counters of units take 20 ms a launch
    EXPECT_TRUE(name.find("__sass_") != std::string::npos || name.starts_with("gpu__time")) << name;
  }
  const std::vector<std::string> bytes = {"bulk_load_bytes", "global_load_bytes"};
  EXPECT_EQ(Plan(cupti_library().api, "GH100", {}, bytes, &plain).items()[0].metrics.size(), 0U);
  EXPECT_EQ(Plan(cupti_library().api, "GH100", {}, bytes, &bulk).items()[0].metrics.size(), 1U);
  EXPECT_EQ(Plan(cupti_library().api, "GH100", {}, bytes, &plain).items()[0].lacking, "");
}

/// CUPTI says 0 for a quotient of nothing, and a gate would take that for the worst efficiency.
TEST_F(Planner, ReadsWhatAQuotientDividesBy) {
  for (const char* chip : chips) {
    const Plan made =
        plan(chip, {"branch_efficiency", "shared_efficiency", "shared_load_requests"});
    EXPECT_EQ(made.passes(), 1U) << chip;
    const auto divisor_of = [&](std::size_t item) {
      const auto& divisor = made.items()[item].divisor;
      return divisor ? std::string(made.metrics()[divisor->first]) + ": " + divisor->second : "";
    };
    EXPECT_EQ(divisor_of(0), "smsp__sass_branch_targets.sum: no branches") << chip;
    EXPECT_EQ(divisor_of(1),
              "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum: no accesses to shared memory")
        << chip;
    EXPECT_EQ(divisor_of(2), "") << chip;
  }
}

/// A range needs a counter, so those of what the code has not are read where nothing else is.
TEST_F(Planner, ReadsWhatTheCodeHasNotWhereNothingElseIsAskedFor) {
  const KernelCode plain = no_special_code;
  for (const char* name : {"bulk_load_bytes", "tensor_ops_fp16"}) {
    const Plan alone(cupti_library().api, "GH100", {}, std::vector<std::string>{name}, &plain);
    EXPECT_EQ(alone.items()[0].lacking, "") << name;
    EXPECT_EQ(alone.items()[0].metrics.size(), 1U) << name;
    EXPECT_GE(alone.passes(), 1U) << name;
    EXPECT_FALSE(alone.leaves_out(KernelCode{})) << name;
  }
}

/// Only a plan that left counters out is of no use for a kernel that has what they count.
TEST_F(Planner, CountsProductsOnlyWhereTheCodeHasThem) {
  const KernelCode plain{false, false, false, false}, products{false, false, false, true};
  const std::string set[] = {"@limits"};
  const std::vector<std::string> counters = schema::Catalogue::get().counters_for(set);
  for (const char* chip : {"GA100", "GH100"}) {
    const Plan without(cupti_library().api, chip, {}, counters, &plain);
    const Plan with(cupti_library().api, chip, {}, counters, &products);
    EXPECT_LT(without.passes(), with.passes()) << chip;
    EXPECT_TRUE(without.leaves_out(products)) << chip;
    EXPECT_FALSE(without.leaves_out(plain)) << chip;
    EXPECT_FALSE(with.leaves_out(products)) << chip;
    EXPECT_TRUE(with.has_more_than(plain)) << chip;
    EXPECT_FALSE(with.has_more_than(products)) << chip;
    EXPECT_FALSE(without.has_more_than(plain)) << chip;
    std::cout << chip << ": " << without.passes() << " passes, " << with.passes() << "\n";
  }
  EXPECT_FALSE(Plan(cupti_library().api, "GH100", {}, standard(), &plain).leaves_out(products));
}

/// Copies in bulk came with GH100; generic accesses are on every chip.
TEST_F(Planner, AsksForWhatPutsACounterInDoubt) {
  EXPECT_EQ(plan("GH100", {"global_load_bytes"}).items().front().doubts.size(), 2u);
  EXPECT_EQ(plan("GA100", {"global_load_bytes"}).items().front().doubts.size(), 1u);
  EXPECT_EQ(plan("GH100", {"global_load_sectors"}).items().front().doubts.size(), 1u);
  EXPECT_EQ(plan("GA100", {"global_load_sectors"}).items().front().doubts.size(), 0u);
  EXPECT_EQ(plan("GH100", {"shared_load_requests"}).items().front().doubts.size(), 0u);
}

/// CUPTI's own plan is of the PerfWorks names alone; ours has the counters of copies and doubts
/// too.
TEST_F(Planner, TakesAllNamesOfNvprofInAsManyPassesAsCuptiItself) {
  const std::string sets[] = {"@nvprof"};
  const std::vector<std::string> counters = schema::Catalogue::get().counters_for(sets);
  for (const char* chip : {"TU102", "GA100", "GH100", "GB202"}) {
    const Plan ours = plan(chip, counters);
    std::set<std::string> names;
    for (const Plan::Item& item : ours.items()) {
      if (item.lacking.empty()) names.insert(item.perfworks);
    }
    const Plan own = plan(chip, {names.begin(), names.end()});
    EXPECT_GT(names.size(), 150U) << chip;
    EXPECT_LE(ours.passes(), own.passes()) << chip;
  }
}

TEST_F(Planner, CollectsAMetricOnceUnderBothOfItsNames) {
  const Plan made = plan("GH100", {"duration_profiled", "gpu__time_duration.sum"});
  EXPECT_EQ(made.metrics().size(), 1u);
  EXPECT_EQ(made.items().size(), 2u);
  EXPECT_EQ(made.items()[1].counter, "gpu__time_duration.sum");
}

TEST_F(Planner, GroupsOfOnePassHoldEveryCounterOnceOnEveryChip) {
  const std::string sets[] = {"@all"};
  const std::vector<std::string> counters = schema::Catalogue::get().counters_for(sets);
  // Seconds a chip, which are CUPTI's: of two chips, and in full (the preset `nightly`) of all.
  const bool in_full = std::getenv("WARPMETER_IN_FULL") != nullptr;
  const std::vector<std::string> sample = {"GH100", "GB202"};
  const std::vector<std::string> all(known_chips().begin(), known_chips().end());
  for (const std::string& chip : in_full ? all : sample) {
    const std::vector<PassGroup> groups = one_pass_groups(std::span(&chip, 1), counters);
    EXPECT_GE(groups.size(), plan(chip, counters).passes()) << chip;
    const auto is_of_tensor_cores = [](const PassGroup& group) {
      return group.counters.front().starts_with("tensor_ops");
    };
    const auto products = std::count_if(groups.begin(), groups.end(), is_of_tensor_cores);
    EXPECT_LE(groups.size() - static_cast<std::size_t>(products), 38U) << chip;
    std::vector<std::string> grouped;
    for (const PassGroup& group : groups) {
      EXPECT_EQ(group.passes, plan(chip, group.counters).passes()) << chip;
      EXPECT_TRUE(group.passes <= 1 || group.counters.size() == 1) << chip;
      grouped.insert(grouped.end(), group.counters.begin(), group.counters.end());
    }
    EXPECT_THAT(grouped, UnorderedElementsAreArray(counters)) << chip;
  }
}

/// A launch whose memory others write to is counted in one pass: loads and stores have their
/// counts.
TEST_F(Planner, OnePassReadsWhatIsAskedForFirst) {
  const auto passes_of = [](const std::vector<std::string>& counters) {
    return plan("GH100", counters).passes();
  };
  const std::vector<std::string> all =
      schema::Catalogue::get().counters_for(std::vector<std::string>{"@default", "@nvprof"});
  const std::vector<std::string> found = in_one_pass(all, passes_of);
  EXPECT_EQ(passes_of(found), 1U);
  for (const char* name : {"shared_load_wavefronts", "global_load_requests"}) {
    EXPECT_THAT(found, testing::Contains(name));
  }
  std::vector<std::string> one_more = found;
  const auto left_out = std::find_if(all.begin(), all.end(), [&](const std::string& name) {
    return std::find(found.begin(), found.end(), name) == found.end();
  });
  ASSERT_NE(left_out, all.end()) << "one pass does not read them all";
  one_more.push_back(*left_out);
  EXPECT_GT(passes_of(one_more), 1U) << *left_out;
  EXPECT_TRUE(in_one_pass({}, passes_of).empty());
}

TEST_F(Planner, GroupsSuitSeveralChipsAtOnce) {
  const std::vector<std::string> both = {"TU102", "GB202"};
  std::vector<std::string> alone;
  for (const PassGroup& group : one_pass_groups(both, standard())) {
    if (group.passes > 1) {
      EXPECT_EQ(group.counters.size(), 1U);
      alone.push_back(group.counters.front());
      continue;
    }
    for (const std::string& chip : both) EXPECT_LE(plan(chip, group.counters).passes(), 1U);
  }
  // Bytes are in doubt where generic accesses ran, which two more counters say.
  EXPECT_THAT(alone, UnorderedElementsAreArray({"global_load_bytes", "global_store_bytes"}));
}

TEST_F(Planner, PlansNothingForNoCounters) {
  const Plan made = plan("GH100", {});
  EXPECT_TRUE(made.metrics().empty());
  EXPECT_EQ(made.passes(), 0u);
}

TEST_F(Planner, GivesEveryCounterAReasonWhenThereAreNoValues) {
  const auto counters = plan("GH100", standard()).unavailable("no permission");
  ASSERT_EQ(counters.size(), standard().size());
  EXPECT_EQ(counters.front().name, "shared_load_wavefronts");
  EXPECT_EQ(counters.front().reason, "no permission");
  EXPECT_EQ(counters.front().grade, schema::Grade::unavailable);
  EXPECT_FALSE(counters.front().value.has_value());
}

std::string refusal(const std::string& metric) {
  try {
    const std::vector<std::string> counters = {metric};
    const Plan made(cupti_library().api, "GH100", {}, counters);
    return "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

TEST_F(Planner, RefusesAnUnknownPerfworksNameWithTheNearest) {
  EXPECT_THAT(refusal("l1tex__t_sectors_pipe_lsu_mem_global_op_lt.sum"),
              AllOf(HasSubstr("GH100 knows no metric l1tex__t_sectors_pipe_lsu_mem_global_op_lt"),
                    HasSubstr("l1tex__t_sectors_pipe_lsu_mem_global_op_ld")));
}

TEST_F(Planner, LacksAnUnknownPerfworksNameOnceTheProgramRuns) {
  const std::vector<std::string> counters = {"l1tex__nothing.sum", "gpu__time_duration.sum"};
  const Plan made(cupti_library().api, "GH100", {}, counters, nullptr, UnknownName::is_lacking);
  EXPECT_EQ(made.items()[0].lacking, "GH100 knows no metric l1tex__nothing.sum");
  EXPECT_EQ(made.items()[1].lacking, "");
  EXPECT_EQ(made.metrics().size(), 1U);
}

TEST_F(Planner, TellsWhichNamesAChipDoesNotKnow) {
  const std::vector<std::string> names = {"l1tex__nothing.sum", "gpu__time_duration.sum",
                                          "smsp__sass_inst_executed_op_tma.sum"};
  EXPECT_THAT(unknown_names("GH100", names), ElementsAre("l1tex__nothing.sum"));
  EXPECT_THAT(unknown_names("TU102", names),
              ElementsAre("l1tex__nothing.sum", "smsp__sass_inst_executed_op_tma.sum"));
}

TEST_F(Planner, RefusesANameWithoutItsRollupAndShowsRollups) {
  EXPECT_THAT(refusal("gpu__time_duration"), HasSubstr("gpu__time_duration.sum"));
}

TEST_F(Planner, RefusesACounterThatIsOftenCopiedButDoesNotExist) {
  EXPECT_THAT(refusal("l1tex__t_requests_pipe_lsu_mem_shared_op_ld.sum"), HasSubstr("near it are"));
}

TEST_F(Planner, RefusesAChipThatCuptiDoesNotKnow) {
  try {
    plan("GX999", {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_hardware);
    EXPECT_THAT(error.what(), HasSubstr("GX999"));
  }
}

TEST_F(Planner, SaysInWordsWhatToDoAboutPermission) {
  EXPECT_THAT(in_words(cupti_library().api, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES),
              AllOf(HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)"),
                    HasSubstr("NVreg_RestrictProfilingToAdminUsers=0")));
  EXPECT_THAT(in_words(cupti_library().api, CUPTI_ERROR_HARDWARE_BUSY), HasSubstr("dcgmi"));
}

}  // namespace
}  // namespace warpmeter::cupti
