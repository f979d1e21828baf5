// SPDX-License-Identifier: MIT
// Loads of machine code that are checked together: what their sites remember, as one (SiteGroup).
#pragma once

#include <cstdint>
#include <span>

#include "collector/model/machine/native/code.h"
#include "collector/model/machine/warp/warp.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {

/// Begins the groups of machine code: nothing is known yet.
void know_groups(WorkerMemory& memory, std::span<const LoadGroup> groups);

/// Looks whether the sites of a group remember what serves all of its loads.
void know_group(Warp& w, std::uint32_t group);

}  // namespace warpmeter::model
