// SPDX-License-Identifier: MIT
// The output of nvcc for a .cu, host code and all. It has no way to ask for an instance of a
// template by name, as NVRTC has: a source that includes the file takes the address of each in a
// variable of the device, and the PTX says which entry the variable points to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "collector/model/input/nvrtc.h"

namespace warpmeter::model {

/// The words for the place, where an expression is what is wrong.
inline constexpr const char* of_kernel_name = "the kernel's name";

/// The PTX alone, and the entry of each expression; with a failure where nvcc refuses the source or
/// an expression.
Compiled compile_with_nvcc(const std::filesystem::path& nvcc, const std::string& path,
                           const CompileOptions& options,
                           const std::vector<std::string>& expressions);

}  // namespace warpmeter::model
