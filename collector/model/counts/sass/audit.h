// SPDX-License-Identifier: MIT
// The audit: what machine code makes of a program's accesses. The model executes PTX, but the
// hardware runs what ptxas made of it: neighbouring accesses merged into wider ones, dead parts
// left out, atomics turned into loops. The audit takes widths and grouping from the machine code,
// so that the counts are the hardware's; where it cannot tell, it puts the reason into the site's
// `doubt`, and the site is graded `ptx`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/model/counts/sass/machine_code.h"
#include "collector/model/machine/program.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::sass {

/// Changes the requests, kinds and doubts of the program's sites, and sets its resources. `module`
/// is what the program was decoded from. Says why the code cannot be that of the program: the rest
/// of a sentence that starts with the cubin; then the program is as it was, unaudited. Empty when
/// all is well.
std::string audit(Program& program, const ptx::Module& module, const MachineCode& code);

/// The program's barriers, by their instructions, that the machine code predicates instead of
/// branching around them: the whole warp comes to those.
std::vector<std::uint32_t> predicated_barriers(const Program& program, const MachineCode& code);

/// Reads the program's kernel out of a cubin and audits it; the same answer.
std::string audit(Program& program, const ptx::Module& module, Bytes cubin);

}  // namespace warpmeter::model::sass
