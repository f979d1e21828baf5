// SPDX-License-Identifier: MIT
// How much memory this machine can give.
#pragma once

#include <cstdint>

namespace warpmeter {

/// Bytes that the machine can give without swapping; 0 when it does not say.
std::uint64_t available_memory();

}  // namespace warpmeter
