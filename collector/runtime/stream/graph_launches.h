// SPDX-License-Identifier: MIT
// Graphs that kernels of graphs launch: beside the kernel's own graph, or behind it. A launch by a
// kernel waits until the kernel has ended, which is one of the orders that hardware has; what is
// launched behind a graph waits for all of it, and for what runs beside it.
#pragma once

#include <cstdint>

#include "collector/runtime/stream/graphs.h"

namespace warpmeter::runtime {

/// True if a kernel launches graphs: then it has to be in one itself.
bool launches_graphs(Kernel& kernel);
/// True if kernels of it do, or ask which one they are in. Then both ends of what is given to a
/// stream have to be marked.
bool launches_graphs(const Executable& executable);

/// The graph begins to run in a stream; or it has run, and what was launched behind it follows.
cudaError_t run_mark(Process& process, const GraphMark& mark, std::uint32_t stream);

/// A kernel of the stream's graph has ended: what it launched beside itself runs.
cudaError_t run_launched(Process& process, std::uint32_t stream);

/// By a kernel that runs in the stream; the error that it gets. cudaErrorIllegalAddress: the kernel
/// ends with it.
cudaError_t launch_from_kernel(std::uint64_t graph, std::uint64_t how, std::uint32_t stream);
/// Which graph runs in the stream, as its kernels are told; 0: none.
std::uint64_t running_graph(std::uint32_t stream);

/// The first node that no graph may have which kernels launch; null: there is none.
Node* not_for_kernels(Process& process, const Graph& graph);

}  // namespace warpmeter::runtime
