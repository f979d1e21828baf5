// A trap in words.
#pragma once

#include "collector/model/launch.h"
#include "collector/model/worker.h"

namespace warpmeter::model {

Trap describe(const BlockTrap& trap, const Program& program, const kernels::Geometry& geometry,
              const DeviceMemory& memory);

}  // namespace warpmeter::model
