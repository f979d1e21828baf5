// SPDX-License-Identifier: MIT
// Runs of sweeps of parameters with fixed figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/records.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// A variant of the family transpose at one size, and what came out.
struct Combination {
  std::string variant;
  std::int64_t size = 1024;
  std::optional<double> median_ns = std::nullopt;
  double relative_confidence = 0.002;
  std::vector<schema::Counter> counters = {};
  std::string failure = "";  ///< the failure of a launch that failed
};

/// The counters of so many shared loads a request.
std::vector<schema::Counter> shared_loads(double per_request);

/// Each on its own device of as many as there are lists.
std::int64_t add_combinations(schema::Store& store,
                              const std::vector<std::vector<Combination>>& devices);

/// The run has times of a GPU: over two parameters at two sizes (one combination failed, one was
/// left out), over one of numbers, one of types, and three.
std::int64_t add_sweep_run(schema::Store& store);

/// 32 by 32 values.
std::int64_t add_large_sweep_run(schema::Store& store);

}  // namespace warpmeter::reports
