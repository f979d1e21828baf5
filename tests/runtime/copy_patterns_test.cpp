// SPDX-License-Identifier: MIT
// Programs that copy once a launch, by pattern, held to what an H200 counted of each launch (driver
// 580.159, Nsight Compute 2025.3, 2026-11-29): tests/golden/h200_…_patterns.csv.
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "tests/csv.h"
#include "tests/paths.h"
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

class CopyPatterns : public RuntimeProgram {
 protected:
  /// Profiles the program for the counters of the recording. An exact value is the recording's;
  /// `modelled`: how many values are not exact.
  void hold(const std::string& name, int modelled) {
    std::ifstream file(source_dir() + "/tests/golden/h200_" + name + ".csv");
    std::map<std::tuple<std::string, std::string>, std::string> recorded;
    std::set<std::string> counters;
    for (const auto& row : csv_rows(file)) {
      recorded[{row.at("launch"), row.at("counter")}] = row.at("kernel") + " " + row.at("value");
      counters.insert(row.at("counter"));
    }
    std::string asked, listed;
    for (const std::string& counter : counters) {
      asked += (asked.empty() ? "" : ",") + counter;
      listed += (listed.empty() ? "'" : ", '") + counter + "'";
    }
    const Outcome outcome = profile(name, {"-m", asked});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.output, expected(name));
    const Outcome all = warpmeter(
        {"query", "--format", "csv",
         "SELECT launch, variant AS kernel, metric AS counter, CAST(value AS INTEGER) AS value, "
         "grade, replace(coalesce(reason, ''), ',', ';') AS reason FROM (SELECT dense_rank() OVER "
         "(ORDER BY "
         "launch_id) "
         "AS launch, * FROM results) WHERE metric IN (" +
             listed + ")"});
    std::istringstream ours(all.output);
    int inexact = 0;
    std::size_t values = 0;
    for (const auto& row : csv_rows(ours)) {
      ++values;
      if (row.at("grade") != "exact") {
        ++inexact;
        EXPECT_NE(row.at("reason"), "") << row.at("counter");
        continue;
      }
      const auto found = recorded.find({row.at("launch"), row.at("counter")});
      ASSERT_NE(found, recorded.end()) << row.at("launch") << ' ' << row.at("counter");
      EXPECT_EQ(row.at("kernel") + " " + row.at("value"), found->second)
          << "launch " << row.at("launch") << ": " << row.at("counter");
    }
    EXPECT_EQ(values, recorded.size());
    EXPECT_EQ(inexact, modelled);
  }
};

TEST_F(CopyPatterns, BoxesOfTensors) { hold("box_patterns", 0); }

TEST_F(CopyPatterns, WholeStretches) { hold("bulk_patterns", 0); }

TEST_F(CopyPatterns, MemoryOfOtherBlocks) { hold("distributed_patterns", 0); }

/// Approximate are the wavefronts where a source may have fewer bytes: 7 launches of each of four
/// copies, and of cg once more past L1. So are those of 5 launches whose order of lanes is not
/// known, and all 6 counters of one whose lanes read one place.
TEST_F(CopyPatterns, PastTheRegisters) { hold("async_patterns", 4 * 7 + 7 + 5 + 6); }

}  // namespace
}  // namespace warpmeter::cli
