// SPDX-License-Identifier: MIT
// A run on a GPU with warp states, energy, and a kernel that was looked at by line.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "schema/store.h"

namespace warpmeter::reports {

/// Two variants. "naive" waits for global memory most, "tiled" for shared memory; of "naive" lines,
/// samples, machine code and counts of its instructions.
std::int64_t add_stalled_run(schema::Store& store);

/// A launch on a GPU with these counters of `stalled_*`, in %, and 0 of all others but `left_out`.
schema::Launch stalled_launch(const std::string& variant,
                              const std::map<std::string, double>& stalls,
                              const std::string& left_out = "");

}  // namespace warpmeter::reports
