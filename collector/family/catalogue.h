// SPDX-License-Identifier: MIT
// The families that the program brings along: the YAML files of kernels/ with their code, embedded
// at build, so that they need no compiler. Otherwise they are read like anyone's file.
#pragma once

#include <span>
#include <string_view>

#include "kernels/family.h"

namespace warpmeter::family {

/// Every family, sorted by name. The first call reads them.
std::span<const kernels::Family* const> catalogue();

/// Null: there is none of that name.
const kernels::Family* find_in_catalogue(std::string_view name);

}  // namespace warpmeter::family
