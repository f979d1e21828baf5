// SPDX-License-Identifier: MIT
// The program's own NVTX ranges. NVTX loads the injector by itself (NVTX_INJECTION64_PATH) at the
// first range, whether or not CUDA has been touched by then, and calls our functions from then on.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::inject {

/// The ranges that are open for this thread, the innermost last: its own, after those that were
/// started for the whole process.
std::vector<std::string> open_ranges();

}  // namespace warpmeter::inject
