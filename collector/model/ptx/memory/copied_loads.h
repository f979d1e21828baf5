// SPDX-License-Identifier: MIT
// Loads of what is only stored again. Whoever copies a structure copies the gaps between its
// members as well, which nobody has to have set; whoever computes with what was loaded wants all of
// it.
#pragma once

#include <vector>

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether it is an `ld` whose registers nothing but moves and stores reads.
std::vector<bool> copied_loads(const Function& function, const DataFlow& data);

}  // namespace warpmeter::model::ptx
