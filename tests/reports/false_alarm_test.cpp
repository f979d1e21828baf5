// SPDX-License-Identifier: MIT
// How often `compare` calls a build slower than itself, and how often it finds a real slow-down:
// from sessions recorded on an H200 (tests/golden/h200_aa_samples.csv, 24 processes of one build,
// at most 200 samples of each launch, in the order they were taken). The statistics' constants were
// read from recordings of another H200. tests/device/aa_power.sh measures both anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "reports/compare/times.h"
#include "tests/paths.h"

namespace warpmeter::reports {
namespace {

struct Launches {
  std::string name;
  std::vector<LaunchGroup> sessions;
};

const std::vector<Launches>& recorded() {
  static const std::vector<Launches> all = [] {
    std::ifstream file(source_dir() + "/tests/golden/h200_aa_samples.csv");
    std::string line;
    std::getline(file, line);
    std::vector<Launches> launches;
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string family, variant, size, session, samples;
      for (std::string* field : {&family, &variant, &size, &session, &samples}) {
        std::getline(fields, *field, ',');
      }
      const std::string name = fmt::format("{}/{} {}", family, variant, size);
      if (launches.empty() || launches.back().name != name) launches.push_back({name, {}});
      LaunchGroup& group = launches.back().sessions.emplace_back();
      group.family = family;
      group.variant = variant;
      std::istringstream numbers(samples);
      for (double value = 0; numbers >> value;) group.samples.sorted_ns.push_back(value);
      std::sort(group.samples.sorted_ns.begin(), group.samples.sorted_ns.end());
    }
    return launches;
  }();
  return all;
}

/// A launch that takes `less_ns` less time and varies as it did.
Launches shortened(Launches launches, double less_ns) {
  for (LaunchGroup& session : launches.sessions) {
    for (double& value : session.samples.sorted_ns) value -= less_ns;
  }
  return launches;
}

/// Verdicts of the launches in each pair of sessions, compared as two runs are, where the later one
/// takes `slow_down` times as long.
std::map<std::string, std::map<Verdict, int>> verdicts(const std::vector<Launches>& all,
                                                       double slow_down) {
  std::map<std::string, std::map<Verdict, int>> counts;
  const std::size_t sessions = all.front().sessions.size();
  for (std::size_t a = 0; a < sessions; ++a) {
    for (std::size_t b = a + 1; b < sessions; ++b) {
      std::vector<LaunchGroup> contenders;
      for (const Launches& launch : all) {
        contenders.push_back(launch.sessions[b]);
        for (double& value : contenders.back().samples.sorted_ns) value *= slow_down;
      }
      std::vector<GroupPair> pairs;
      for (std::size_t i = 0; i < all.size(); ++i) {
        pairs.push_back({{}, &all[i].sessions[a], &contenders[i]});
      }
      const std::vector<TimePair> tested = test_times(pairs, {});
      for (std::size_t i = 0; i < tested.size(); ++i) ++counts[all[i].name][tested[i].verdict];
    }
  }
  return counts;
}

double share(std::map<Verdict, int> counts, Verdict verdict) {
  int all = 0;
  for (const auto& [which, count] : counts) all += count;
  return static_cast<double>(counts[verdict]) / all;
}

TEST(FalseAlarms, AreAtMostOnePercentOfComparisonsOfABuildWithItself) {
  ASSERT_EQ(recorded().size(), 10U);
  int alarms = 0, all = 0;
  for (const auto& [name, counts] : verdicts(recorded(), 1)) {
    for (const auto& [verdict, count] : counts) {
      all += count;
      alarms += verdict == Verdict::faster || verdict == Verdict::slower ? count : 0;
    }
  }
  RecordProperty("comparisons", all);
  RecordProperty("alarms", alarms);
  EXPECT_EQ(all, 10 * 24 * 23 / 2);
  EXPECT_LE(alarms, all / 100) << alarms << " of " << all;
}

TEST(FalseAlarms, WouldBeManyIfSessionsWereNotAllowedFor) {
  // The recordings would show it if the allowance were not needed: Mann–Whitney alone is sure of a
  // difference, of 1 % and more, in many comparisons of a build with itself.
  int alarms = 0, all = 0;
  for (const Launches& launch : recorded()) {
    for (std::size_t i = 1; i < launch.sessions.size(); ++i) {
      const Samples& base = launch.sessions[i - 1].samples;
      const Samples& contender = launch.sessions[i].samples;
      ++all;
      alarms += mann_whitney(base.sorted_ns, contender.sorted_ns) < 0.001 &&
                        std::abs(contender.median() / base.median() - 1) >= 0.01
                    ? 1
                    : 0;
    }
  }
  EXPECT_GT(alarms, all / 20) << alarms << " of " << all;
}

TEST(Power, ThreePercentOfATwentyMicrosecondKernelIsFoundInAtLeast95Percent) {
  std::vector<Launches> launches = recorded();
  for (Launches& launch : launches) {
    if (launch.name == "matmul/naive 256") launch = shortened(launch, 3800);  // for 23.8 µs
  }
  auto counts = verdicts(launches, 1.03);
  EXPECT_GE(share(counts.at("matmul/naive 256"), Verdict::slower), 0.95);               // 20 µs
  EXPECT_GE(share(counts.at("reduction/interleaved 4194304"), Verdict::slower), 0.95);  // 34 µs
  EXPECT_GE(share(counts.at("transpose/tiled_padded 4096"), Verdict::slower), 0.95);    // 70 µs
  for (const auto& [name, of_launch] : counts) {
    RecordProperty(name, fmt::format("{:.3f}", share(of_launch, Verdict::slower)));
    EXPECT_EQ(share(of_launch, Verdict::faster), 0) << name;
  }
}

}  // namespace
}  // namespace warpmeter::reports
