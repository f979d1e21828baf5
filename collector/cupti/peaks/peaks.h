// SPDX-License-Identifier: MIT
// The most that a card is measured to do: bandwidths of its memories and rates of its arithmetic
// units, by kernels of ours that keep one unit busy each.
//
// A peak is the best of several launches of a millisecond, and where there are several ways (sizes
// of copies, products by warps or by warpgroups) of the best way. Power holds a card back only
// later, so a program that runs for seconds may have less.
#pragma once

#include <vector>

#include "schema/upkeep/peaks.h"

namespace warpmeter::cupti {

/// Measures all peaks of a device, which takes some seconds. A peak that the device has not keeps
/// its reason. Throws Error{no_hardware} without driver, device or CUPTI.
std::vector<schema::Peak> measure_peaks(int ordinal);

}  // namespace warpmeter::cupti
