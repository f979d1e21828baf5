// SPDX-License-Identifier: MIT
// The counting rules against single accesses measured on hardware, and by hand.
#include "collector/model/counts/rules/counting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "collector/model/counts/rules/measured.h"
#include "collector/model/counts/rules/measured_access.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

/// Every golden file there is, by its architecture.
const std::map<int, std::vector<MeasuredAccess>>& golden() {
  static const auto all = [] {
    std::map<int, std::vector<MeasuredAccess>> files;
    for (const auto& entry :
         std::filesystem::directory_iterator(source_dir() + "/tests/golden/access_patterns")) {
      std::ifstream file(entry.path());
      files[std::stoi(entry.path().stem().string().substr(3))] = read_measured(file);
    }
    return files;
  }();
  return all;
}

const std::vector<MeasuredAccess>& golden_rows() { return golden().at(90); }

TEST(CountingRules, MeetEveryAccessMeasuredOnAnyDevice) {
  ASSERT_EQ(golden_rows().size(), 1196u);
  for (const auto& [arch, rows] : golden()) {
    EXPECT_EQ(count_met(golden_rows(), rows), golden_rows().size()) << "sm_" << arch;
    for (const MeasuredAccess& row : rows) {
      SCOPED_TRACE(row.name);
      const Cost cost = cost_of(row);
      EXPECT_EQ(cost.transactions, row.transactions) << "sm_" << arch;
      if (row.bytes) {
        EXPECT_EQ(cost.bytes, *row.bytes) << "sm_" << arch;
      }
    }
  }
}

/// A store by its definition: of each group of lanes the most distinct words that one bank has.
unsigned store_by_definition(const WarpAccess& access) {
  const unsigned group = access.width <= 4 ? 32 : 128 / access.width;
  unsigned sum = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::map<std::uint64_t, std::set<std::uint64_t>> banks;
    std::size_t most = 0;
    for (unsigned lane = first; lane < first + group; ++lane) {
      if ((access.mask >> lane & 1) == 0) continue;
      for (unsigned byte = 0; byte < access.width; ++byte) {
        const std::uint64_t word = (access.address[lane] + byte) / 4;
        banks[word % 32].insert(word);
        most = std::max(most, banks[word % 32].size());
      }
    }
    sum += static_cast<unsigned>(most);
  }
  return sum;
}

/// Lanes in any order: rising, in steps, anywhere; now and then some in other memory.
WarpAccess random_access(std::mt19937_64& random) {
  WarpAccess access;
  access.width = 1u << random() % 5;
  access.mask = random() % 2 == 0 ? ~0u : static_cast<std::uint32_t>(random());
  const std::uint64_t step = random() % 40, begin = random() % 64, way = random() % 4;
  const bool is_far = random() % 8 == 0;
  std::uint64_t element = begin;
  for (unsigned lane = 0; lane < 32; ++lane) {
    switch (way) {
      case 0:  // rising, now and then not
        element += random() % 3 == 0 ? 0 : step;
        if (random() % 64 == 0) element = random() % 1024;
        break;
      case 1:
        element = begin + lane * step;
        break;
      case 2:
        element = begin + (31 - lane) * step;
        break;
      default:
        element = random() % 512;
    }
    access.address[lane] = element * access.width;
    if (is_far && random() % 4 == 0) access.address[lane] += std::uint64_t{1} << 40;
  }
  return access;
}

TEST(CountingRules, OfLanesInAnyOrderAreThoseOfDistinctWords) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    const WarpAccess access = random_access(random);
    ASSERT_EQ(shared_cost(access, SharedAccess::store).transactions, store_by_definition(access))
        << "round " << round << ", " << access.width << " bytes a lane";
  }
}

TEST(CountingRules, CountEachSectorAndEachByteOnce) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 5'000; ++round) {
    const WarpAccess access = random_access(random);
    std::set<std::uint64_t> sectors, bytes;
    for_each_lane(access.mask, [&](unsigned lane) {
      for (unsigned byte = 0; byte < access.width; ++byte) {
        bytes.insert(access.address[lane] + byte);
        sectors.insert((access.address[lane] + byte) / 32);
      }
    });
    const Cost cost = global_cost(access);
    ASSERT_EQ(cost.transactions, sectors.size()) << "round " << round;
    ASSERT_EQ(cost.bytes, bytes.size()) << "round " << round;
  }
}

TEST(CountingRules, ServeLanesOfAnAtomicInOneBankOneByOne) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 5'000; ++round) {
    const WarpAccess access = random_access(random);
    if (access.width > 4) continue;
    std::map<std::uint64_t, unsigned> in_bank, at_address;
    unsigned in_a_bank = 0, at_an_address = 0;
    for_each_lane(access.mask, [&](unsigned lane) {
      const std::uint64_t address = access.address[lane];
      in_a_bank = std::max(in_a_bank, ++in_bank[address / 4 % 32]);
      at_an_address = std::max(at_an_address, ++at_address[address]);
    });
    const Cost cost = shared_cost(access, SharedAccess::atomic);
    ASSERT_EQ(cost.transactions, in_a_bank) << "round " << round;
    ASSERT_EQ(cost.ideal, at_an_address) << "round " << round;
  }
}

TEST(CountingRules, PutEachLaneIntoOneOfTheWavefronts) {
  unsigned conflicts = 0;
  for (const MeasuredAccess& row : golden_rows()) {
    const auto shared = shared_request(row);
    if (!shared) continue;
    const auto passes = shared_passes(shared->access, shared->kind);
    EXPECT_EQ(*std::max_element(passes.begin(), passes.end()), row.transactions) << row.name;
    conflicts += row.transactions > 1 ? 1 : 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      EXPECT_EQ(passes[lane] > 0, (shared->access.mask >> lane & 1) != 0) << row.name;
    }
  }
  EXPECT_GT(conflicts, 300u);
}

TEST(CountingRules, NeverPromiseMoreThanTheHardwareDid) {
  for (const MeasuredAccess& row : golden_rows()) {
    EXPECT_LE(cost_of(row).ideal, row.transactions) << row.name;
  }
}

TEST(MeasuredArchitectures, AreThoseWithAGoldenFileThatTheRulesMeet) {
  std::vector<int> with_file;
  for (const auto& [arch, rows] : golden()) with_file.push_back(arch);
  std::vector<int> known;
  for (const MeasuredArchitecture& measured : measured_architectures()) {
    known.push_back(measured.arch);
    EXPECT_EQ(measured.accesses, golden_rows().size());
    EXPECT_EQ(measured.met, count_met(golden_rows(), golden().at(measured.arch)));
  }
  std::sort(known.begin(), known.end());
  EXPECT_EQ(known, with_file);
  EXPECT_EQ(why_not_exact(90), "");
}

TEST(MeasuredArchitectures, ElseCountByTheRulesOfAnother) {
  for (const int arch : {75, 80, 86, 89, 100, 120}) {
    if (golden().contains(arch)) continue;
    EXPECT_EQ(why_not_exact(arch),
              "by the rules of sm_90, not measured on sm_" + std::to_string(arch));
  }
  const std::vector<MeasuredArchitecture> measured = {{86, 1022, 1022}, {89, 1022, 1019}};
  EXPECT_EQ(why_not_exact(86, measured), "");
  EXPECT_EQ(why_not_exact(89, measured),
            "by the rules of sm_90, which 3 of 1022 accesses measured on sm_89 break");
}

TEST(MeasuredAccesses, AreMetWhereAllWereMeasuredAndAreAsTheRulesSay) {
  const std::vector<MeasuredAccess>& list = golden_rows();
  std::vector<MeasuredAccess> other = list;
  other[0].transactions += 1;
  EXPECT_EQ(count_met(list, other), list.size() - 1);
  other = list;
  other.pop_back();
  EXPECT_EQ(count_met(list, other), list.size() - 1) << "one was not measured";
  other = list;
  other[5].access.address[31] += 4096;
  EXPECT_EQ(count_met(list, other), list.size() - 1) << "another access of that name";
  EXPECT_EQ(count_met(list, {}), 0u);
}

TEST(MeasuredAccesses, AreReadWithTheLineOfAMistake) {
  const std::string heading =
      "op,width_bytes,pattern,active_mask,lane_byte_offsets,transactions,b\n";
  for (const char* line : {"", "ldg,4,short,ffffffff,0 4 8,1,", "tma,4,x,1,0,1,", "ldg,x"}) {
    std::istringstream file(heading + line + "\n");
    try {
      read_measured(file);
      ADD_FAILURE() << line;
    } catch (const std::runtime_error& wrong) {
      EXPECT_EQ(std::string(wrong.what()).find("line 2: "), 0u) << wrong.what();
    }
  }
}

/// Lane l at base + l × stride.
WarpAccess strided(std::uint64_t base, std::uint64_t stride, unsigned width,
                   std::uint32_t mask = ~0u) {
  WarpAccess access;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) access.address[lane] = base + lane * stride;
  access.mask = mask;
  access.width = width;
  return access;
}

TEST(CountingRules, CostNothingWithoutAnActiveLane) {
  for (const unsigned width : {1u, 2u, 4u, 8u, 16u}) {
    const WarpAccess none = strided(0, width, width, 0);
    for (const SharedAccess kind :
         {SharedAccess::load, SharedAccess::store, SharedAccess::atomic}) {
      EXPECT_EQ(shared_cost(none, kind).transactions, 0u);
      EXPECT_EQ(shared_cost(none, kind).ideal, 0u);
    }
    EXPECT_EQ(global_cost(none).transactions, 0u);
    EXPECT_EQ(global_cost(none).bytes, 0u);
    EXPECT_EQ(global_cost(none).ideal, 0u);
  }
}

TEST(CountingRules, PairLoadsThatBroadcastButNotStores) {
  const WarpAccess doubles = strided(64, 0, 8), quads = strided(64, 0, 16);
  EXPECT_EQ(shared_cost(doubles, SharedAccess::load).transactions, 1u);
  EXPECT_EQ(shared_cost(doubles, SharedAccess::store).transactions, 2u);
  EXPECT_EQ(shared_cost(quads, SharedAccess::load).transactions, 2u);
  EXPECT_EQ(shared_cost(quads, SharedAccess::store).transactions, 4u);
  EXPECT_EQ(shared_cost(strided(0, 16, 16), SharedAccess::load).transactions, 4u);
}

TEST(CountingRules, KnowTheIdealOfEachWidth) {
  EXPECT_EQ(shared_cost(strided(0, 128, 4), SharedAccess::load).ideal, 1u);
  EXPECT_EQ(shared_cost(strided(0, 128, 8), SharedAccess::load).ideal, 2u);
  EXPECT_EQ(shared_cost(strided(0, 128, 16), SharedAccess::store).ideal, 4u);
  EXPECT_EQ(shared_cost(strided(0, 0, 4), SharedAccess::atomic).ideal, 32u);
  EXPECT_EQ(shared_cost(strided(0, 128, 4), SharedAccess::atomic).ideal, 1u);
  EXPECT_EQ(global_cost(strided(0, 128, 4)).ideal, 4u);
  EXPECT_EQ(global_cost(strided(0, 0, 4)).ideal, 1u);
  EXPECT_EQ(global_cost(strided(0, 256, 16)).ideal, 16u);
}

TEST(CountingRules, DoNotChangeWhenEveryAddressMoves) {
  for (const MeasuredAccess& row : golden_rows()) {
    MeasuredAccess moved = row;
    for (std::uint64_t& address : moved.access.address) address += 20;
    if (row.access.width <= 4 && (row.operation == "lds" || row.operation == "sts")) {
      EXPECT_EQ(cost_of(moved).transactions, row.transactions) << row.name;
    }
    for (std::uint64_t& address : moved.access.address) address += 12;
    EXPECT_EQ(cost_of(moved).transactions, row.transactions) << row.name;
  }
}

}  // namespace
}  // namespace warpmeter::model
