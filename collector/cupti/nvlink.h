// SPDX-License-Identifier: MIT
// The NVLink connections of the devices that CUDA shows, as NVML tells them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collector/cupti/library.h"

namespace warpmeter::cupti {

/// The links between a device and one peer.
struct NvLinks {
  std::string device;        ///< "NVIDIA H200 (0)"
  std::string peer;          ///< another device, "NVSwitch", "CPU" or "unknown"
  std::string_view version;  ///< "4.0"; "unknown" for one that is newer than this program
  unsigned links = 0;
};

struct NvLinkDevice {
  nvmlDevice_t handle = nullptr;
  std::string title;  ///< "NVIDIA H200 (0)"
};

/// The active links, by device and peer. An NVML that lacks the functions tells of none.
std::vector<NvLinks> nvlinks_of(const NvmlApi& api, std::span<const NvLinkDevice> devices);

/// The links of all devices that CUDA shows. `failure`: why they are not known; empty: they are.
struct NvLinkTopology {
  std::vector<NvLinks> links;
  std::string failure;
};
NvLinkTopology nvlink_topology();

}  // namespace warpmeter::cupti
