// SPDX-License-Identifier: MIT
// The GPU or the model: who executes the program's kernels, and which options that excludes.
#pragma once

#include "collector/cli/profile/request.h"

namespace warpmeter::cli {

/// True if the model executes the kernels. Throws Error{usage} for options that exclude each other
/// or belong to the other backend, Error{no_hardware} for those that need a GPU.
bool is_for_model(const ProfileRequest& request);

}  // namespace warpmeter::cli
