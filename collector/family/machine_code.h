// SPDX-License-Identifier: MIT
// A file that is machine code alone, a .cubin: what `nvcc -cubin` or ptxas wrote for one
// architecture. A GPU of it runs the file as it is; the model, which executes PTX, cannot.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/sass/declarations.h"
#include "collector/model/input/kernel_file.h"

namespace warpmeter::family {

struct MachineCode {
  /// Its module declares the kernels and variables that the cubin holds, and has no text and no
  /// code. Types of parameters are those of the mangled name, where it has any and they fit the
  /// sizes that the machine code says.
  model::KernelFile file;
  model::sass::Declarations declared;  ///< views into file.cubin
};

bool is_machine_code(std::string_view path);

/// Throws Error{file} for a file that is no cubin or cannot be read.
MachineCode read_machine_code(const std::string& path);

/// Throws Error{file} for what was read of a file that is no cubin.
void check_is_machine_code(const std::string& path, const std::vector<std::byte>& bytes);

/// The architecture of the file: "sm_90a". Throws as read_machine_code.
std::string target_of(const std::string& path);

/// Why a device (90 is compute capability 9.0) does not run the file, with what to do; empty: it
/// does. `target`: what the file is for.
std::string why_not_on(int compute_capability, const std::string& path, const std::string& target);

/// The message for requests that need PTX, with what to do: "k.cubin is machine code alone, …".
std::string without_ptx(std::string_view path);

}  // namespace warpmeter::family
