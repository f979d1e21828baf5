// SPDX-License-Identifier: MIT
// Shares of peak of launches whose cycles are known. An H200 does 4 warp instructions, 1 shared
// wavefront and 4 sectors a cycle and multiprocessor (NVIDIA's tuning guide for Hopper).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/golden_file.h"
#include "tests/reports/limits_fixture.h"

namespace warpmeter::reports {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using SpeedOfLight = LimitsFixture;

TEST_F(SpeedOfLight, IsTheShareOfTheLaunchThatEachResourceNeeds) {
  use_gpu();
  // 500,000 of 1,000,000 cycles for wavefronts; 800,000 / 4 for instructions; 400,000 / 4 for
  // sectors.
  add(measured_launch("tiled",
                      {{"shared_load_wavefronts", 500'000},
                       {"warp_instructions", 800'000},
                       {"global_load_sectors", 400'000}},
                      1'000'000, {{"dram_utilization", 40}, {"l2_utilization", 17}}));
  EXPECT_THAT(limits_json(),
              AllOf(HasSubstr("\"shared_of_peak\":50"), HasSubstr("\"issue_of_peak\":20"),
                    HasSubstr("\"l1_of_peak\":10"), HasSubstr("\"device_memory_of_peak\":40"),
                    HasSubstr("\"l2_of_peak\":17")));
  EXPECT_THAT(section("limits"), HasSubstr("### Speed of light: share of peak\n"));
}

TEST_F(SpeedOfLight, TakesTheBusiestPartOfL2) {
  use_gpu();
  add(measured_launch("strided", {{"warp_instructions", 800}}, 1000,
                      {{"l2_utilization", 20}, {"l2_input_utilization", 85}}));
  EXPECT_THAT(limits_json(), HasSubstr("\"l2_of_peak\":85"));
}

TEST_F(SpeedOfLight, SaysWhyAResourceHasNoValue) {
  use_gpu();
  schema::Launch launch = measured_launch("plain", {{"warp_instructions", 800}}, 1000, {});
  launch.counters.push_back({"tensor_utilization", std::nullopt, schema::Grade::unavailable,
                             "the driver refused the counter"});
  add(launch);
  EXPECT_THAT(section("limits"), HasSubstr("tensor (%) (the driver refused the counter)"));
}

TEST_F(SpeedOfLight, HasNoTimeOnTheModel) {
  add("tiled", {{"shared_load_wavefronts", 1000}});
  const std::string text = section("limits");
  EXPECT_THAT(text, HasSubstr("The model has no clock, so these are shares of the limit, not of a "
                              "launch's time."));
  EXPECT_EQ(picture("speed-of-light"), "");
}

TEST_F(SpeedOfLight, DrawsTheResourcesThatSomeVariantUses) {
  use_gpu();
  for (const schema::Launch& launch : copying_launches()) add(launch);
  const std::string svg = picture("speed-of-light");
  EXPECT_THAT(svg, AllOf(HasSubstr(">device memory (%)<"), HasSubstr(">shared (%)<")));
  EXPECT_THAT(svg, Not(HasSubstr(">special (%)<"))) << "0.5 % at the most";
  EXPECT_THAT(svg, Not(HasSubstr(">tensor (%)<"))) << "nothing at all";
  expect_golden("limits_speed_of_light.svg", svg);
}

TEST_F(SpeedOfLight, DrawsFewerResourcesOfManyVariants) {
  use_gpu();
  for (int i = 0; i < 25; ++i) {
    add(measured_launch("v" + std::to_string(i), {{"warp_instructions", 1200}}, 1000,
                        {{"dram_utilization", 80},
                         {"l2_utilization", 70},
                         {"alu_utilization", 60},
                         {"fma_utilization", 50}}));
  }
  const std::string svg = picture("speed-of-light");
  EXPECT_THAT(svg, AllOf(HasSubstr(">device memory (%)<"), HasSubstr(">L2 (%)<"),
                         HasSubstr(">integers (%)<"), HasSubstr("and further ones")));
  EXPECT_THAT(svg, Not(HasSubstr(">issue (%)<"))) << "30 %";
}

}  // namespace
}  // namespace warpmeter::reports
