// Values in memory that streams wait for and write: cuStreamWaitValue32 and its kin.
#pragma once

#include "collector/runtime/process.h"

namespace warpmeter::runtime {

/// What is wrong with such operations.
CUresult values_mistake(Process& process, const std::vector<CUstreamBatchMemOpParams>& operations);

/// Does what can be done now, in the order of the operations: false where one of them waits. It
/// goes on from there the next time.
bool go_on(Process& process, ValuesWork& work);

}  // namespace warpmeter::runtime
