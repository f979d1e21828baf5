// SPDX-License-Identifier: MIT
#include "collector/cli/profile/devices.h"

#include <utility>

#include "base/error.h"

namespace warpmeter::cli {

void Devices::met() {
  if (std::exchange(is_begun_, true)) return;
  before_.wait();
  if (!cupti::is_told_by_capability()) {
    found_ = std::async(std::launch::async, [] { return cupti::devices(); });
  }
}

void Devices::complete(schema::Device& device) {
  try {
    if (all_.empty() && found_.valid()) all_ = found_.get();
  } catch (const Error&) {
    // nothing more is known than the process told
  }
  device.driver = cupti::driver_version();
  for (const schema::Device& whole : all_) {
    if (whole.uuid == device.uuid) device = whole;
  }
  if (!device.chip.empty() && chips_.insert(device.chip).second) chip_met_(device.chip);
}

std::vector<schema::DeviceState> Devices::states(const schema::Device& device) {
  std::vector<schema::DeviceState> states;
  const auto& before = before_.get();
  if (const auto found = before.find(device.uuid); found != before.end()) {
    states.push_back(found->second);
  }
  states.push_back(cupti::read_state(device.uuid, "after"));
  return states;
}

}  // namespace warpmeter::cli
