// SPDX-License-Identifier: MIT
// The source lines that a gate is about: the one that costs most, and the one where the kernel
// begins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/gates/check.h"

namespace warpmeter::reports {

/// The line, from 1, in which a source declares the kernel of that bare name: a __global__ function
/// of CUDA, or a function of Python. 0: it declares none.
std::int64_t kernel_line(std::string_view source, std::string_view name);

/// Adds the lines to the findings that do not hold, as far as the run has kept its sources. Only a
/// broken gate has a costliest line.
void add_places(const schema::Reader& reader, std::int64_t run, std::vector<Finding>& findings);

}  // namespace warpmeter::reports
