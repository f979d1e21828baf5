// SPDX-License-Identifier: MIT
// The wavefronts that cp.async takes to write to an array of shared memory.
#pragma once

#include <vector>

#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {

/// Says why cp.async takes more than one wavefront.
inline constexpr const char* copy_in_words =
    "cp.async writes it: lanes take a wavefront more where they go to other rows of the same "
    "banks, or come from other lines of global memory.";

/// The sites of cp.async that write the array.
std::vector<std::size_t> copy_sites(const Subject& subject, const SharedArray& array);

/// Adds a finding for each line whose cp.async takes more wavefronts to write the array than its
/// bytes need, where too many lay in different ways to count them in another layout.
void find_copy_conflicts(const Subject& subject, const SharedArray& array,
                         std::vector<Weighed>& found);

}  // namespace warpmeter::model::explain
