// SPDX-License-Identifier: MIT
// The things that the program names by NVTX, under the numbers that a report has for them.
#pragma once

#include "collector/inject/names/named.h"

namespace warpmeter::runtime {

class Process;

/// Reports the name; nothing of a handle that is none, or where nobody listens.
void tell_name(Process& process, const inject::Named& named);

}  // namespace warpmeter::runtime
