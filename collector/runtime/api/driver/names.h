// SPDX-License-Identifier: MIT
// The names under which libcuda.so has what programs ask it for by name.
#pragma once

#include <string>
#include <string_view>

namespace warpmeter::runtime {

/// "cuMemAlloc" of CUDA 13 is "cuMemAlloc_v2": the spelling whose shape a program of that version
/// of CUDA means. Names that have one shape only are themselves.
std::string driver_spelling(std::string_view name, int version);

/// True if that version of CUDA did not have the function yet in any shape. Names that are not
/// known were always there.
bool is_newer_than(std::string_view name, int version);

}  // namespace warpmeter::runtime
