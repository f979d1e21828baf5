// SPDX-License-Identifier: MIT
// The names that a source of C++ declares itself: its variables, parameters, functions, fields and
// enumerators. No macro may stand in their place.
#pragma once

#include <set>
#include <string>

namespace warpmeter::family {

/// {"B", "multiply", "i"} of "void multiply(const float* B) { int i; }". A name that a preprocessor
/// command mentions may be a macro all the same, and is none of them.
std::set<std::string> declared_names(const std::string& source);

}  // namespace warpmeter::family
