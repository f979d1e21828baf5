// SPDX-License-Identifier: MIT
// The wavefronts that cp.async takes to write to an array of shared memory.
#pragma once

#include <vector>

#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {

/// Adds a finding for each line whose cp.async takes more wavefronts to write the array than its
/// bytes need. No layout is tried: the wavefronts go by where the bytes come from, too.
void find_copy_conflicts(const Subject& subject, const SharedArray& array,
                         std::vector<Weighed>& found);

}  // namespace warpmeter::model::explain
