// SPDX-License-Identifier: MIT
// The bounds of a launch's estimated counters, and of the metrics that follow from them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "collector/model/counts/grades.h"
#include "schema/records.h"

namespace warpmeter::model {

/// The 95 % intervals of the counters and of the catalogue's metrics whose counters are all here;
/// none of what all blocks tell. `values`: the counters of the grids, in the order that their
/// samples were made with.
std::vector<schema::Interval> intervals(std::span<const schema::Counter> values,
                                        const std::vector<Ran>& grids);

}  // namespace warpmeter::model
