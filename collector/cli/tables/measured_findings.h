// SPDX-License-Identifier: MIT
// Findings of a GPU beside its counts: lines that the warps wait at, and times beside that of a
// copy.
#pragma once

#include <cstdint>
#include <string>

namespace warpmeter::cli {

/// Adds them to the launches of a run on GPUs that is stored. Nothing where nothing was timed
/// beside a copy or sampled.
void add_measured_findings(const std::string& database, std::int64_t run_id);

}  // namespace warpmeter::cli
