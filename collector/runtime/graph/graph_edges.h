// SPDX-License-Identifier: MIT
// The data of a graph's edges: that a kernel may begin before the one in front of it has ended.
// Here it begins when that has ended, which is allowed; programs ask for what they said.
#pragma once

#include <vector>

#include "collector/runtime/graph/graph.h"

namespace warpmeter::runtime {

/// From a kernel to one that may begin before it has ended: once it says so, or has begun.
constexpr cudaGraphEdgeData programmatic_edge(bool is_at_start) {
  cudaGraphEdgeData edge{};
  edge.from_port =
      is_at_start ? cudaGraphKernelNodePortLaunchCompletion : cudaGraphKernelNodePortProgrammatic;
  edge.type = cudaGraphDependencyTypeProgrammatic;
  return edge;
}

/// As the API describes the edges from those nodes.
std::vector<cudaGraphEdgeData> edges_of(const std::vector<Node*>& nodes, const Ports& ports);

/// The ports of edges from those nodes to the work, null for what is not known yet, as the API
/// describes them; `edges` is null where they are orders and no more. cudaErrorInvalidValue where
/// an edge cannot be.
cudaError_t ports_of(const std::vector<Node*>& nodes, const cudaGraphEdgeData* edges,
                     const Work* to, Ports& ports);

}  // namespace warpmeter::runtime
