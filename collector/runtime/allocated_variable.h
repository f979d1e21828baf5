// The name that a program gives to what it allocates, read from the source line that does it.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::runtime {

/// "d_a" of `check(cudaMalloc((void**)&d_a, n));`, "x.y" of `cudaMalloc(&x.y, n)`. Empty where the
/// text has no such call, or several that allocate for different variables.
std::string allocated_variable(std::string_view source);

}  // namespace warpmeter::runtime
