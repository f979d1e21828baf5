// SPDX-License-Identifier: MIT
#include "collector/model/machine/launch/residency.h"

#include <algorithm>

#include "collector/model/machine/device_limits.h"

namespace warpmeter::model {

Residency residency_of(const Program& program, const Geometry& geometry,
                       const LaunchOptions& options) {
  const DeviceLimits& limits = device_limits(program.arch);
  BlockNeeds needs;
  needs.threads = static_cast<std::uint32_t>(geometry.block.count());
  needs.shared_bytes = static_cast<std::uint32_t>(program.shared_bytes(geometry));
  needs.registers = program.resources.registers;
  if (!needs.registers && options.registers) needs.registers = options.registers();
  Residency residency;
  residency.of_multiprocessor = std::max(blocks_at_a_time(limits, needs), 1);
  residency.multiprocessors = options.multiprocessors.empty()
                                  ? limits.multiprocessors
                                  : static_cast<int>(options.multiprocessors.size());
  return residency;
}

}  // namespace warpmeter::model
