// SPDX-License-Identifier: MIT
// Follows the warps of a launch through its machine code, without executing what no branch depends
// on. The model executes PTX, of which ptxas makes another number of instructions: it unrolls
// loops, predicates short branches and moves code. The machine code's own branches say how often
// each of its instructions is executed, if their conditions can be worked out: from ids,
// parameters, and memory that the launch leaves as it was. Memory that a launch changes and changes
// back is taken for unchanged, unless the requests of an access tell otherwise.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "collector/model/machine/launch/followed.h"
#include "collector/model/machine/program.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::steps {

/// Follows the kernel `entry` of a cubin; a launch of code that cannot be read has a doubt.
std::shared_ptr<const MachineSteps> steps_of(Bytes cubin, std::string_view entry);

/// sass::audit(), which also gives the program the steps of its machine code.
std::string audit(Program& program, const ptx::Module& module, Bytes cubin);

}  // namespace warpmeter::model::steps
