// SPDX-License-Identifier: MIT
// The compilers' output for the kernels of a run: the PTX of each and, where the CUDA toolkit's
// nvdisasm is at hand, its machine code, both with the source lines as comments, "// FILE:LINE".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/model/ptx/module.h"
#include "collector/run/selection.h"

namespace warpmeter::cli {

/// The text of an entry in a module; empty where it has none.
std::string ptx_of_entry(const model::ptx::Module& module, std::string_view entry);

/// By their functions, of what `nvdisasm -g -c` prints of a module.
std::map<std::string, std::string> machine_code_of(const std::string& disassembly);

/// The variants are those that have lines in the run, for the architecture; the rest is left out.
void keep_code(const std::string& database, std::int64_t run_id, const run::Choice& choice,
               int arch);

/// The kernels are those of a profiled program that have lines in the run, as its own file has them
/// for the device: PTX, and machine code where there is some. Code of libraries or NVRTC is
/// left out.
void keep_code_of_program(const std::string& database, std::int64_t run_id,
                          const std::string& program);

}  // namespace warpmeter::cli
