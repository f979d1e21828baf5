// SPDX-License-Identifier: MIT
// The name that a program gives to what it allocates, read from the source line that does it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::runtime {

/// The variables that calls of the text allocate for, in its order: "d_a" of
/// `check(cudaMalloc((void**)&d_a, n));`, "x.y" of `cudaMalloc(&x.y, n)`; "" where it is no name.
std::vector<std::string> allocated_variables(std::string_view source);

/// The variable that a line of Python assigns to: "x" of "x = torch.empty(4)"; empty: none, or
/// several statements stand there.
std::string assigned_variable(std::string_view line);

/// True if those calls are made one after the other as they stand there, all of them.
bool are_in_order(std::string_view source);

}  // namespace warpmeter::runtime
