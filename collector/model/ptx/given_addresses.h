// Accesses whose place an atomic gave: a slot of a queue, a rank among equals. Who gets which slot
// depends on the order in which warps come to the atomic, and so does what of it the lanes of one
// warp can share.
#pragma once

#include <vector>

#include "collector/model/ptx/module.h"
#include "collector/model/ptx/registers.h"

namespace warpmeter::model::ptx {

/// For each instruction, whether it accesses memory at an address computed from what an atomic
/// returned, as far as registers carry it; not through memory or calls.
std::vector<bool> given_addresses(const Function& function, const DataFlow& data);

}  // namespace warpmeter::model::ptx
