// SPDX-License-Identifier: MIT
// The costs of a counted launch, where, and what would help: from the recording of its accesses.
// Every figure is counted; nothing is advised whose effect was not counted too.
//
//   subject        a launch with what was recorded of it, and what its parts cost in comparison
//   shared_arrays  which arrays lie in shared memory, how long their rows are
//   what_if        the same accesses with the array stored in another way
//   bank_conflicts, global_accesses, execution, launch_shape   one sort of finding each
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/geometry.h"
#include "collector/model/explain/sources.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/program.h"
#include "schema/explanation.h"

namespace warpmeter::model::explain {

/// The shape that a person gives an array of: tile=16x16:f32.
struct Shape {
  std::string array;
  std::vector<std::uint32_t> extents;  ///< the extents of each dimension, the innermost last
  std::uint32_t element_bytes = 4;
};

/// Throws Error{usage}.
Shape parse_shape(const std::string& text);

/// An allocation of global memory.
struct Buffer {
  std::string name;  ///< empty: it has none that could be shown
  std::uint64_t begin = 0, bytes = 0;
};

struct Options {
  Sources* sources = nullptr;  ///< may be null: nothing is said of them
  /// The buffer at an address of global memory; without bytes where there is none.
  std::function<Buffer(std::uint64_t address)> buffer;
  std::vector<Shape> shapes;
  /// For one kernel among others: shapes that do not fit it are for them. The names of those arrays
  /// that it has go here, with what is wrong with the shape where it does not fit; null: the kernel
  /// is the only one and has to have all.
  std::map<std::string, std::string>* shaped = nullptr;
};

/// The allocations of a memory, which has to outlive the function.
std::function<Buffer(std::uint64_t)> buffers_of(const DeviceMemory& memory);

/// Findings of a launch that ended well and was recorded, worst first. Throws Error{usage}: a shape
/// that does not fit its array, or of an array that there is not.
schema::Explanation explain(const Program& program, const Geometry& geometry,
                            const LaunchOutcome& outcome, const Options& options);

}  // namespace warpmeter::model::explain
