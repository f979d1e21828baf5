// SPDX-License-Identifier: MIT
// Where the allocations of a graph lie. As on an H200, an allocation takes the place of an earlier
// one whose free comes before it in the graph, the smallest place that holds it; else it lies
// behind all others. The graph's memory is as large as these places together.
#pragma once

#include <vector>

#include "collector/runtime/graph/graph.h"
#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {

/// Chooses the address of an allocation that comes behind `after`. False: there is none left.
bool place(Memory& memory, const Graph& graph, const std::vector<Node*>& after,
           AllocationWork& allocation);

/// True if the graph frees more at an address than it allocates there, if it frees once more.
bool is_freed(const Graph& graph, std::uint64_t address);

}  // namespace warpmeter::runtime
