// SPDX-License-Identifier: MIT
// Instructions executed: of the machine code where its warps could be followed, else of the PTX.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/sass/executions.h"
#include "collector/model/machine/launch/launch.h"
#include "schema/records.h"

namespace warpmeter::model {

inline constexpr std::string_view crowd_reason =
    "lanes of a warp part in three groups or more: where these meet, hardware counts some threads "
    "again, depending on time";

/// True for the counters warp_instructions and thread_instructions.
bool is_of_instructions(std::string_view counter);

/// The value alone of one of these two.
double number_of_instructions(std::string_view counter, const LaunchOutcome& outcome);

/// One of these two.
schema::Counter count_instructions(std::string_view counter, const Program& program,
                                   const LaunchOutcome& outcome);

/// How often each instruction of the machine code was executed, where warps were followed through
/// it and hardware's counts do not depend on time.
std::optional<sass::MachineExecutions> followed_executions(const Program& program,
                                                           const LaunchOutcome& outcome);

/// How often warps executed each instruction of the machine code; empty where that is not known.
std::vector<schema::InstructionCount> instruction_counts(const Program& program,
                                                         const LaunchOutcome& outcome);

/// True if one of these counters is of the machine code's instructions, whose number a launch finds
/// only where it is asked to (LaunchOptions::follows_machine_code).
bool counts_machine_code(const std::vector<std::string>& counters);

}  // namespace warpmeter::model
