// SPDX-License-Identifier: MIT
// The reach of an entry: the functions that it may call, and the variables that these mention. The
// machine code of an entry has room for the shared variables that it reaches, and for no others.
#pragma once

#include <string_view>
#include <unordered_set>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// The names that the code of `entry`, the functions that it may call and the initial values of the
/// variables they mention are made of; its own is among them. A call by an address may be of any
/// function.
std::unordered_set<std::string_view> reached_names(const Module& module, const Function& entry);

}  // namespace warpmeter::model::ptx
