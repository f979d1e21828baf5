// SPDX-License-Identifier: MIT
// Kernels that number the threads of the whole grid, as blockIdx.x * blockDim.x + threadIdx.x does:
// more blocks of fewer threads do the same work. Where a block has its own row or tile, whatever
// its size is, they do not.
#pragma once

#include "collector/model/ptx/flow/registers.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// True if the function multiplies a block's number by the number of its threads.
bool numbers_threads_of_grid(const Function& function, const DataFlow& data);

}  // namespace warpmeter::model::ptx
