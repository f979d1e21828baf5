// SPDX-License-Identifier: MIT
// A kernel that does not go on, in words; and how messages name places and threads.
#pragma once

#include <cstdint>
#include <string>

#include "base/geometry.h"
#include "collector/model/machine/launch/worker.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model {

/// "vec.cu:12 (line 40 of its PTX)"
std::string place_of(const Program& program, const Place& place);
/// The place of a block in the grid, or of a thread in its block.
Dim3 position(std::uint64_t linear, const Dim3& size);
std::string to_string(const Dim3& position);  ///< "(3,0,0)"

/// A barrier object by its place in shared memory: "'full'", "at byte 8 of 'objects'".
std::string object_at(std::uint64_t place, const Program& program);

/// The message of TrapKind::no_progress: what the kernel waits for.
std::string waiting_message(const BlockTrap& trap, const Program& program,
                            const Geometry& geometry);

}  // namespace warpmeter::model
