// SPDX-License-Identifier: MIT
// The barrier of a cluster's blocks, for the units of execute/; see cluster.h.
#pragma once

#include <cstdint>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// Lanes of the warp arrive in the phase that its cluster is in.
void arrive_in_cluster(Warp& warp, std::uint32_t lanes);
/// True if the phase is over that the warp arrived in last.
bool may_leave_cluster_barrier(const Warp& warp);

}  // namespace warpmeter::model
