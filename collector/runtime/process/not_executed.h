// SPDX-License-Identifier: MIT
// Kernels that the model does not execute, in words. Frameworks of Python have many that are
// machine code alone, which nobody can compile again.
#pragma once

#include <string>
#include <string_view>

#include "collector/runtime/image/module.h"

namespace warpmeter::runtime {

/// The advice for a script that calls machine code.
inline constexpr std::string_view instead_of_machine_code =
    "Compute that on the CPU and move it (PyTorch: .cpu(), .cuda(); CuPy: asnumpy(), asarray()), "
    "or in a kernel of your own";

/// Why the kernel's program() is null; in a script with what to do, and `place` behind the reason.
std::string why_not_executed(const Kernel& kernel, std::string_view place);

/// True if the program's instruction is of an extension that makes exceptions of errors; ctypes and
/// cuda.bindings give the script the error instead.
bool raises_exceptions(const void* instruction);

}  // namespace warpmeter::runtime
