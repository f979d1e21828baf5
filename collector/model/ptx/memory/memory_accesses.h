// SPDX-License-Identifier: MIT
// The accesses of a function with what they may reach: what a flow through memory goes by.
#pragma once

#include <vector>

#include "collector/model/ptx/memory/pointed_memory.h"

namespace warpmeter::model::ptx {

/// The access of an instruction: registers, and pieces of memory; empty for one that accesses none.
struct MemoryAccess {
  std::vector<RegisterId> address, values;
  std::vector<PieceId> to, from;  ///< the stored and the loaded pieces
  bool is_to_one_place = false;   ///< for shared memory, whoever comes there
  Address place;                  ///< the place of the first operand that is one
};

/// By instruction.
std::vector<MemoryAccess> memory_accesses(const Function& function, const DataFlow& data,
                                          PointedMemory& memory);

}  // namespace warpmeter::model::ptx
