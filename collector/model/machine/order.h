// Memory whose contents depend on the order in which threads came to an atomic, from launch to
// launch: a queue that one kernel fills is what another goes by. What a kernel makes of it is known
// of its code (Program::lasting_memory); which allocations that means, when it is launched.
//
// An allocation is one thing: with a part of it all of it depends on the order, until a copy or a
// set covers all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/model/machine/memory.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model {

/// Before a launch: notes in memory what it will leave so. Of each site, 1 where its addresses
/// depend on what is so already; empty: none does.
std::vector<std::uint8_t> follow_order(const Program& program,
                                       std::span<const std::byte> parameters, DeviceMemory& memory);

/// After the host has put bytes there, from another place (`from` 0: from nowhere).
void follow_copy(DeviceMemory& memory, std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

}  // namespace warpmeter::model
