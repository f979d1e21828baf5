// SPDX-License-Identifier: MIT
#include "tests/paths.h"

namespace warpmeter {

std::string source_dir() { return WARPMETER_SOURCE_DIR; }
std::string binary_dir() { return WARPMETER_BINARY_DIR; }

}  // namespace warpmeter
