// SPDX-License-Identifier: MIT
// The needs of a run's launches, as the sections use them.
#pragma once

#include <map>
#include <vector>

#include "reports/limits/needs.h"
#include "reports/sections/sections.h"

namespace warpmeter::reports::sections {

using limits::LaunchFacts;
using limits::Limits;
using limits::Need;
using limits::Peaks;
using limits::Resource;
using limits::Sum;

using limits::cell_of;
using limits::l1_sector_counters;
using limits::limit_of;
using limits::limits_of;
using limits::missing_count;
using limits::most_of;
using limits::name_of;
using limits::need_named;
using limits::resources;
using limits::second_of;
using limits::size_of;
using limits::sum_of;
using limits::tensor_operations;

/// By launch: the first one of each subject.
std::map<std::int64_t, LaunchFacts> facts_of(const Source& source);

/// The memory charts of the variants, and their table.
void add_memory(Document& document, const std::vector<const Limits*>& largest);

}  // namespace warpmeter::reports::sections
