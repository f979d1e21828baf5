// SPDX-License-Identifier: MIT
// The NVLink connections of the devices that CUDA shows. For callers without CUDA's headers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::cupti {

/// The links between a device and one peer.
struct NvLinks {
  std::string device;        ///< "NVIDIA H200 (0)"
  std::string peer;          ///< another device, "NVSwitch", "CPU" or "unknown"
  std::string_view version;  ///< "4.0"; "unknown" for one that is newer than this program
  unsigned links = 0;
};

/// The links of all devices that CUDA shows. `failure`: why they are not known; empty: they are.
struct NvLinkTopology {
  std::vector<NvLinks> links;
  std::string failure;
};
NvLinkTopology nvlink_topology();

}  // namespace warpmeter::cupti
