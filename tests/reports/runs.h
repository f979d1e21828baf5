// SPDX-License-Identifier: MIT
// Runs with fixed contents, written through schema::Store, that the report tests render.
#pragma once

#include <cstdint>
#include <string>

#include "base/temporary.h"
#include "schema/records.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// A database in a folder of its own that goes with the object.
class TemporaryDatabase {
 public:
  const std::string& path() const { return path_; }

 private:
  const TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "test.db").string();
};

/// An H200: transposes at two sizes and a tile kernel, times and counters, one failed launch, one
/// broken and one inconclusive expectation, source lines.
std::int64_t add_hardware_run(schema::Store& store);

/// The model: no times, figures graded exact and ptx, kernels without global loads.
std::int64_t add_model_run(schema::Store& store);

/// Three launches of each of two variants, with times that differ; one launch failed.
std::int64_t add_repeated_run(schema::Store& store);

/// Times, and counters without permission.
std::int64_t add_timing_run(schema::Store& store);

/// Times of three families with ceilings of their own: two copies, of which transpose's moves more
/// bytes and reduction's has the larger size, and a library's product, which moves most.
/// `ceilings`: with them, or only the others.
std::int64_t add_ceilings_run(schema::Store& store, bool ceilings);

/// Names that try to be markup, a table's end, terminal commands.
std::int64_t add_hostile_run(schema::Store& store);

/// The model, on source lines that are longer than their column.
std::int64_t add_long_source_run(schema::Store& store);

/// The same variant on two devices of one name, and metrics beyond the standard set.
std::int64_t add_two_device_run(schema::Store& store);

/// The model: launches with a finding of each kind, hostile names, no lines, no objects; one
/// without a finding, one failed, one that was not explained, one launched three times.
std::int64_t add_explained_run(schema::Store& store);

/// A run that was interrupted before its first launch.
std::int64_t add_empty_run(schema::Store& store);

}  // namespace warpmeter::reports
