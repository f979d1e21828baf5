// SPDX-License-Identifier: MIT
// Launches on the model with all counts that the section of limits needs, and a run of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/records.h"
#include "schema/store.h"

namespace warpmeter::reports {

std::int64_t add_model_device(schema::Store& store, std::int64_t run);

/// A launch with these counts and 0 of all others but `left_out`. `bytes`: its input and output.
schema::Launch counted_launch(const std::string& variant,
                              const std::map<std::string, double>& counts, std::int64_t bytes,
                              const std::string& left_out = "");

/// The same as a GPU has it: with figures that only hardware measures. `elapsed`: cycles, summed
/// over the multiprocessors.
schema::Launch measured_launch(const std::string& variant,
                               const std::map<std::string, double>& counts, double elapsed,
                               const std::map<std::string, double>& measured);

/// Launches of a GPU that move the same bytes: through registers, by cp.async, by copies in bulk,
/// and by copies in bulk of a cluster.
std::vector<schema::Launch> copying_launches();

/// Four variants of one family, which different resources limit, and copying_launches().
std::int64_t add_limits_run(schema::Store& store);

}  // namespace warpmeter::reports
