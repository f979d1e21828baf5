// SPDX-License-Identifier: MIT
// Functions that come with the driver: kernels call them, and no module has a body of theirs.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

inline constexpr std::string_view driver_functions[] = {"vprintf", "__assertfail", "malloc",
                                                        "free"};

constexpr bool is_driver_function(std::string_view name) {
  return std::find(std::begin(driver_functions), std::end(driver_functions), name) !=
         std::end(driver_functions);
}

inline bool calls_driver(const Instruction& instruction) {
  return instruction.row().effects.flow == Flow::call && instruction.operands.size() > 1 &&
         is_driver_function(instruction.operands[1].name);
}

}  // namespace warpmeter::model::ptx
