// SPDX-License-Identifier: MIT
// How many of this machine's cores the calling thread may use.
#pragma once

namespace warpmeter {

/// At least 1. Threads that it starts share these cores: fewer than the machine has under taskset,
/// in a container, or as a task of Slurm.
unsigned usable_cores();

}  // namespace warpmeter
