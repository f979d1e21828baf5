// SPDX-License-Identifier: MIT
// A kernel's name as nvprof spelled it. Its demangler is not that of GCC's library: it writes
// "float const *" where that one writes "float const*", and a template argument with its type,
// "tile<int=32, bool=1>" for "tile<32, true>".
#pragma once

#include <string>

namespace warpmeter::reports::nvprof {

/// Takes a name as warpmeter::demangled() gives it.
std::string kernel_name(const std::string& demangled);

}  // namespace warpmeter::reports::nvprof
