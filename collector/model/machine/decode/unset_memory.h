// SPDX-License-Identifier: MIT
// Loads of global or shared memory of which nothing may have set a part: of a vector not every part
// has to be of use, nor of a structure. Their results are followed like other unset registers (see
// unset.cpp), once a launch has come to such a part. So is what shuffles read of absent lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/model/machine/warp/unset_steps.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// The registers of a load or store: what it reads or writes, in the order of the bytes, and how
/// many each has.
std::vector<const ptx::Operand*> registers_of(const ptx::Instruction& instruction);
std::uint32_t bytes_of_part(const ptx::Instruction& instruction);

/// A load or store of memory that other threads see, or may.
bool is_plain_access(const ptx::Instruction& instruction);

/// The results of the instruction that may be unset in a part: of such a load, and of a shuffle,
/// which may read a lane that is not there. `is_copied`: see ptx/copied_loads.h. For other loads,
/// all that is unset is a mistake of the load itself.
std::vector<const ptx::Operand*> given_unset(const ptx::Instruction& instruction, bool is_copied);

/// Tells the steps that wait for such a load from those that do not.
void find_dormant(UnsetTable& table);

}  // namespace warpmeter::model
