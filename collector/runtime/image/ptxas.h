// SPDX-License-Identifier: MIT
// The machine code that ptxas makes of a module's PTX, kept by its content, so that a program that
// runs again does not wait for it again.
#pragma once

#include "collector/model/input/kernel_file.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::runtime {

model::Assembled assemble_cached(const model::ptx::Module& module);

}  // namespace warpmeter::runtime
