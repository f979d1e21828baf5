// SPDX-License-Identifier: MIT
// The variables of a module (`__constant__`, `__device__`), as the host of a program would set
// them:
//
//   lut=FILE.npy   lut:f32=FILE.bin   lut:f32=1,2,3   lut:f32=0.5   lut:f32[256]=random:-1..1
//   n=5            ns::scale=1.5      config:bytes=0x0102…           data=@in
//
// PTX knows the type of a single number, but arrays and structures only as so many bytes: there the
// setting says it, or the .npy does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/input/kernel_file.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// A variable's name as its author wrote it, with namespaces and without what the compiler adds for
/// those that have none: "ns::lut", "kernel::table", "lut<float>".
std::string variable_name(std::string_view symbol);

struct VariableSetting {
  const ptx::Variable* variable = nullptr;
  std::string buffer;            ///< the variable becomes this buffer's address; else
  std::vector<std::byte> bytes;  ///< all of the variable
};

/// The variables that can be set: those in memory that every block sees.
bool is_settable(const ptx::Variable& variable);

/// True if the PTX knows the variable as numbers of one type.
bool is_typed(const ptx::Variable& variable);

/// The file that a setting names, or "".
std::string file_of_setting(std::string_view text);

/// Reads the file, if the setting names one. Throws Error{usage}: no such variable (with those
/// there are), one of another type or size; Error{file} for a file that cannot be used.
VariableSetting parse_setting(const KernelFile& file, std::string_view text);

}  // namespace warpmeter::model
