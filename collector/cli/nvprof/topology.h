// SPDX-License-Identifier: MIT
// The table of --print-nvlink-topology.
#pragma once

#include <string>

#include "collector/cupti/nvlink.h"

namespace warpmeter::cli::nvprof {

/// A row for each device and peer; a sentence where there is no link, or where it is not known.
std::string topology_text(const cupti::NvLinkTopology& topology, bool csv);

}  // namespace warpmeter::cli::nvprof
