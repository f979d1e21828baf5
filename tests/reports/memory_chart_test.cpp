// SPDX-License-Identifier: MIT
// The memory chart and its tables, of counts that are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/golden_file.h"
#include "tests/reports/limits_fixture.h"

namespace warpmeter::reports {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using MemoryOfLaunches = LimitsFixture;

TEST_F(MemoryOfLaunches, HasBytesBesideSectorsAndHitRatesInTheBoxes) {
  use_gpu();
  for (const schema::Launch& launch : copying_launches()) add(launch);
  const std::string svg = picture("memory-of");
  // direct: 1,048,576 sectors of 32 bytes; 2,097,152 wavefronts of 262,144 requests.
  EXPECT_THAT(svg, AllOf(HasSubstr(">loads 262k req, 1.05M sec, 33.6 MB<"),
                         HasSubstr(">stores 262k req, 2.1M wf (8 a req)<"),
                         HasSubstr(">reads 1.05M sec, 33.6 MB<"), HasSubstr(">reads 33.6 MB<"),
                         HasSubstr(">12.5 % hits<"), HasSubstr(">56.3 % hits<")));
  expect_golden("limits_memory_gpu.svg", svg);
}

TEST_F(MemoryOfLaunches, DrawsCopiesPastTheRegistersAndOtherBlocksMemory) {
  use_gpu();
  std::vector<schema::Launch> launches = copying_launches();
  add(launches[1]);
  EXPECT_THAT(picture("memory-of"), HasSubstr(">cp.async 65.5k req, 1.05M sec, 33.6 MB<"));
  launches[3].size = 2048;
  add(launches[3]);
  const std::string svg = picture("memory-of");
  EXPECT_THAT(svg, AllOf(HasSubstr(">bulk loads 2,048 req, 33.6 MB<"),
                         HasSubstr(">loads 131k req<"), HasSubstr(">of other blocks<")));
  EXPECT_THAT(svg, Not(HasSubstr(">cp.async")));
  expect_golden("limits_memory_cluster.svg", svg);
}

TEST_F(MemoryOfLaunches, HasNoRowOfWhatNoVariantDoes) {
  add("plain", {{"global_load_requests", 10}, {"global_load_sectors", 40}});
  const std::string text = section("limits");
  for (const char* word : {"atomic", "reduction", "ldmatrix", "wgmma", "shared load", "L1 store"}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
  EXPECT_THAT(text, HasSubstr("L1 load requests"));
  const std::string svg = picture("memory-of");
  EXPECT_THAT(svg, AllOf(HasSubstr(">no accesses<"), Not(HasSubstr("of other blocks"))));
}

TEST_F(MemoryOfLaunches, HasARowOfWhatSomeVariantDoes) {
  const std::map<std::string, double> atomics = {{"shared_atomic_requests", 100},
                                                 {"shared_atomic_wavefronts", 900}};
  add("plain", {{"shared_load_wavefronts", 10}, {"shared_load_requests", 10}});
  add("atomics", atomics);
  const std::string text = section("limits");
  EXPECT_THAT(text, AllOf(HasSubstr("shared atomic requests"),
                          HasSubstr("shared atomics / request"), HasSubstr("| test/atomics |")));
  EXPECT_THAT(picture("memory-of"), HasSubstr(">atomics 100 req, 900 wf (9 a req)<"));
}

TEST_F(MemoryOfLaunches, SaysWhyAnEdgeIsGrey) {
  schema::Launch launch = counted_launch("plain", {{"global_load_sectors", 40}}, 1024);
  for (const char* counter : {"l2_read_sectors", "l2_write_sectors"}) {
    launch.counters.push_back({counter, std::nullopt, schema::Grade::unavailable,
                               "the model counts accesses and instructions only; run on a GPU for "
                               "this"});
  }
  add(launch);
  EXPECT_THAT(
      picture("memory-of"),
      AllOf(HasSubstr("no cache is modelled<"),
            HasSubstr("<title>the model counts accesses and instructions only; run on a GPU "
                      "for this</title>")));
  EXPECT_THAT(
      section("limits"),
      HasSubstr("L2 read sectors, bytes, L2 write sectors, bytes (the model counts accesses "
                "and instructions only; run on a GPU for this)"));
}

TEST_F(MemoryOfLaunches, NamesTheSetThatCountsAnEdge) {
  use_gpu();
  add(counted_launch("plain", {{"global_load_sectors", 40}}, 1024));
  EXPECT_THAT(picture("memory-of"), AllOf(HasSubstr("not counted: run"), HasSubstr("-m @limits")));
}

}  // namespace
}  // namespace warpmeter::reports
