// SPDX-License-Identifier: MIT
// Counts of executed instructions against an H200, for the kernels of tests/device/model.
// tests/golden/h200_instruction_counts.csv holds what PerfWorks counted, by Nsight Compute of CUDA
// 13 (sm_90; driver 580.159.04, 2026-11-28): every value that the model calls exact must equal it.
// The second part lists the names of nvprof that the model answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/instruction_counts.h"
#include "collector/model/session/backend.h"
#include "schema/catalogue.h"
#include "schema/nvprof_names.h"
#include "tests/csv.h"
#include "tests/device/model/agreement.h"
#include "tests/paths.h"

namespace warpmeter::agreement {
namespace {

using Row = std::map<std::string, std::string>;

const std::vector<Row>& golden() {
  static const std::vector<Row> rows = [] {
    std::ifstream file(source_dir() + "/tests/golden/h200_instruction_counts.csv");
    return csv_rows(file);
  }();
  return rows;
}

/// Set accesses of surfaces, which no kernel has.
const std::set<std::string> of_no_kernel = {"surface_atomic_set_accesses",
                                            "surface_reduction_set_accesses"};

/// OfSpecialFunctionsAreTheHardwares compares it.
constexpr std::string_view of_no_counter = "flop_count_sp_special";

/// No kernel of these multiplies matrices (TensorProducts are tests of their own).
bool is_of_tensor_cores(const std::string& counter) { return counter.starts_with("tensor_ops"); }

/// HeldToHardware.KernelsOfTodaysInstructions compares these.
const std::set<std::string>& counters_of_todays_kernels() {
  static const std::set<std::string> names = [] {
    std::ifstream file(source_dir() + "/tests/golden/h200_todays_kernels.csv");
    std::set<std::string> found;
    for (const Row& row : csv_rows(file)) found.insert(row.at("counter"));
    return found;
  }();
  return names;
}

TEST(InstructionCounts, ThatAreExactAreTheHardwares) {
  const auto backend = model::open();
  const auto names = model::instruction_counter_names();
  backend->select(std::vector<std::string>(names.begin(), names.end()));
  std::map<std::string, Row> rows;
  for (const Row& row : golden()) rows[row.at("kernel")] = row;
  EXPECT_EQ(rows.size(), cases().size());
  int values = 0, exact = 0;
  for (const Case& which : cases()) {
    const Row& row = rows.at(std::string(which.entry));
    const Answer answer = ask(*backend, which);
    ASSERT_EQ(answer.failure, "") << which.entry;
    for (const auto& [name, counter] : answer.counters) {
      EXPECT_TRUE(row.contains(name) || of_no_kernel.contains(name) ||
                  counters_of_todays_kernels().contains(name) || name == of_no_counter ||
                  is_of_tensor_cores(name))
          << name;
      if (is_of_tensor_cores(name) && counter.grade == schema::Grade::exact) {
        EXPECT_EQ(counter.value, 0) << which.entry << ' ' << name;
      }
      if (!row.contains(name)) continue;
      ++values;
      if (counter.grade != schema::Grade::exact) {
        EXPECT_NE(counter.reason, "") << which.entry << ' ' << name;
        continue;
      }
      ++exact;
      EXPECT_DOUBLE_EQ(counter.value.value_or(-1), std::stod(row.at(name)))
          << which.entry << ' ' << name;
    }
  }
  EXPECT_GE(exact, 0.91 * values) << exact << " of " << values;
}

/// The threads that executed MUFU on the H200, by kernel: rows of h200_operation_classes.csv.
std::map<std::string, double> special_functions_measured() {
  std::ifstream file(source_dir() + "/tests/golden/h200_operation_classes.csv");
  std::map<std::string, double> all;
  for (const Row& row : csv_rows(file)) {
    std::istringstream operations(row.at("operations"));
    double& threads = all[row.at("kernel")];
    for (std::string one; operations >> one;) {
      constexpr std::uint64_t number_bits = 0x1ff, mufu = 0x108;
      if ((std::stoull(one, nullptr, 16) & number_bits) != mufu) continue;
      threads += std::stod(one.substr(one.rfind(':') + 1));
    }
  }
  return all;
}

/// No counter of the hardware holds them; how often each instruction ran was measured. Two kernels
/// have those of double precision too (MUFU.RCP64H, MUFU.RSQ64H), by nvdisasm of CUDA 13.
TEST(InstructionCounts, OfSpecialFunctionsAreTheHardwares) {
  const auto backend = model::open();
  backend->select(std::vector<std::string>{std::string(of_no_counter)});
  const std::map<std::string, double> measured = special_functions_measured();
  const std::set<std::string> with_doubles = {"double_functions", "rounded"};
  int kernels_with_some = 0;
  for (const Case& which : cases()) {
    const std::string entry(which.entry);
    const auto found = measured.find(entry);
    if (found == measured.end()) continue;
    const Answer answer = ask(*backend, which);
    const schema::Counter& counter = answer.counters.at(std::string(of_no_counter));
    if (counter.grade != schema::Grade::exact) continue;
    const double all = found->second;
    if (with_doubles.contains(entry)) {
      EXPECT_LT(counter.value.value_or(-1), all) << entry;
      EXPECT_GT(counter.value.value_or(-1), 0) << entry;
    } else {
      EXPECT_EQ(counter.value.value_or(-1), all) << entry;
      kernels_with_some += all > 0 ? 1 : 0;
    }
  }
  EXPECT_GE(kernels_with_some, 8);
}

/// The counters that an entry of the catalogue is derived from; none: it has none.
std::vector<std::string> inputs_of(const std::string& entry) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  if (catalogue.find_counter(entry) != nullptr) return {entry};
  const schema::MetricInfo* const metric = catalogue.find_metric(entry);
  return metric == nullptr ? std::vector<std::string>{} : metric->counters();
}

std::set<std::string> answered(bool is_event) {
  std::set<std::string> names;
  for (const schema::NvprofName& name : schema::nvprof_names()) {
    if (name.is_event != is_event || name.answer.empty()) continue;
    const auto inputs = inputs_of(name.answer);
    const bool is_counted = std::all_of(inputs.begin(), inputs.end(),
                                        [](const auto& input) { return model::is_counted(input); });
    if (!inputs.empty() && is_counted) names.insert(name.name);
  }
  return names;
}

TEST(NvprofNames, AreAnsweredByTheModelWhereTheyNeedNeitherTimeNorCaches) {
  const std::set<std::string> metrics = answered(false), events = answered(true);
  EXPECT_GE(metrics.size(), 70u);
  EXPECT_GE(events.size(), 28u);
  for (const char* name : {"atomic_transactions",
                           "atomic_transactions_per_request",
                           "branch_efficiency",
                           "cf_executed",
                           "flop_count_dp",
                           "flop_count_dp_add",
                           "flop_count_dp_fma",
                           "flop_count_dp_mul",
                           "flop_count_hp",
                           "flop_count_hp_add",
                           "flop_count_hp_fma",
                           "flop_count_hp_mul",
                           "flop_count_sp",
                           "flop_count_sp_add",
                           "flop_count_sp_fma",
                           "flop_count_sp_mul",
                           "flop_count_sp_special",
                           "gld_efficiency",
                           "gld_transactions",
                           "gld_transactions_per_request",
                           "global_atomic_requests",
                           "global_load_requests",
                           "global_reduction_requests",
                           "global_store_requests",
                           "gst_efficiency",
                           "gst_transactions",
                           "gst_transactions_per_request",
                           "inst_bit_convert",
                           "inst_compute_ld_st",
                           "inst_control",
                           "inst_executed",
                           "inst_executed_global_atomics",
                           "inst_executed_global_loads",
                           "inst_executed_global_reductions",
                           "inst_executed_global_stores",
                           "inst_executed_local_loads",
                           "inst_executed_local_stores",
                           "inst_executed_shared_atomics",
                           "inst_executed_shared_loads",
                           "inst_executed_shared_stores",
                           "inst_executed_surface_atomics",
                           "inst_executed_surface_loads",
                           "inst_executed_surface_reductions",
                           "inst_executed_surface_stores",
                           "inst_executed_tex_ops",
                           "inst_fp_16",
                           "inst_fp_32",
                           "inst_fp_64",
                           "inst_integer",
                           "inst_inter_thread_communication",
                           "inst_misc",
                           "inst_per_warp",
                           "ldst_executed",
                           "local_load_requests",
                           "local_load_transactions",
                           "local_load_transactions_per_request",
                           "local_store_requests",
                           "local_store_transactions",
                           "local_store_transactions_per_request",
                           "shared_load_transactions",
                           "shared_load_transactions_per_request",
                           "shared_store_transactions",
                           "shared_store_transactions_per_request",
                           "surface_atomic_requests",
                           "surface_load_requests",
                           "surface_reduction_requests",
                           "surface_store_requests",
                           "texture_load_requests",
                           "unique_warps_launched",
                           "warp_execution_efficiency",
                           "warp_nonpred_execution_efficiency"}) {
    EXPECT_TRUE(metrics.contains(name)) << name;
  }
}

}  // namespace
}  // namespace warpmeter::agreement
