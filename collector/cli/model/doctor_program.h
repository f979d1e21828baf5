// SPDX-License-Identifier: MIT
// The examination of `warpmeter doctor PROGRAM`: whether its kernels can be executed where there is
// no GPU.
#pragma once

#include <string>
#include <vector>

#include "collector/cli/model/doctor_check.h"

namespace warpmeter::cli {

/// Throws Error{usage} for what is no program that can be started.
std::vector<Check> check_program(const std::string& name);

}  // namespace warpmeter::cli
