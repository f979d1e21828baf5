// SPDX-License-Identifier: MIT
// Reads that decide what a thread does: what they find leads to a branch, or to a guard. A thread
// is told something by a flag, a lock or a counter only if it asks.
#pragma once

#include <vector>

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether a branch or a guard depends on what it gives. Values that are
/// stored for the block, or handed to a function, count as deciding.
std::vector<bool> deciding_reads(const Function& function, const DataFlow& data);

}  // namespace warpmeter::model::ptx
