// SPDX-License-Identifier: MIT
// NVLink connections, with an NVML that has three devices: two with two links to each other, and
// one to a switch; the third has none. The numbers of types and versions are those of NVIDIA's NVML
// API Reference Guide (NvLink Methods).
#include "collector/cupti/nvml_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace warpmeter::cupti {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Devices are 1, 2 and 3, on the buses 0x10, 0x20 and 0x30.
unsigned card_number(nvmlDevice_t device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device));
}
nvmlDevice_t card(unsigned number) {
  return reinterpret_cast<nvmlDevice_t>(std::uintptr_t{number});
}

NvmlApi api_with_links() {
  NvmlApi api;
  api.nvmlDeviceGetPciInfo_v3 = [](nvmlDevice_t of, nvmlPciInfo_t* info) {
    info->bus = card_number(of) * 0x10;
    return nvml_success;
  };
  api.nvmlDeviceGetNvLinkState = [](nvmlDevice_t of, unsigned link, int* is_active) {
    constexpr nvmlReturn_t not_supported = 3;
    if (card_number(of) == 3) return not_supported;
    *is_active = link < 3 ? 1 : 0;
    return nvml_success;
  };
  api.nvmlDeviceGetNvLinkVersion = [](nvmlDevice_t, unsigned link, unsigned* version) {
    *version = link == 2 ? 99 : 6;
    return nvml_success;
  };
  api.nvmlDeviceGetNvLinkRemoteDeviceType = [](nvmlDevice_t, unsigned link, int* type) {
    *type = link == 2 ? 2 : 0;
    return nvml_success;
  };
  api.nvmlDeviceGetNvLinkRemotePciInfo_v2 = [](nvmlDevice_t of, unsigned, nvmlPciInfo_t* info) {
    info->bus = card_number(of) == 1 ? 0x20 : 0x10;
    return nvml_success;
  };
  return api;
}

std::vector<std::string> links_told(const NvmlApi& api, const std::vector<NvLinkDevice>& devices) {
  std::vector<std::string> lines;
  for (const NvLinks& one : nvlinks_of(api, devices)) {
    lines.push_back(one.device + " " + std::to_string(one.links) + " " + std::string(one.version) +
                    " " + one.peer);
  }
  return lines;
}

TEST(NvLink, AreAddedUpByDeviceAndPeer) {
  EXPECT_THAT(
      links_told(api_with_links(), {{card(1), "A (0)"}, {card(2), "A (1)"}, {card(3), "B (2)"}}),
      ElementsAre("A (0) 2 4.0 A (1)", "A (0) 1 unknown NVSwitch", "A (1) 2 4.0 A (0)",
                  "A (1) 1 unknown NVSwitch"));
}

/// CUDA_VISIBLE_DEVICES may leave the other device out.
TEST(NvLink, NamesADeviceThatIsNotShownByItsPlace) {
  EXPECT_THAT(links_told(api_with_links(), {{card(1), "A (0)"}}),
              ElementsAre("A (0) 2 4.0 GPU at 00000000:20:00.0", "A (0) 1 unknown NVSwitch"));
}

TEST(NvLink, AreNoneWithoutTheFunctionsOrTheHardware) {
  EXPECT_THAT(links_told(api_with_links(), {{card(3), "B (0)"}}), IsEmpty());
  NvmlApi old = api_with_links();
  old.nvmlDeviceGetNvLinkState = nullptr;
  EXPECT_THAT(links_told(old, {{card(1), "A (0)"}}), IsEmpty());
}

}  // namespace
}  // namespace warpmeter::cupti
