// SPDX-License-Identifier: MIT
// The NVLink connections of given devices, as NVML tells them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "collector/cupti/library.h"
#include "collector/cupti/nvlink.h"

namespace warpmeter::cupti {

struct NvLinkDevice {
  nvmlDevice_t handle = nullptr;
  std::string title;  ///< "NVIDIA H200 (0)"
};

/// The active links, by device and peer. An NVML that lacks the functions tells of none.
std::vector<NvLinks> nvlinks_of(const NvmlApi& api, std::span<const NvLinkDevice> devices);

}  // namespace warpmeter::cupti
