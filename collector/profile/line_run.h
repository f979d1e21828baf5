// SPDX-License-Identifier: MIT
// One more run of the program, for one kernel by source line: its accesses, which CUPTI collects
// for one launch of a process, or what its warps wait for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/profile/session.h"
#include "schema/records.h"

namespace warpmeter::profile {

/// The lines of the first launch of a kernel that the selection takes.
struct LaunchLines {
  /// Nothing when there was no such launch.
  std::optional<inject::LaunchShape> shape;
  /// Without texts; files as the machine code names them. One of both, as it was asked for.
  std::vector<schema::Line> lines;
  std::vector<schema::Stall> stalls;
  std::vector<schema::InstructionCount> instructions;  ///< executions or samples of its code
  std::string reason;  ///< why there are none; empty when they were counted
  bool is_cancelled = false;
};

/// Runs the program with the streams, the timeout and the processes of `options`, and looks at
/// `kernel` (as the machine code has it) in it: `mode` is Mode::lines or Mode::stalls. `config`
/// holds the selection. Throws as profile().
LaunchLines look_by_line(const Options& options, inject::Config config, inject::Mode mode,
                         const std::string& kernel);

}  // namespace warpmeter::profile
