// SPDX-License-Identifier: MIT
// NVIDIA's libraries of machine code: cuBLAS and others. cuBLAS's functions are computed on the CPU
// (blas/call.h). Frameworks of Python report that another library could not be initialised, and not
// why. Functions of ours stand in place of those that a program calls first, and of the rest of
// cuBLAS: they tell the reason and the script's line, and return the library's own error for it.
#pragma once

#include <string_view>

namespace warpmeter::runtime {

/// True if the path is one of those libraries.
bool is_machine_code_library(std::string_view path);
/// Our function in place of the one of that name of the library at that path; null: it keeps its
/// own. `original`: the library's.
const void* in_place_of(std::string_view function, std::string_view path, const void* original);

}  // namespace warpmeter::runtime
