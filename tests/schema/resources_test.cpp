// SPDX-License-Identifier: MIT
// Resources of a launch in `results`: value, grade and reason on each backend.
#include "tests/schema/fixture.h"

namespace warpmeter::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Resources : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "warpmeter.db"; }

  void store(const Launch& launch, const std::string& backend = "cupti") const {
    Device device = example_device();
    device.backend = backend;
    Store store(path());
    const std::int64_t run = store.begin_run(example_run(""));
    store.add_launches(run, store.add_device(run, device), {{launch}});
    store.end_run(run, RunOutcome::done, "");
  }
  /// "value|unit|grade|reason" of one figure of the only launch.
  std::vector<std::string> result(const std::string& metric) const {
    return lines_of(Reader(path()),
                    "SELECT value, unit, grade, reason FROM results WHERE metric = :m",
                    {{":m", metric}});
  }

  Folder folder_;
};

Launch launch_of(std::int64_t local_bytes) {
  Launch launch = example_launch();
  launch.registers = 40;
  launch.local_bytes = local_bytes;
  launch.static_shared_bytes = 4096;
  launch.dynamic_shared_bytes = 512;
  return launch;
}

TEST_F(Resources, AreTheDriversOnAGpu) {
  store(launch_of(0));
  EXPECT_THAT(result("registers_per_thread"), ElementsAre("40|registers|measured|NULL"));
  EXPECT_THAT(result("local_bytes_per_thread"), ElementsAre("0|bytes|measured|NULL"));
  EXPECT_THAT(result("static_shared_bytes"), ElementsAre("4096|bytes|measured|NULL"));
  EXPECT_THAT(result("dynamic_shared_bytes"), ElementsAre("512|bytes|measured|NULL"));
  // 6 blocks of 8 warps: 65,536 registers for 256 threads of 40; a multiprocessor holds 64 warps.
  EXPECT_THAT(result("theoretical_occupancy"), ElementsAre("75|%|measured|NULL"));
  EXPECT_THAT(result("code_bytes"),
              ElementsAre("NULL|bytes|unavailable|the driver does not tell it: -b model reads it "
                          "from the machine code"));
}

TEST_F(Resources, HaveNoSpillsWithoutLocalMemory) {
  store(launch_of(0));
  EXPECT_THAT(result("spill_loads"), ElementsAre("0|bytes|measured|NULL"));
  EXPECT_THAT(result("spill_stores"), ElementsAre("0|bytes|measured|NULL"));
}

TEST_F(Resources, LeaveOpenOnAGpuWhatLocalMemoryHolds) {
  store(launch_of(40));
  EXPECT_THAT(result("local_bytes_per_thread"), ElementsAre("40|bytes|measured|NULL"));
  EXPECT_THAT(result("spill_stores"),
              ElementsAre("NULL|bytes|unavailable|the driver does not tell spills from arrays in "
                          "local memory: -b model and ptxas -v do"));
  EXPECT_THAT(lines_of(path(), "SELECT spill_store_bytes, resources_reason FROM launches"),
              ElementsAre("NULL|the driver does not tell spills from arrays in local memory: "
                          "-b model and ptxas -v do"));
}

TEST_F(Resources, AreTheMachineCodesOnTheModel) {
  Launch launch = launch_of(40);
  launch.code = {1280, 24, 16, ""};
  store(launch, "model");
  EXPECT_THAT(result("spill_loads"), ElementsAre("24|bytes|exact|NULL"));
  EXPECT_THAT(result("spill_stores"), ElementsAre("16|bytes|exact|NULL"));
  EXPECT_THAT(result("code_bytes"), ElementsAre("1280|bytes|exact|NULL"));
  EXPECT_THAT(lines_of(path(), "SELECT spill_load_bytes, spill_store_bytes FROM launches"),
              ElementsAre("24|16"));
}

TEST_F(Resources, AreModelledWhereSpillsAreTold) {
  Launch launch = launch_of(40);
  launch.code = {1280, 24, 16, "told by place"};
  store(launch, "model");
  EXPECT_THAT(result("spill_stores"), ElementsAre("16|bytes|modelled|told by place"));
  EXPECT_THAT(result("registers_per_thread"), ElementsAre("40|registers|exact|NULL"));
}

TEST_F(Resources, SayWhyTheMachineCodeWasNotRead) {
  Launch launch = launch_of(0);
  launch.registers = launch.local_bytes = std::nullopt;
  launch.resources_reason = "there is no cubin";
  store(launch, "model");
  for (const char* metric : {"registers_per_thread", "local_bytes_per_thread", "spill_loads",
                             "spill_stores", "theoretical_occupancy", "code_bytes"}) {
    EXPECT_EQ(result(metric).at(0).substr(0, 4), "NULL") << metric;
    EXPECT_THAT(result(metric).at(0), ::testing::EndsWith("|unavailable|there is no cubin"));
  }
  // The PTX declares it; ptxas may leave out what nobody reads.
  EXPECT_THAT(result("static_shared_bytes"),
              ElementsAre("4096|bytes|ptx|declared in the PTX; the machine code was not read"));
  EXPECT_THAT(result("dynamic_shared_bytes"), ElementsAre("512|bytes|exact|NULL"));
}

TEST_F(Resources, AreHeldToExpectations) {
  Launch launch = launch_of(0);
  launch.expectations = {{"spill_stores", "==", 0, "nothing is spilled"},
                         {"registers_per_thread", "<=", 32, "two blocks more"}};
  store(launch);
  EXPECT_THAT(
      lines_of(path(), "SELECT metric, measured, grade, verdict FROM expectations"),
      ElementsAre("spill_stores|0|measured|holds", "registers_per_thread|40|measured|broken"));
}

TEST_F(Resources, AreNotThereOfALaunchThatFailed) {
  Launch launch = launch_of(0);
  launch.outcome = LaunchOutcome::failed;
  store(launch);
  EXPECT_THAT(result("registers_per_thread"), IsEmpty());
}

}  // namespace
}  // namespace warpmeter::schema
