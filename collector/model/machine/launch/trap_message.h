// SPDX-License-Identifier: MIT
// A trap in words.
#pragma once

#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/launch/worker.h"

namespace warpmeter::model {

Trap describe(const BlockTrap& trap, const Program& program, const Geometry& geometry,
              const DeviceMemory& memory);

}  // namespace warpmeter::model
