// SPDX-License-Identifier: MIT
// How often each instruction of the machine code was executed in a launch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::sass {

struct Executions {
  std::uint64_t warps = 0;       ///< also those of which no thread's guard is true
  std::uint64_t threads = 0;     ///< active ones
  std::uint64_t threads_on = 0;  ///< active ones whose guard is true
  /// Those of them for which the second predicate of a branch or exit is true as well.
  std::uint64_t threads_acting = 0;
  /// Threads of issues that only the sum over all instructions holds; that may hold more of them
  /// than are known here.
  std::uint64_t threads_again = 0;
  bool threads_vary = false;
  std::uint64_t parted = 0;  ///< warps whose threads go different ways at a branch
  bool knows_warps = false, knows_threads = false, knows_threads_on = false,
       knows_threads_acting = false, knows_parted = false;
};

struct MachineExecutions {
  std::vector<Executions> of;  ///< one for each of Program::machine_operations
  std::string_view reason;     ///< why some are not known; empty: all are
};

MachineExecutions executions(const Program& program, const LaunchOutcome& outcome);

}  // namespace warpmeter::model::sass
