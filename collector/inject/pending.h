// SPDX-License-Identifier: MIT
// The launch call that a thread is in, between the two ends that CUPTI tells.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/inject/launch_call.h"
#include "collector/inject/protocol.h"

namespace warpmeter::inject {

/// The launch call that this thread is in. The driver may call a launch function of its own inside
/// of one: only the outermost counts.
struct Pending {
  int depth = 0;
  std::unique_lock<std::timed_mutex> lock;
  bool is_counted = false;           ///< counters run
  std::string doubt;                 ///< about all of its counters
  std::string left_out;              ///< why it has not all of them
  std::vector<std::string> kernels;  ///< the counters are theirs
  bool is_by_line = false;
  /// A launch and its kernel: nothing behind it is counted before it has ended.
  std::optional<std::pair<LaunchCall, std::string>> waits;
  LaunchShape shape;
  std::uint32_t occurrence = 0;
  std::map<std::size_t, std::uint32_t> chosen;  ///< kernels of a graph → the occurrence of each
  bool is_in_graph = false;                     ///< the shape is that of one of them
};
extern thread_local Pending pending;

/// The message about that call, without a value.
inline Launch launch_of(const LaunchShape& shape) {
  Launch launch;
  launch.shape = shape;
  launch.occurrence = pending.occurrence;
  launch.is_in_graph = pending.is_in_graph;
  return launch;
}

}  // namespace warpmeter::inject
