// SPDX-License-Identifier: MIT
// How many bytes an instruction of x86-64 accesses in memory, for the instructions that compilers
// and the C library move and compare data with. A host access that a page was kept from is told by
// its first byte only.
#pragma once

#include <cstdint>

namespace warpmeter::runtime {

/// The bytes accessed by an instruction that has faulted, so that it and its operands are there. 1
/// for those that nobody has written down here; never more than it accesses.
std::uint64_t accessed_bytes(const void* instruction);

}  // namespace warpmeter::runtime
