// SPDX-License-Identifier: MIT
// Stores of what is one value in all threads, whatever the input: constants, parameters, sizes of
// the launch, what was loaded from an address that is the same everywhere, and what is computed
// from these. Several threads may write such a value without it mattering which of them comes last.
#pragma once

#include <cstddef>
#include <vector>

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether it is a `st` of nothing else. Branches that threads part at are
/// not looked at: which of two such values a thread stores, only a run tells.
std::vector<bool> stores_of_one_value(const Function& function, const DataFlow& data);

/// Branches, by their instructions, whose guard may differ between the threads of a block.
std::vector<std::size_t> parting_branches(const Function& function, const DataFlow& data);

/// For each instruction itself; for a branch whose predicate joins several conditions, of which one
/// alone may differ between threads, that one's comparison: compilers join a `break` with the
/// condition of its loop.
std::vector<std::size_t> deciding_comparisons(const Function& function, const DataFlow& data);

}  // namespace warpmeter::model::ptx
