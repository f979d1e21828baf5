// SPDX-License-Identifier: MIT
// Samples of what launches take, until the median of each is known well enough.
#pragma once

#include <functional>
#include <span>

#include "collector/run/pending.h"
#include "collector/run/statistics.h"

namespace warpmeter::run {

/// Samples the launches in turns (A B A B …) until the rule stops each of them or their budgets
/// end, so that what drifts meanwhile drifts for all of them. The samples are in the records.
/// `stop` is asked after each turn of a launch; false when it said so.
bool time_in_turns(Workload& workload, std::span<Pending> launches, const StoppingRule& rule,
                   schema::CacheState cache, const std::function<bool()>& stop);

}  // namespace warpmeter::run
