// The counting rules against single accesses measured on hardware, and by hand.
#include "collector/model/counting.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace warpmeter::model {
namespace {

struct GoldenRow {
  std::string op, pattern, counter, counter2;
  WarpAccess access;
  double value = 0, value2 = 0;
};

void read_golden(const std::string& name, std::vector<GoldenRow>& rows) {
  std::ifstream file(source_dir() + "/tests/golden/" + name);
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    cells.resize(9);
    GoldenRow row;
    row.op = cells[0];
    row.access.width = static_cast<unsigned>(std::stoul(cells[1]));
    row.pattern = cells[2];
    row.access.mask = static_cast<std::uint32_t>(std::stoul(cells[3], nullptr, 16));
    std::istringstream offsets(cells[4]);
    for (std::uint64_t& address : row.access.address) {
      offsets >> address;
      address += 0x700000000000;  // device allocations are aligned to 256
    }
    row.counter = cells[5];
    row.value = std::stod(cells[6]);
    row.counter2 = cells[7];
    row.value2 = cells[8].empty() ? 0 : std::stod(cells[8]);
    rows.push_back(row);
  }
}

std::vector<GoldenRow> golden_rows() {
  std::vector<GoldenRow> rows;
  read_golden("h200_access_patterns.csv", rows);
  read_golden("h200_wide_loads.csv", rows);  // those whose lanes may be served together
  return rows;
}

double counted(const GoldenRow& row) {
  if (row.op == "lds") return shared_cost(row.access, SharedAccess::load).transactions;
  if (row.op == "sts") return shared_cost(row.access, SharedAccess::store).transactions;
  if (row.op == "atoms_add" || row.op == "atoms_exch") {
    return shared_cost(row.access, SharedAccess::atomic).transactions;
  }
  if (row.op == "ldg" || row.op == "stg") return global_cost(row.access).transactions;
  if (row.op == "redg" || row.op == "atomg") return global_atomic_cost(row.access).transactions;
  ADD_FAILURE() << "the test does not know " << row.op;
  return -1;
}

TEST(CountingRules, MeetEveryAccessMeasuredOnAnH200) {
  const std::vector<GoldenRow> rows = golden_rows();
  ASSERT_EQ(rows.size(), 1022u);
  for (const GoldenRow& row : rows) {
    SCOPED_TRACE(row.op + " " + std::to_string(row.access.width) + " " + row.pattern);
    EXPECT_EQ(counted(row), row.value);
    if (row.counter2 == "unique_bytes") {
      EXPECT_EQ(global_cost(row.access).bytes, row.value2);
    } else if (row.counter2 == "bytes_per_sector") {
      EXPECT_NEAR(1.0 * global_cost(row.access).bytes / global_cost(row.access).transactions,
                  row.value2, 0.006);
    } else {
      EXPECT_EQ(row.counter2, "");
    }
  }
}

TEST(CountingRules, NeverPromiseMoreThanTheHardwareDid) {
  for (const GoldenRow& row : golden_rows()) {
    SCOPED_TRACE(row.op + " " + std::to_string(row.access.width) + " " + row.pattern);
    if (row.op == "lds") {
      EXPECT_LE(shared_cost(row.access, SharedAccess::load).ideal, row.value);
    } else if (row.op == "sts") {
      EXPECT_LE(shared_cost(row.access, SharedAccess::store).ideal, row.value);
    } else if (row.op == "ldg" || row.op == "stg") {
      EXPECT_LE(global_cost(row.access).ideal, row.value);
    } else if (row.op == "redg" || row.op == "atomg") {
      EXPECT_LE(global_atomic_cost(row.access).ideal, row.value);
    } else {
      EXPECT_LE(shared_cost(row.access, SharedAccess::atomic).ideal, row.value);
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
    EXPECT_EQ(global_atomic_cost(none).transactions, 0u);
    EXPECT_EQ(global_atomic_cost(none).ideal, 0u);
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
  EXPECT_EQ(global_atomic_cost(strided(0, 0, 4)).ideal, 32u);
  EXPECT_EQ(global_atomic_cost(strided(0, 64, 4)).ideal, 4u);
}

TEST(CountingRules, DoNotChangeWhenEveryAddressMoves) {
  for (const GoldenRow& row : golden_rows()) {
    WarpAccess moved = row.access;
    for (std::uint64_t& address : moved.address) address += 20;
    if (moved.width <= 4 && (row.op == "lds" || row.op == "sts")) {
      const SharedAccess kind = row.op == "lds" ? SharedAccess::load : SharedAccess::store;
      EXPECT_EQ(shared_cost(moved, kind).transactions, row.value) << row.pattern;
    }
    for (std::uint64_t& address : moved.address) address += 12;
    GoldenRow again = row;
    again.access = moved;
    EXPECT_EQ(counted(again), row.value) << row.op << " " << row.pattern;
  }
}

}  // namespace
}  // namespace warpmeter::model
