// SPDX-License-Identifier: MIT
// Waits at barrier objects that are not over, for messages about kernels that do not go on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collector/model/machine/warp/mbarrier.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// The place of the object that an operation names for a lane, in shared memory of so many bytes;
/// nullopt: it lies elsewhere.
std::optional<std::uint64_t> object_place(const Warp& warp, const Operation* op, unsigned lane,
                                          std::uint64_t shared_bytes);

/// A lane's wait at an object whose phase is not over.
struct ObjectWait {
  std::uint32_t instruction = 0, thread = 0;
  std::uint64_t place = 0;         ///< the object's, in shared memory
  std::optional<unsigned> parity;  ///< that it waits for; else for the phase of its arrival
  ObjectState state;
};

/// The waits at objects of warps that have yielded there: one of each instruction.
std::vector<ObjectWait> object_waits(std::span<const Warp> warps);

}  // namespace warpmeter::model
