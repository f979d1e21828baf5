// SPDX-License-Identifier: MIT
// The name of a piece of global memory in messages: a buffer by the name it was given, a variable
// by the name its author wrote. Things that compilers and CUDA's headers put into a module (string
// constants, tables, the workspace of cooperative groups) has no name that a person would know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/model/machine/memory/memory.h"

namespace warpmeter::model {

/// A module variable as its author wrote it, "app::counters"; nullopt: its author is no user.
std::optional<std::string> readable_variable(std::string_view symbol);

/// The name that its author gave a variable in shared memory, without the function that it stands
/// in: "tile".
std::string name_of_shared(std::string_view symbol);

/// True if messages may name it.
bool has_shown_name(const Allocation& allocation);

/// True if a name says where the memory was allocated, as those of a program's own allocations do,
/// and stands in messages as it is: "'d_a' (allocated at vec.cu:12)".
bool names_its_place(std::string_view name);

/// "'out'", "'app::counters'", "memory from malloc"; "memory of the compiler's own".
std::string shown_name(const Allocation& allocation);
/// The same and what its owner wants to know of it: "'out' (4096 bytes at 0x700000000000)".
std::string described(std::string_view shown, std::uint64_t bytes, std::uint64_t address);

}  // namespace warpmeter::model
