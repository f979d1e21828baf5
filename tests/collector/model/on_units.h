// SPDX-License-Identifier: MIT
// Launches of tests on the units of execute/ that this processor has.
#pragma once

#include <fmt/format.h>

#include <string>

#include "collector/model/machine/execute/units.h"
#include "collector/model/machine/launch/launch.h"

namespace warpmeter::model {

/// Why this processor cannot run a unit, or its machine code; empty: it can.
inline std::string lacks(const Unit& unit, bool as_machine_code = false) {
  if (!unit.is_supported) return fmt::format("this processor has no {}", unit.name);
  if (as_machine_code && unit.vector_bytes == 0)
    return fmt::format("no machine code for {}", unit.name);
  return "";
}

inline LaunchOptions options_of(const Unit& unit, bool as_machine_code = false) {
  LaunchOptions options;
  options.unit = &unit;
  if (as_machine_code) {
    options.counts = false;
    options.native_after = 0;
  }
  return options;
}

}  // namespace warpmeter::model
