// SPDX-License-Identifier: MIT
// Variables of a module that a kernel reads although nobody has given them a value. A program's
// host code would (cudaMemcpyToSymbol); here they are zero, and a person has to be told.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "collector/model/input/kernel_file.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// The sentence to warn with before a launch of `entry`: it reads variables that have no initial
/// value, neither in the PTX nor in the source, and are not among `set`. Empty: there are none.
/// Adds to `set` those that it names, and those that the kernel may write itself.
std::string unset_variables(const KernelFile& file, std::string_view entry,
                            std::set<const ptx::Variable*>& set);

}  // namespace warpmeter::model
