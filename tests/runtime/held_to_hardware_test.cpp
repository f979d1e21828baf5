// SPDX-License-Identifier: MIT
// Unmodified CUDA programs without a GPU, held to what Nsight Compute counted of them on one.
#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/paths.h"
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

/// Profiles the program for the counters of a recording of Nsight Compute's
/// (launch,kernel,counter,value) and holds it to that, but for the kernels that are left out.
class HeldToHardware : public RuntimeProgram {
 protected:
  /// SQL: the name that Nsight Compute gives a kernel, which has no arguments of templates.
  static std::string bare(const std::string& name) {
    const std::string before = "instr(" + name + " || '<', '<') - 1";
    const std::string unnumbered = "instr(" + name + " || '#', '#') - 1";
    return "substr(" + name + ", 1, min(" + before + ", " + unnumbered + "))";
  }

  /// `counts_bytes`: the recording's bytes are of global memory alone.
  void hold(const std::string& name, const std::string& recording,
            const std::vector<std::string>& left_out, bool counts_bytes = true) {
    std::ifstream golden(source_dir() + "/tests/golden/" + recording);
    std::vector<std::string> lines;
    std::string counters, kernels = "''", last;
    for (const std::string& kernel : left_out) kernels += ", '" + kernel + "'";
    for (std::string line; std::getline(golden, line);) {
      const bool is_left_out =
          std::any_of(left_out.begin(), left_out.end(), [&](const std::string& kernel) {
            return line.find("," + kernel + ",") != std::string::npos;
          });
      if (is_left_out || (!counts_bytes && line.find("_bytes,") != std::string::npos)) continue;
      lines.push_back(line);
      last = line.substr(0, line.find(','));
      const std::size_t value = line.rfind(','), counter = line.rfind(',', value - 1) + 1;
      if (line.starts_with("1,")) counters += line.substr(counter, value - counter) + ",";
    }
    ASSERT_GT(lines.size(), 30u);
    counters.pop_back();
    const Outcome outcome = profile(name, {"-m", counters});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.output, expected(name));
    const Outcome all = warpmeter(
        {"query", "--format", "csv",
         "SELECT launch, " + bare("variant") +
             " AS kernel, metric AS counter, CAST(value AS INTEGER) AS value "
             "FROM (SELECT dense_rank() OVER (ORDER BY launch_id) AS launch, * FROM results) WHERE "
             "launch <= " +
             last + " AND " + bare("variant") + " NOT IN (" + kernels + ") AND metric IN ('" +
             std::regex_replace(counters, std::regex(","), "', '") + "')"});
    std::istringstream ours(all.output);
    std::vector<std::string> found;
    for (std::string line; std::getline(ours, line);) found.push_back(line);
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(lines));
  }

  std::string grade_of(const std::string& kernel, const std::string& counter) {
    return value_of("SELECT DISTINCT grade FROM results WHERE variant = '" + kernel +
                    "' AND metric = '" + counter + "'");
  }
};

/// The hardware's counts of a kernel hold what it launches: tests/golden/h100_children.csv is what
/// Nsight Compute 2025.3 said of the same program on an H100 (driver 580.159, 2026-11-25). There it
/// holds what the device's runtime itself loads and stores for two kernels as well.
TEST_F(HeldToHardware, KernelsThatLaunchKernels) {
  hold("children", "h100_children.csv", {"forgotten", "asked"});
}

/// The same of clusters. Accesses to other blocks are in no counter there but that of global bytes,
/// to which they do not belong.
TEST_F(HeldToHardware, ClustersOfBlocks) { hold("clusters", "h100_clusters.csv", {}, false); }

/// The same of copies of whole stretches, which are in no counter there: what they would belong to
/// is not called exact. In copy_by_barrier a
/// thread waits for others of its warp, which went on apart there to the end of the kernel.
TEST_F(HeldToHardware, CopiesOfStretches) {
  hold("bulk_copies", "h100_bulk_copies.csv", {"copy_by_barrier"});
  EXPECT_EQ(value_of("SELECT DISTINCT grade FROM results WHERE variant = 'copy_by_barrier' AND "
                     "metric = 'shared_load_requests'"),
            "modelled");
  EXPECT_EQ(value_of("SELECT DISTINCT grade FROM results WHERE variant != 'copy_by_barrier' AND "
                     "coalesce(reason, '') NOT LIKE 'leaves out what copies in bulk%'"),
            "exact");
  EXPECT_EQ(grade_of("load_one", "global_load_sectors"), "modelled");
}
/// Two launches load by cp.async; their loads are LDGSTS's, of an H200 (driver 580.159,
/// 2026-11-28).
TEST_F(HeldToHardware, TransformsOfThrust) { hold("transforms", "h100_transforms.csv", {}); }

/// Lanes that a guard leaves out of cp.async.cg count there, of an H200 (driver 580.159,
/// 2026-11-28), at the addresses that they hold; those left out of cp.async.ca do not.
TEST_F(HeldToHardware, CopiesUnderAGuard) {
  const Outcome outcome = profile(
      "guarded_copies", {"-m", "global_load_bytes,global_load_requests,global_load_sectors"});
  EXPECT_EQ(outcome.output, expected("guarded_copies"));
  const Outcome all =
      warpmeter({"query", "--format", "csv",
                 "SELECT dense_rank() OVER (ORDER BY launch_id) AS launch, " + bare("variant") +
                     " AS kernel, metric AS counter, CAST(value AS INTEGER) AS value, grade FROM "
                     "results WHERE metric LIKE 'global_load_%' AND metric NOT LIKE '%per%'"});
  std::ifstream golden(source_dir() + "/tests/golden/h200_guarded_copies.csv");
  std::set<std::string> measured;
  for (std::string line; std::getline(golden, line);) measured.insert(line);
  std::istringstream ours(all.output);
  int exact = 0, bypassing = 0;
  for (std::string line; std::getline(ours, line);) {
    const std::size_t grade = line.rfind(',');
    bypassing += line.find("cg16") != std::string::npos;
    if (line.substr(grade) != ",exact") continue;
    ++exact;
    EXPECT_THAT(measured, testing::Contains(line.substr(0, grade)));
  }
  EXPECT_EQ(exact, 5 * 6 * 3) << "cp.async.ca";
  EXPECT_EQ(bypassing, 3 * 6 * 3);
}

/// The same of copies of boxes, of an H200 (driver 580.159, 2026-11-26).
TEST_F(HeldToHardware, CopiesOfBoxesOfTensors) {
  hold("tensor_copies", "h200_tensor_copies.csv", {});
}

/// The same of products of warpgroups: every shape, and every way in which matrices may lie.
TEST_F(HeldToHardware, ProductsOfWarpgroups) {
  hold("warpgroup_products", "h200_warpgroup_products.csv", {});
  EXPECT_EQ(value_of("SELECT DISTINCT grade FROM results WHERE metric LIKE 'shared_wgmma%'"),
            "exact");
}

/// The same of sparse products, of an H100 (driver 580.159, 2026-11-26): from registers, and from
/// shared memory with and without padding.
TEST_F(HeldToHardware, SparseProducts) {
  hold("sparse_products", "h100_sparse_products.csv", {});
  EXPECT_EQ(value_of("SELECT DISTINCT grade FROM results WHERE metric LIKE 'shared_%requests' OR "
                     "metric LIKE 'global_%requests'"),
            "exact");
}

/// Kernels of the instructions that move data today (tests/device/todays_kernels.sh): whatever is
/// exact is what an H200 counted (driver 580.159, 2026-11-29); the recording leaves zeros out.
/// Hardware adds accesses to other blocks to bytes of global memory, where they do not belong.
TEST_F(HeldToHardware, KernelsOfTodaysInstructions) {
  std::ifstream golden(source_dir() + "/tests/golden/h200_todays_kernels.csv");
  std::map<std::string, std::string> measured;  // by launch, kernel and counter
  std::set<std::string> counters;
  std::string line, last;
  for (std::getline(golden, line); std::getline(golden, line);) {
    const std::size_t value = line.rfind(','), counter = line.rfind(',', value - 1) + 1;
    measured[line.substr(0, value)] = line.substr(value + 1);
    counters.insert(line.substr(counter, value - counter));
    last = line.substr(0, line.find(','));
  }
  ASSERT_GT(measured.size(), 900u);
  std::string asked;
  for (const std::string& counter : counters) asked += (asked.empty() ? "" : ",") + counter;
  const Outcome outcome = profile("todays_kernels", {"-m", asked});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, expected("todays_kernels"));
  const Outcome exact = warpmeter(
      {"query", "--format", "csv",
       "SELECT launch || ',' || " + bare("variant") +
           " || ',' || metric AS figure, CAST(value AS INTEGER) AS value FROM (SELECT dense_rank() "
           "OVER (ORDER BY launch_id) AS launch, * FROM results) WHERE grade = 'exact' AND launch "
           "<= " +
           last + " AND NOT (variant LIKE 'reach%' AND metric LIKE 'global_%_bytes')"});
  std::istringstream ours(exact.output);
  std::size_t held = 0;
  for (std::getline(ours, line); std::getline(ours, line);) {
    line = std::regex_replace(line, std::regex("\""), "");
    const std::size_t value = line.rfind(','), counter = line.rfind(',', value - 1) + 1;
    if (!counters.contains(line.substr(counter, value - counter))) continue;  // a resource, say
    const auto found = measured.find(line.substr(0, value));
    EXPECT_EQ(line.substr(value + 1), found == measured.end() ? "0" : found->second) << line;
    ++held;
  }
  EXPECT_GT(held, 6000u);
}

/// Each kernel of roofs.cu says how many operations of one type it does: 2mnk for each product, as
/// an H200 counts them (fp16 of a warpgroup and fp64 of a warp, 2026-11-30). The branches of those
/// of warpgroups are not followed: they have no value.
TEST_F(HeldToHardware, OperationsOfTensorCores) {
  const std::string types[] = {"fp64", "tf32", "bf16", "fp16", "fp8", "int8"};
  std::string asked = "tensor_ops";
  for (const std::string& type : types) asked += ",tensor_ops_" + type;
  const Outcome outcome = profile("roofs_kernels", {"-m", asked});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  std::istringstream output(outcome.output);
  std::string kernel, operations;
  int kernels = 0, held = 0;
  while (output >> kernel >> operations) {
    const std::string own = kernel.substr(kernel.find('_') + 1);
    const auto counted = [&](const std::string& counter) {
      return value_of(
          "SELECT CAST(value AS INTEGER) || ' ' || grade FROM results WHERE variant = '" + kernel +
          "' AND metric = '" + counter + "'");
    };
    ++kernels;
    const std::string all = counted("tensor_ops");
    if (kernel.starts_with("wgmma")) {
      EXPECT_EQ(all, "") << kernel << " is followed now: hold it to its operations";
      continue;
    }
    EXPECT_EQ(all, operations + " exact") << kernel;
    for (const std::string& type : types) {
      EXPECT_EQ(counted("tensor_ops_" + type), (type == own ? operations : "0") + " exact")
          << kernel << ' ' << type;
    }
    ++held;
  }
  EXPECT_EQ(kernels, 10);
  EXPECT_EQ(held, 5) << "those of warps";
}

/// Where lanes have waited in a loop the warp is in parts until something gathers it: what is
/// exact there is what an H100 counted (driver 580.159, 2026-11-26), and the rest is not called so.
TEST_F(HeldToHardware, LanesThatWaited) {
  hold("waiting_loops", "h200_waiting_loops.csv",
       {"one_lane", "half_a_warp", "behind_a_branch", "next_round", "flag", "in_a_function"});
  for (const std::string kernel :
       {"one_lane", "half_a_warp", "behind_a_branch", "flag", "in_a_function"}) {
    EXPECT_EQ(grade_of(kernel, "global_store_requests"), "modelled") << kernel;
  }
  EXPECT_EQ(grade_of("next_round", "shared_store_requests"), "modelled");
  for (const std::string kernel :
       {"next_round", "behind_a_barrier", "behind_syncwarp", "behind_a_shuffle", "behind_a_vote",
        "alone", "whole_block", "chain"}) {
    EXPECT_EQ(grade_of(kernel, "global_store_requests"), "exact") << kernel;
  }
}

/// Where lanes leave a loop in different rounds, an H100 (driver 580.159, 2026-11-26) does not
/// always have them meet where they do here: what is exact is what it counted, and the rest is not
/// called so.
TEST_F(HeldToHardware, LanesThatLeaveLoops) {
  hold("loop_exits", "h100_loop_exits.csv",
       {"goto_behind", "return_inside", "division_and_atomic", "call_and_atomic",
        "copies_of_a_loop"});
  EXPECT_THAT(profile("loop_exits", {"-m", "@default"}).error,
              testing::HasSubstr("\nnot exact: gld_transactions, gld_transactions_per_request, "
                                 "gld_efficiency: counted at PTX level: warps part"))
      << "profile says so below a kernel's table";
  EXPECT_EQ(grade_of("all_at_once", "global_load_requests"), "exact");
  EXPECT_EQ(grade_of("atomic_alone", "global_store_requests"), "exact");
  EXPECT_EQ(grade_of("goto_behind", "global_load_requests"), "ptx");
  EXPECT_EQ(grade_of("return_inside", "global_store_requests"), "ptx");
  EXPECT_EQ(grade_of("division_and_atomic", "global_store_requests"), "ptx");
  EXPECT_EQ(grade_of("call_and_atomic", "global_store_requests"), "ptx");
  EXPECT_EQ(grade_of("copies_of_a_loop", "global_load_requests"), "ptx");
}

/// On an H200 (driver 580.159, 2026-11-27) a softmax that lacks this barrier was right, what lies
/// just before and behind 12 of 16 allocations could be read, and atomics of files compiled apart
/// were no reductions.
TEST_F(HeldToHardware, WhatGoesWellByLuck) {
  const Outcome outcome =
      profile("side_by_side", {"-m", "global_atomic_requests,global_reduction_requests"});
  EXPECT_EQ(outcome.output, "256 of 256\nno error\n");
  EXPECT_THAT(outcome.error,
              testing::HasSubstr("kernel 'look_beside' accesses memory beside its buffers"));
  const std::string of_count = "SELECT value FROM results WHERE variant = 'count' AND metric = ";
  EXPECT_EQ(value_of(of_count + "'global_atomic_requests'"), "4");
  EXPECT_EQ(value_of(of_count + "'global_reduction_requests'"), "0");
  EXPECT_EQ(grade_of("count", "global_atomic_requests"), "exact");
}

/// On an H200 objects that a kernel made with new lay otherwise in sectors.
TEST_F(HeldToHardware, GivesNoExactCountOfWhatLiesInTheHeapOfKernels) {
  profile("heap_objects", {"-m", "global_load_sectors,global_load_requests"});
  EXPECT_EQ(value_of("SELECT count(*) FROM results WHERE metric = 'global_load_sectors' AND value "
                     "> 0 AND grade = 'exact'"),
            "0");
  EXPECT_THAT(value_of("SELECT reason FROM results WHERE metric = 'global_load_sectors' AND "
                       "grade = 'modelled' LIMIT 1"),
              testing::HasSubstr("malloc of a kernel"));
}

TEST_F(HeldToHardware, LeavesNoTraceInTheHeapOfTheProgram) {
#ifdef WARPMETER_IS_SANITIZED
  GTEST_SKIP() << "the sanitizers fill what the program allocates";
#endif
  EXPECT_EQ(profile("fresh_heap", {}).output, "0 bytes are not zero\nno error\n");
}

}  // namespace
}  // namespace warpmeter::cli
