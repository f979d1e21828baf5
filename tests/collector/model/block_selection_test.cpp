// SPDX-License-Identifier: MIT
// Blocks chosen from a grid, and what the grid is estimated to cost from them.
#include "collector/model/counts/block_selection.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "collector/model/counts/estimate.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

TEST(BlockSelection, TakesCornersThenEdgesAndInterior) {
  for (const Dim3& grid : {Dim3{64, 64, 1}, Dim3{10, 10, 10}, Dim3{1000, 1, 1}, Dim3{1, 7, 3},
                           Dim3{2, 2, 1}, Dim3{3000, 3000, 4}}) {
    const std::uint64_t total = grid.count();
    for (const std::uint64_t count :
         {std::uint64_t{1}, std::uint64_t{8}, std::min(total, std::uint64_t{100}),
          std::min(total, std::uint64_t{4000})}) {
      if (count > total) continue;
      const BlockSelection selection = select_blocks(grid, count);
      ASSERT_EQ(selection.blocks.size(), count);
      const std::set<std::uint64_t> different(selection.blocks.begin(), selection.blocks.end());
      EXPECT_EQ(different.size(), count);
      EXPECT_LT(*different.rbegin(), total);
      std::array<std::uint64_t, grid_parts> found{};
      for (const std::uint64_t block : selection.blocks) {
        ++found[static_cast<std::size_t>(part_of(block, grid))];
      }
      EXPECT_EQ(found, selection.chosen);
      EXPECT_EQ(selection.existing[0] + selection.existing[1] + selection.existing[2], total);
      EXPECT_EQ(found[0], std::min(count, selection.existing[0]));
      EXPECT_EQ(select_blocks(grid, count).blocks, selection.blocks) << "the same every time";
    }
  }
}

TEST(BlockSelection, KnowsThePartsOfAGrid) {
  const Dim3 grid{4, 3, 1};
  EXPECT_EQ(part_of(0, grid), GridPart::corner);
  EXPECT_EQ(part_of(3, grid), GridPart::corner);
  EXPECT_EQ(part_of(1, grid), GridPart::edge);
  EXPECT_EQ(part_of(4, grid), GridPart::edge);
  EXPECT_EQ(part_of(5, grid), GridPart::interior);
  EXPECT_EQ(part_of(11, grid), GridPart::corner);
  EXPECT_EQ(part_of(3, Dim3{9, 1, 1}), GridPart::interior);
}

TEST(BlockSelection, ReadsNumbersAndShares) {
  const Dim3 grid{100, 10, 1};
  EXPECT_EQ(block_count("64", grid), 64u);
  EXPECT_EQ(block_count("2.5%", grid), 25u);
  EXPECT_EQ(block_count("0.0001%", grid), 1u);
  EXPECT_EQ(block_count("5000", grid), 1000u);
  for (const char* wrong : {"", "0", "-1", "0%", "101%", "x", "5 %", "1e3", "nan%", "%", "64k"}) {
    EXPECT_THROW(block_count(wrong, grid), Error) << wrong;
  }
  EXPECT_THROW(block_count("50%", Dim3{0x7fffffff, 65535, 1}), Error);
}

/// Threads whose number is below the block's load, the others do not: blocks cost differently.
const std::string uneven = module_with(".param .u64 in",
                                       " .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;\n"
                                       " ld.param.u64 %rd1, [in];\n"
                                       " mov.u32 %r1, %ctaid.x;\n mov.u32 %r2, %tid.x;\n"
                                       " setp.lt.u32 %p, %r1, 3;\n"
                                       " ld.global.u32 %r3, [%rd1];\n"
                                       " @%p ld.global.u32 %r3, [%rd1];\n ret;");

TEST(Estimate, SpreadsWhatBlocksOfAPartCost) {
  auto parsed = ptx::parse(uneven);
  auto decoded = decode(*std::get<std::unique_ptr<ptx::Module>>(parsed), "k");
  const Program& program = std::get<Program>(decoded);
  const Geometry shape = geometry(100, 32);
  const auto run = [&](std::uint64_t blocks, unsigned threads) {
    const BlockSelection selection = select_blocks(shape.grid, blocks);
    Estimate estimate(program, shape.grid, selection);
    DeviceMemory memory;
    const std::uint64_t address = memory.allocate(std::vector<std::byte>(4), "in");
    const auto* bytes = reinterpret_cast<const std::byte*>(&address);
    LaunchOptions options;
    options.threads = threads;
    options.sample = &estimate;
    const LaunchOutcome whole =
        launch(program, shape, std::vector<std::byte>(bytes, bytes + 8), memory, options);
    return estimate.counter("global_load_requests", whole);
  };
  // Blocks 0, 1 and 2 make two requests, the others one.
  const schema::Counter few = run(12, 1);
  EXPECT_EQ(few.grade, schema::Grade::ptx) << "no machine code was read";
  EXPECT_NE(few.reason.find("12 of 100 blocks (12 %)"), std::string::npos) << few.reason;
  EXPECT_GE(*few.value, 101);
  EXPECT_EQ(run(12, 4).value, few.value);
  const schema::Counter all_but_one = run(99, 3);
  EXPECT_NEAR(*all_but_one.value, 103, 1);
  EXPECT_NE(all_but_one.reason.find("; global_load_requests between "), std::string::npos)
      << all_but_one.reason;
  // A block that is left out may cost more than all that ran.
  EXPECT_NE(all_but_one.reason.find(
                " if the blocks left out cost no less and no more than those that ran"),
            std::string::npos)
      << all_but_one.reason;
}

}  // namespace
}  // namespace warpmeter::model
