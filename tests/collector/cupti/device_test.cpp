// SPDX-License-Identifier: MIT
#include "collector/cupti/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "collector/cupti/diagnose.h"
#include "collector/cupti/library.h"

namespace warpmeter::cupti {
namespace {

using ::testing::HasSubstr;

TEST(ThrottleReasons, AreWordsInTheOrderOfTheirBits) {
  EXPECT_EQ(throttle_reasons(0), "");
  EXPECT_EQ(throttle_reasons(0x1), "idle");
  EXPECT_EQ(throttle_reasons(0x4 | 0x40), "software power cap, hardware thermal slowdown");
  EXPECT_EQ(throttle_reasons(0x1ff),
            "idle, application clocks setting, software power cap, hardware slowdown, sync boost, "
            "software thermal slowdown, hardware thermal slowdown, hardware power brake, display "
            "clock setting");
}

TEST(ThrottleReasons, KeepABitThatHasNoNameYet) {
  EXPECT_EQ(throttle_reasons(0x1 | 0x4000), "idle, unknown 0x4000");
}

TEST(Uuid, IsWrittenAsNvidiaSmiDoes) {
  const unsigned char bytes[16] = {0x56, 0x81, 0x04, 0x10, 0x80, 0x52, 0x7d, 0xa4,
                                   0xfc, 0x45, 0x06, 0x60, 0xb7, 0x2c, 0xf5, 0xd0};
  EXPECT_EQ(format_uuid(bytes), "GPU-56810410-8052-7da4-fc45-0660b72cf5d0");
}

TEST(CounterPermission, IsReadFromTheDriversParameters) {
  std::istringstream admins("RmMsg: \"\"\nRmProfilingAdminOnly: 1\nGpuBlacklist: \"\"\n");
  EXPECT_EQ(counters_for_admins_only(admins), true);
  std::istringstream everyone("RmProfilingAdminOnly: 0\n");
  EXPECT_EQ(counters_for_admins_only(everyone), false);
  std::istringstream silent("RmMsg: \"\"\n");
  EXPECT_EQ(counters_for_admins_only(silent), std::nullopt);
}

TEST(Diagnosis, CountersAreRefusedBeforehandToThoseWhoAreNoAdministrators) {
  const auto refusal = [](const std::string& admins_only, const std::string& capabilities) {
    std::istringstream params("RmProfilingAdminOnly: " + admins_only + "\n");
    std::istringstream status("Name:\twarpmeter\nCapEff:\t" + capabilities + "\n");
    return counters_refusal(params, status);
  };
  EXPECT_THAT(refusal("1", "0000000000000000"), HasSubstr("CAP_PERFMON"));
  EXPECT_EQ(refusal("1", "0000000000200000"), "");  // CAP_SYS_ADMIN
  EXPECT_EQ(refusal("1", "0000004000000000"), "");  // CAP_PERFMON
  EXPECT_EQ(refusal("0", "0000000000000000"), "");
}

TEST(DeviceState, SaysWhyThereIsNone) {
  if (nvml_library().ok()) GTEST_SKIP() << "this machine has NVML";
  const schema::DeviceState state = read_state("GPU-0", "before");
  EXPECT_EQ(state.phase, "before");
  EXPECT_NE(state.unavailable.find("NVML"), std::string::npos) << state.unavailable;
  EXPECT_FALSE(state.sm_clock_mhz.has_value());
  ASSERT_EQ(state.disturbances.size(), 1U);
  EXPECT_EQ(state.disturbances[0].kind, "process");
  EXPECT_EQ(state.disturbances[0].reason, state.unavailable);
  EXPECT_TRUE(read_states("before").empty());
}

TEST(Devices, AreNoneWithoutADriver) {
  if (driver_library().ok()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_TRUE(devices().empty());
}

}  // namespace
}  // namespace warpmeter::cupti
