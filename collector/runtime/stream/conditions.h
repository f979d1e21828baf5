// SPDX-License-Identifier: MIT
// Nodes of graphs that run their bodies as a kernel says: if, while, switch. They depend on the
// value of a handle, which cudaGraphSetConditional sets in a kernel of the graph.
#pragma once

#include <cstdint>

#include "collector/runtime/graph/graph.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// A new handle, of no node yet.
std::uint64_t make_condition(std::uint32_t value, bool is_set_at_launch);
/// By a kernel; false: there is no such handle.
bool set_condition(std::uint64_t handle, std::uint32_t value);
/// A graph with such nodes is launched: values with a default get it.
void begin_conditions(const std::vector<Node*>& order);

/// A node of a handle that no other node has; its bodies are empty graphs, which the parameters
/// name from then on.
cudaError_t make_work(cudaConditionalNodeParams& parameters, Work& work);

/// Runs the bodies, now that all before the node has run.
cudaError_t run_conditional(Process& process, const ConditionalWork& work, std::uint32_t stream);

}  // namespace warpmeter::runtime
