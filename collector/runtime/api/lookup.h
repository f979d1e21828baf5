// SPDX-License-Identifier: MIT
// Which code answers a function of CUDA's API, by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warpmeter::runtime {

/// Bytes of a jump to any address.
inline constexpr std::size_t jump_bytes = 14;

/// Code that answers the function, or says that nobody answers it; null for a name that CUDA's
/// libraries do not have. `is_before_13`: as the object that calls it was built.
void* function_named(std::string_view name, bool is_before_13 = false);
/// Code that calls `function` with that number alone; null when there is no memory.
void* function_with_number(std::uint32_t number, const void* function);

}  // namespace warpmeter::runtime
