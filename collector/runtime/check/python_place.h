// SPDX-License-Identifier: MIT
// Where in a Python program a call was made: a person who writes Python wants the line of their
// script, not that of the extension module which calls CUDA for it.
#pragma once

#include <optional>

#include "collector/runtime/check/caller.h"

namespace warpmeter::runtime {

/// The innermost line that is of no installed package; nothing where this thread executes no
/// Python, or where another Python thread may hold the interpreter's lock while it waits for us.
std::optional<HostPlace> python_place();

}  // namespace warpmeter::runtime
