// SPDX-License-Identifier: MIT
// Every program of this folder, uncounted, counted and checked. The first two may execute machine
// code of the processor, --check always interprets. All three print the same.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

/// Programs that are left out, and why.
const std::map<std::string, std::string> left_out = {
    {"endless", "it ends only when it is killed"},
    {"host_flag", "it wants to know what to wait for: Reach runs each way"},
    {"peer_access", "it wants to know what to open: Reach runs each way"},
    {"trace", "it prints a clock: TracedProgram looks at what it does"},
    {"transforms", "it takes 10 s: RuntimeProgram compares its output with a GPU's"},
    {"warpgroup_products", "it takes 10 s: RuntimeProgram compares its output with a GPU's"},
};

/// Programs that print something else with --check, or take too long, and why.
const std::map<std::string, std::string> not_checked = {
    {"beside_buffers", "it reads beside its buffers, where --check keeps memory apart"},
    {"heap_objects", "it takes a minute"},
};

/// True if a kernel failed: with --check it goes on.
bool has_failed(const Outcome& outcome) {
  return outcome.error.find("a launch of ") != std::string::npos &&
         outcome.error.find(" failed: ") != std::string::npos;
}

/// All of the folder, in order.
std::vector<std::string> programs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(program(""))) {
    const bool is_program = entry.is_regular_file() && !entry.path().has_extension() &&
                            access(entry.path().c_str(), X_OK) == 0;
    if (is_program) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

constexpr std::size_t parts = 40;

class BothWays : public RuntimeProgram, public testing::WithParamInterface<std::size_t> {};

TEST_P(BothWays, PrintTheSame) {
  const std::vector<std::string> all = programs();
  ASSERT_GT(all.size(), 100u);
  for (std::size_t i = GetParam(); i < all.size(); i += parts) {
    if (const auto reason = left_out.find(all[i]); reason != left_out.end()) {
      std::cout << all[i] << " is left out: " << reason->second << '\n';
      continue;
    }
    const auto run = [&](std::vector<std::string> words) {
      words.push_back(program(all[i]));
      return run_program({words, folder_, {{"LD_LIBRARY_PATH", ""}}});
    };
    const Outcome uncounted = run({"profile", "-b", "model"});
    const Outcome counted = run({"profile", "-b", "model", "-m", "gld_transactions"});
    EXPECT_EQ(uncounted.output, counted.output) << all[i];
    EXPECT_EQ(uncounted.exit_code, counted.exit_code) << all[i] << uncounted.error << counted.error;
    if (not_checked.contains(all[i]) || has_failed(uncounted)) continue;
    EXPECT_EQ(uncounted.output, run({"profile", "-b", "model", "--check"}).output) << all[i];
  }
}

INSTANTIATE_TEST_SUITE_P(First, BothWays, testing::Range<std::size_t>(0, 10));
INSTANTIATE_TEST_SUITE_P(Second, BothWays, testing::Range<std::size_t>(10, 20));
INSTANTIATE_TEST_SUITE_P(Third, BothWays, testing::Range<std::size_t>(20, 30));
INSTANTIATE_TEST_SUITE_P(Fourth, BothWays, testing::Range<std::size_t>(30, 40));

}  // namespace
}  // namespace warpmeter::cli
