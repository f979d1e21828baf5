// PTX to operations. Everything that could stop a kernel for what it is, rather than for what it
// does, stops it here, before it runs: an instruction that the machine does not have, an operand of
// the wrong width, a call that cannot be inlined.
//
// Device functions are inlined at every call, so the machine needs no calls; a function that calls
// itself is refused.
#pragma once

#include <string_view>
#include <variant>

#include "collector/model/program.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// The entry of a module, or why it cannot be executed: one sentence with the instruction, its
/// source line and, where it is an instruction that the machine lacks, what it has.
std::variant<Program, ptx::Diagnostic> decode(const ptx::Module& module, std::string_view entry);

}  // namespace warpmeter::model
