// SPDX-License-Identifier: MIT
// The request of a driver's launch function, whichever of them it was.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "collector/cupti/library.h"

namespace warpmeter::inject {

struct LaunchCall {
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  CUgraphExec graph = nullptr;  ///< a whole graph is launched, and no function
  bool per_thread_stream = false;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  void** parameters = nullptr;  ///< the values; nullptr where the program gave them another way
};

/// The stream as the driver's functions without _ptsz want it.
inline CUstream stream_of(const LaunchCall& call) {
  return call.per_thread_stream && call.stream == nullptr ? CU_STREAM_PER_THREAD : call.stream;
}

/// True if what is put into the stream does not run now, but becomes a part of a graph.
bool is_captured(const cupti::DriverApi& driver, CUstream stream);

/// The driver's functions that launch something, for cuptiEnableCallback.
std::span<const CUpti_CallbackId> launch_functions();

/// The launch in a call of one of them; nullopt for any other function, and for
/// cuLaunchCooperativeKernelMultiDevice, which no range can hold.
std::optional<LaunchCall> read_launch(CUpti_CallbackId function, const void* parameters);

/// A graph that had been made executable is no longer what it was.
struct GraphChange {
  CUgraphExec executable = nullptr;
  CUgraph graph = nullptr;     ///< its graph now; nullptr: a node of it was changed
  CUgraphNode node = nullptr;  ///< that node, in the graph that was made executable
  /// Changes another graph's node in the same way, as long as the program is in the call; empty for
  /// a change that is not followed.
  std::function<CUresult(const cupti::DriverApi& api, CUgraphNode node)> repeat;
};

/// The driver's functions that change an executable graph.
std::span<const CUpti_CallbackId> graph_changing_functions();

bool changes_graph(CUpti_CallbackId function);

/// The change in a call of one of them that has succeeded: before, the driver has not looked at the
/// parameters.
GraphChange read_graph_change(CUpti_CallbackId function, const void* parameters);

/// To be called when the program enters cuGraphLaunch: the driver launches `other` in its place.
/// It reads the parameters after CUPTI's callback (measured with driver 580, not documented).
void launch_instead(const void* parameters, CUgraphExec other);

}  // namespace warpmeter::inject
