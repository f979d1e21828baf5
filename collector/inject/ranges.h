// SPDX-License-Identifier: MIT
// The program's own NVTX ranges, and the functions by which it names things (named.h). NVTX loads
// the injector by itself (NVTX_INJECTION64_PATH) at the first range, whether or not CUDA has been
// touched by then, and calls our functions from then on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpmeter::inject {

/// The ranges that are open for this thread, the innermost last: its own, after those that were
/// started for the whole process.
std::vector<std::string> open_ranges();

/// A range that has ended; its times are of CLOCK_MONOTONIC.
struct EndedRange {
  std::string text;
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;  ///< the thread that opened it
};

/// Ranges that end from now on are kept for take_ended_ranges(), or no longer.
void keep_ended_ranges(bool keeps);
/// Those that ended since the last time, in the order of their ends.
std::vector<EndedRange> take_ended_ranges();

/// CLOCK_MONOTONIC.
std::uint64_t monotonic_ns();

}  // namespace warpmeter::inject
