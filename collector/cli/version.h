// SPDX-License-Identifier: MIT
// The versions that this program was built from.
#pragma once

#include <string>

namespace warpmeter::cli {

const char* version();       ///< "0.1.0"
const char* cuda_version();  ///< for the toolkit it was built with: "13.0.88"

/// Twelve digits of the commit, with "-modified" when the checkout differed from it; "unknown" when
/// the source was no git checkout. Found at every build, without compiling anything else again.
const char* git_revision();

/// "warpmeter 0.1.0 (git 0123456789ab, CUDA 13.0.88)"
std::string version_line();

}  // namespace warpmeter::cli
