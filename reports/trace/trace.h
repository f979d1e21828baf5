// SPDX-License-Identifier: MIT
// The activities of a traced run, in the order of time. A run may have millions, so what they have
// in common is kept once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::reports {

/// The properties that activities have in common: columns of the view `activities`, under the same
/// names. Absent values are nullopt, absent texts empty.
struct TracedShape {
  std::string kind, name, symbol, device, source_memory, target_memory;
  std::optional<std::int64_t> process_id, thread_id, device_ordinal, context, stream, registers,
      static_shared_bytes, dynamic_shared_bytes, source_device, source_context, target_device,
      target_context;
  std::optional<std::array<std::int64_t, 3>> grid, block;
};

struct TracedActivity {
  std::size_t shape = 0;  ///< its place in Trace::shapes
  std::int64_t id = 0;
  std::optional<std::int64_t> start_ns, duration_ns, bytes, faults, correlation, address;

  /// Where it has a start. A duration that is not known counts as none.
  std::int64_t end_ns() const {
    return *start_ns + std::max<std::int64_t>(0, duration_ns.value_or(0));
  }
};

struct Trace {
  std::vector<TracedShape> shapes;
  std::vector<TracedActivity> activities;  ///< by start, then id; without one by correlation
};

/// Empty for a run that was not traced. `process_id`: the activities of one process alone.
Trace read_trace(const schema::Reader& reader, std::int64_t run_id,
                 std::optional<std::int64_t> process_id = {});

/// Bytes of a copy, set or migration over its duration, in bytes a second; nullopt for others.
std::optional<double> throughput(const TracedShape& shape, const TracedActivity& activity);

}  // namespace warpmeter::reports
