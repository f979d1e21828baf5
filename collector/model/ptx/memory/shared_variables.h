// SPDX-License-Identifier: MIT
// Which shared array an access means, where the code shows it: all that leads to its address begins
// with that array's. Compilers do not know how arrays lie beside each other, so they never make one
// array's address of another's; an access that leaves its array has gone astray.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// By instruction: the variable of `names` to which its first address leads; empty where it is none
/// of them, or may be another.
std::vector<std::string_view> meant_variables(const Function& function, const DataFlow& data,
                                              const std::unordered_set<std::string_view>& names);

}  // namespace warpmeter::model::ptx
