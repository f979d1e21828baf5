// SPDX-License-Identifier: MIT
#include "collector/cupti/nvlink.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "collector/cupti/device.h"
#include "collector/cupti/nvml_links.h"

namespace warpmeter::cupti {
namespace {

constexpr unsigned most_links = 18;  // NVML_NVLINK_MAX_LINKS
constexpr int remote_gpu = 0, remote_cpu = 1, remote_switch = 2;

/// NVML numbers them.
std::string_view version_text(unsigned number) {
  constexpr std::string_view texts[] = {"unknown", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0"};
  return number < std::size(texts) ? texts[number] : texts[0];
}

/// Domain, bus and device of a card.
using Place = std::tuple<unsigned, unsigned, unsigned>;
Place place_of(const nvmlPciInfo_t& info) { return {info.domain, info.bus, info.device}; }

class Peers {
 public:
  Peers(const NvmlApi& api, std::span<const NvLinkDevice> devices) : api_(api) {
    for (const NvLinkDevice& device : devices) {
      nvmlPciInfo_t info{};
      if (api.nvmlDeviceGetPciInfo_v3(device.handle, &info) == nvml_success) {
        titles_[place_of(info)] = device.title;
      }
    }
  }

  /// A GPU that CUDA does not show has the place of its card.
  std::string at(nvmlDevice_t device, unsigned link) const {
    int type = -1;
    api_.nvmlDeviceGetNvLinkRemoteDeviceType(device, link, &type);
    if (type == remote_switch) return "NVSwitch";
    if (type == remote_cpu) return "CPU";
    nvmlPciInfo_t info{};
    const bool is_known = type == remote_gpu && api_.nvmlDeviceGetNvLinkRemotePciInfo_v2(
                                                    device, link, &info) == nvml_success;
    if (!is_known) return "unknown";
    const auto found = titles_.find(place_of(info));
    if (found != titles_.end()) return found->second;
    return fmt::format("GPU at {:08x}:{:02x}:{:02x}.0", info.domain, info.bus, info.device);
  }

 private:
  const NvmlApi& api_;
  std::map<Place, std::string> titles_;
};

}  // namespace

std::vector<NvLinks> nvlinks_of(const NvmlApi& api, std::span<const NvLinkDevice> devices) {
  std::vector<NvLinks> all;
  const bool has_functions =
      api.nvmlDeviceGetNvLinkState != nullptr && api.nvmlDeviceGetNvLinkVersion != nullptr &&
      api.nvmlDeviceGetNvLinkRemoteDeviceType != nullptr &&
      api.nvmlDeviceGetNvLinkRemotePciInfo_v2 != nullptr && api.nvmlDeviceGetPciInfo_v3 != nullptr;
  if (!has_functions) return all;
  const Peers peers(api, devices);
  for (const NvLinkDevice& device : devices) {
    const std::size_t first = all.size();
    for (unsigned link = 0; link < most_links; ++link) {
      int is_active = 0;
      unsigned version = 0;
      if (api.nvmlDeviceGetNvLinkState(device.handle, link, &is_active) != nvml_success) continue;
      if (is_active == 0) continue;
      api.nvmlDeviceGetNvLinkVersion(device.handle, link, &version);
      const NvLinks one{device.title, peers.at(device.handle, link), version_text(version), 1};
      const auto known = std::find_if(
          all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), [&](const NvLinks& other) {
            return other.peer == one.peer && other.version == one.version;
          });
      known == all.end() ? all.push_back(one) : static_cast<void>(++known->links);
    }
  }
  return all;
}

NvLinkTopology nvlink_topology() {
  const Loaded<NvmlApi>& nvml = nvml_library();
  if (!nvml.ok()) return {{}, nvml.sentence()};
  std::vector<NvLinkDevice> found;
  for (const schema::Device& device : devices()) {
    NvLinkDevice one;
    one.title = fmt::format("{} ({})", device.name, device.ordinal);
    const nvmlReturn_t result =
        nvml.api.nvmlDeviceGetHandleByUUID(device.uuid.c_str(), &one.handle);
    if (result != nvml_success) {
      return {
          {},
          fmt::format("NVML does not know {}: {}", one.title, nvml.api.nvmlErrorString(result))};
    }
    found.push_back(one);
  }
  return {nvlinks_of(nvml.api, found), ""};
}

}  // namespace warpmeter::cupti
