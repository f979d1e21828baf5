// SPDX-License-Identifier: MIT
// PTX to operations. Everything that could stop a kernel for what it is, rather than for what it
// does, stops it here, before it runs: an instruction that the machine does not have, an operand of
// the wrong width, a call of what is nowhere defined.
//
// Device functions are inlined where they are called. Those that call themselves, or are called
// through a pointer, have a body of their own, which the machine calls with a frame of local
// memory.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collector/model/machine/program.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// One reason why an entry cannot be executed.
struct Refusal {
  Place place;              ///< the place of the instruction; PTX line 0: the kernel as a whole
  std::string source;       ///< "saxpy.cu:12"; empty where the PTX does not say
  std::string instruction;  ///< "tex.2d.v4.f32.f32"; empty: the kernel as a whole
  std::string what;         ///< after "the kernel" or "the instruction": "multiplies matrices; …"
};

/// Why a program cannot be launched without a host that makes objects for it; empty when it can.
std::string why_not_alone(const Program& program);

/// "'wgmma.fence.sync.aligned' on line 18 of its PTX (blur.cu:12) multiplies matrices; …", of a
/// kernel that was named before.
std::string reason_of(const Refusal& refusal);
/// A refusal as one sentence.
std::string to_string(const Refusal& refusal, std::string_view entry);

/// The entry's reasons by their PTX lines, each once; none: it can be executed.
std::vector<Refusal> refusals(const ptx::Module& module, const ptx::Function& entry);

/// The parameters of an entry, in the order of its signature.
std::vector<Parameter> parameters_of(const ptx::Function& entry);

/// Where the variables of a module begin: modules of one program lie apart. Managed ones may be
/// another's, that of another device.
struct VariableRooms {
  std::uint64_t own = first_module_variable, managed = own;
};

/// The entry of a module, or why it cannot be executed: one sentence with the instruction, its
/// source line and, where it is an instruction that the machine lacks, what it has.
std::variant<Program, ptx::Diagnostic> decode(const ptx::Module& module, std::string_view entry,
                                              const VariableRooms& rooms = {});

/// The variables of a module that has no kernel, as a program that does nothing.
std::variant<Program, ptx::Diagnostic> decode_variables(const ptx::Module& module,
                                                        const VariableRooms& rooms = {});

}  // namespace warpmeter::model
