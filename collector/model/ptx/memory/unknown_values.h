// SPDX-License-Identifier: MIT
// Values that only the hardware knows, beside those that the order of threads decides: its clocks,
// the places that it chooses for blocks, warps and what a kernel takes from the heap, and memory
// and registers that nothing sets.
//
// An address on the heap is no such value as long as it is used as one: where it leads is counted
// by itself. Its bits are, once a number is made of them in registers. Memory of a block is unset
// only where the function has no store to it at all, and a register where nothing writes it: a
// value that is set on some ways only is for --check to follow.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "collector/model/ptx/memory/memory_accesses.h"

namespace warpmeter::model::ptx {

enum class Unknown : std::uint8_t {
  clock,  ///< the time
  place,  ///< which multiprocessor, which slot of it
  heap,   ///< the address that malloc returned
  unset,
};
constexpr std::size_t unknown_count = 4;

/// A bit for each Unknown.
using Unknowns = std::uint8_t;
constexpr Unknowns bit_of(Unknown unknown) {
  return static_cast<Unknowns>(1u << static_cast<unsigned>(unknown));
}

/// By instruction: true if it gives such a value by itself. Empty: none does.
using UnknownValues = std::array<std::vector<bool>, unknown_count>;

/// `given_by_calls`: for each instruction, what the function that it calls may give.
UnknownValues unknown_values(const Function& function, const DataFlow& data,
                             std::span<const MemoryAccess> accesses,
                             std::span<const MemoryPiece> pieces,
                             std::span<const Unknowns> given_by_calls);

/// All that a function may give its caller.
Unknowns all_of(const UnknownValues& values);

}  // namespace warpmeter::model::ptx
