// SPDX-License-Identifier: MIT
// Copies and sets that cannot be made: what the API returns for them, and with --check what is
// wrong with them, in the words of who wrote the program.
#pragma once

#include <cstdint>
#include <string>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// The kind of a mistake and its sentence.
struct Obstacle {
  const char* kind;
  std::string why;
};
/// Why so many bytes of a side cannot be reached. Without --check nobody knows what was freed.
Obstacle obstacle_at(Process& process, std::uint64_t address, std::uint64_t bytes,
                     const char* side);
/// A side ("destination", "source") with so many bytes that are not all memory of the device.
cudaError_t unreachable(Process& process, std::uint64_t address, std::uint64_t bytes,
                        const char* side);
/// A side that lies where the copy's kind does not say.
cudaError_t wrong_direction(Process& process, const CopyWork& copy, bool is_target);
/// With --check: a copy that the API takes although its kind is not where its sides are.
void look_at_direction(Process& process, const CopyWork& copy);
/// With --check: a copy whose sides have bytes in common, which CUDA forbids. `to` and `from`:
/// where they lie in this process, for memory may have several addresses.
void look_at_overlap(Process& process, const CopyWork& copy, std::uint64_t to, std::uint64_t from);
cudaError_t null_side(Process& process, const char* side);

}  // namespace warpmeter::runtime
