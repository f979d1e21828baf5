// SPDX-License-Identifier: MIT
// Values in memory that streams wait for and write: cuStreamWaitValue32 and its kin.
#pragma once

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// In one call.
inline constexpr unsigned most_values_of_call = 255;

/// The mistake in such operations.
CUresult values_mistake(Process& process, const std::vector<CUstreamBatchMemOpParams>& operations);

/// Makes the work of a graph's node from such operations.
cudaError_t make_work(Process& process, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& parameters,
                      Work& work);

/// Does what can be done now, in the order of the operations: false where one of them waits. It
/// goes on from there the next time.
bool go_on(Process& process, ValuesWork& work);

}  // namespace warpmeter::runtime
