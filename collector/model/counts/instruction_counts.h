// SPDX-License-Identifier: MIT
// Counters of executed instructions: classes of PerfWorks, units, kinds of access. They add up how
// often each instruction of the machine code was executed (sass/executions.h) over the operations
// that hardware counts so (sass/operations.h). Code without any such operation has a count of 0.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "collector/model/counts/sass/executions.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/program.h"
#include "schema/records.h"

namespace warpmeter::model {

/// The names of these counters, as in the catalogue.
std::span<const std::string_view> instruction_counter_names();
bool is_instruction_counter(std::string_view name);
/// True for those that follow from the number of blocks: nothing of them needs counting.
bool is_of_all_blocks(std::string_view name);

/// Unavailable, with the reason, where the executions are not known. `executions`: of the launch.
schema::Counter instruction_counter(std::string_view name, const Program& program,
                                    const LaunchOutcome& outcome,
                                    const sass::MachineExecutions& executions);
schema::Counter instruction_counter(std::string_view name, const Program& program,
                                    const LaunchOutcome& outcome);

}  // namespace warpmeter::model
