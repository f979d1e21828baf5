// SPDX-License-Identifier: MIT
// Where the sources and the build are: known in one file, so that the commands that compile tests
// do not name a checkout and a compiler cache serves them all.
#pragma once

#include <string>

namespace warpmeter {

std::string source_dir();  // holds tests/golden
std::string binary_dir();

}  // namespace warpmeter
