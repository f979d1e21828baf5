// SPDX-License-Identifier: MIT
#pragma once

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// Gives the module bodies of libcudadevrt's functions of cooperative groups that it declares: the
/// library has them as machine code only. Numba's kernels call them.
void add_group_functions(Module& module);

}  // namespace warpmeter::model::ptx
