// SPDX-License-Identifier: MIT
// The inputs of a launch of a family file, so that --watch runs again only what changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/family/family.h"

namespace warpmeter::family {

/// Every file that the family is made of: itself, the kernels' source with what it includes,
/// machine code, what buffers and variables are filled with, references.
std::vector<std::string> files_of(const FamilySpec& spec);

/// Equal as long as the launch would be the same and be judged the same: the entry's code without
/// line numbers, geometry, arguments and variables with the files that they name, tolerance, and
/// all this of the variant that it is compared with.
std::string launch_state(const FileFamily& file, const kernels::Variant& variant, std::int64_t n);

}  // namespace warpmeter::family
