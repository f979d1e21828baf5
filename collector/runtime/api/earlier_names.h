// SPDX-License-Identifier: MIT
// Functions as earlier toolkits had them. A program that was built with CUDA 12 calls some by the
// names of today's, but with other parameters; and some by names that are gone.
#pragma once

#include <string_view>

namespace warpmeter::runtime {

/// True if a runtime that has this function is one of before CUDA 13: its structure of a device's
/// properties was another, under a name that CUDA 13 does not have.
bool is_of_before_13(std::string_view name);

/// Under which name the answers have a function that an object calls `name`: itself, what it is
/// called today, or for parameters of before CUDA 13 a name of its own, which may have no answer.
std::string_view name_of_answer(std::string_view name, bool is_before_13);

}  // namespace warpmeter::runtime
