// SPDX-License-Identifier: MIT
// Where what can be made again is kept from one call of the program to the next.
#pragma once

#include <filesystem>

namespace warpmeter {

/// $XDG_CACHE_HOME/warpmeter or ~/.cache/warpmeter; empty where there is no home.
std::filesystem::path cache_folder();

}  // namespace warpmeter
