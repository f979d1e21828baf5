// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/executions.h"

namespace warpmeter::model::sass {
namespace {

constexpr std::string_view jumps_reason =
    "the machine code has branches, and how often they are taken is not known";
constexpr std::string_view guards_reason =
    "the machine code has guards, and for how many threads they are true is not known";

}  // namespace

MachineExecutions executions(const Program& program, const LaunchOutcome& outcome) {
  MachineExecutions result;
  result.of.resize(program.machine_operations.size());
  for (std::size_t i = 0; i < result.of.size(); ++i) {
    const MachineOperation& operation = program.machine_operations[i];
    if (!operation.may_run) {
      Executions& none = result.of[i];
      none.knows_warps = none.knows_threads = none.knows_threads_on = true;
      none.knows_threads_acting = none.knows_parted = true;
      continue;
    }
    if (!program.is_straight) {
      result.reason = jumps_reason;
      continue;
    }
    Executions& all = result.of[i];
    all.warps = outcome.warps;
    all.threads = all.threads_on = all.threads_acting = outcome.threads_of_blocks;
    all.knows_warps = all.knows_threads = true;
    all.knows_threads_on = all.knows_threads_acting = !operation.is_guarded;
    all.knows_parted = !operation.is_guarded;
    if (operation.is_guarded) result.reason = guards_reason;
  }
  return result;
}

}  // namespace warpmeter::model::sass
