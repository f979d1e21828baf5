// SPDX-License-Identifier: MIT
// NVIDIA's libraries of machine code: cuBLAS and others. Frameworks of Python report that one could
// not be initialised, and not why. Functions of ours stand in place of those that a program calls
// first: they tell the reason and the script's line, and return the library's own error for it.
#pragma once

#include <string_view>

namespace warpmeter::runtime {

/// True if the path is one of those libraries.
bool is_machine_code_library(std::string_view path);
/// Our function in place of the one of that name of the library at that path; null: it keeps its
/// own.
const void* refusal_of(std::string_view function, std::string_view path);

}  // namespace warpmeter::runtime
