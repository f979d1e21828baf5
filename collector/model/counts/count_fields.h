// SPDX-License-Identifier: MIT
// The numbers of a site's counts that an estimate scales.
#pragma once

#include <cstdint>

#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {

using CountField = std::uint64_t AccessCounts::*;
inline constexpr CountField count_fields[] = {&AccessCounts::requests, &AccessCounts::transactions,
                                              &AccessCounts::bytes, &AccessCounts::ideal,
                                              &AccessCounts::empty};
using CountSpace = AccessCounts SiteCounts::*;
inline constexpr CountSpace count_spaces[] = {&SiteCounts::shared, &SiteCounts::global,
                                              &SiteCounts::cluster, &SiteCounts::loop_loads};

}  // namespace warpmeter::model
