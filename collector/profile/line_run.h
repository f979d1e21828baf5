// One more run of the program, for the accesses of one kernel by source line: CUPTI collects them
// for one launch of a process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collector/profile/session.h"
#include "schema/records.h"

namespace warpmeter::profile {

/// Of the first launch of a kernel that the selection takes.
struct LaunchLines {
  /// Nothing when there was no such launch.
  std::optional<inject::LaunchShape> shape;
  std::vector<schema::Line> lines;  ///< without texts; files as the machine code names them
  std::string reason;               ///< why there are none; empty when they were counted
  bool is_cancelled = false;
};

/// Runs the program with the streams, the timeout and the processes of `options`, and counts
/// `kernel` (as the machine code has it) in it. `config` holds the selection. Throws as profile().
LaunchLines count_lines(const Options& options, inject::Config config, const std::string& kernel);

}  // namespace warpmeter::profile
