// SPDX-License-Identifier: MIT
#include "collector/cli/version.h"

#include <fmt/format.h>

namespace warpmeter::cli {

const char* version() { return WARPMETER_VERSION; }
const char* cuda_version() { return WARPMETER_CUDA_VERSION; }

std::string version_line() {
  return fmt::format("warpmeter {} (git {}, CUDA {})", version(), git_revision(), cuda_version());
}

}  // namespace warpmeter::cli
