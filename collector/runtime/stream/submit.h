// SPDX-License-Identifier: MIT
// Work given to a stream: it runs at once, or becomes a node where the stream is captured.
#pragma once

#include "collector/runtime/graph/graph.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// Does it now. For kernels the number of the stream is reported. Host functions and graphs are
/// not among it: they are given to streams (outstanding.h, graphs.h).
cudaError_t run(Process& process, const Work& work, std::uint32_t stream);

/// Gives it to the stream, or makes it a node.
cudaError_t submit(Process& process, cudaStream_t stream, Work work);

/// The device on which a kernel of the program runs: its stream's, whichever is current (CUDA 13.0
/// on two H200s). The function of a module belongs to its context.
int device_of_launch(Process& process, cudaStream_t stream);

/// A launch as the API describes it.
cudaError_t launch(Process& process, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared, cudaStream_t stream, bool is_cooperative = false,
                   const Dim3& cluster = {}, bool is_programmatic = false);

/// The mistake in a copy, as the API says it. `later`: it runs as a part of a graph, which may
/// allocate its memory first.
cudaError_t copy_mistake(Process& process, const CopyWork& copy, bool later = false);
cudaError_t set_mistake(Process& process, const SetWork& set, bool later = false);

}  // namespace warpmeter::runtime
