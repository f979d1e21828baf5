// SPDX-License-Identifier: MIT
#include "collector/cli/nvprof/topology.h"

#include <fmt/format.h>

namespace warpmeter::cli::nvprof {

std::string topology_text(const cupti::NvLinkTopology& topology, bool csv) {
  if (!topology.failure.empty()) return fmt::format("NVLink is not known: {}\n", topology.failure);
  if (topology.links.empty()) return "No device has NVLink.\n";
  std::string text = csv ? "\"Device\",\"Links\",\"NVLink\",\"Peer\"\n"
                         : fmt::format("{:>24}  Links   NVLink  Peer\n", "Device");
  for (const cupti::NvLinks& one : topology.links) {
    text +=
        csv ? fmt::format("\"{}\",{},\"{}\",\"{}\"\n", one.device, one.links, one.version, one.peer)
            : fmt::format("{:>24}  {:>5}  {:>7}  {}\n", one.device, one.links, one.version,
                          one.peer);
  }
  return text;
}

}  // namespace warpmeter::cli::nvprof
