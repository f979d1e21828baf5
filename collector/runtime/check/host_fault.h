// SPDX-License-Identifier: MIT
// Host code that touches device memory ends with a signal, as on hardware; here it says first what
// it touched.
#pragma once

#include "collector/runtime/check/checks.h"
#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {

/// Once; both stay. With `checks` it is a finding as well; null: nobody asked.
void catch_host_faults(const Memory& memory, Checks* checks);
/// True if the program has put no handler of its own in its place.
bool is_catching_host_faults();

}  // namespace warpmeter::runtime
