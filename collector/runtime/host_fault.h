// Host code that touches device memory ends with a signal, as on hardware; here it says first what
// it touched.
#pragma once

#include "collector/runtime/memory.h"

namespace warpmeter::runtime {

/// Once; `memory` stays.
void catch_host_faults(const Memory& memory);

}  // namespace warpmeter::runtime
