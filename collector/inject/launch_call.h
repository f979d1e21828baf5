// What a launch function of the driver was asked to do, whichever of them it was.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "collector/cupti/library.h"

namespace warpmeter::inject {

struct LaunchCall {
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  CUgraphExec graph = nullptr;  ///< a whole graph is launched, and no function
  bool per_thread_stream = false;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
};

/// The driver's functions that launch something, for cuptiEnableCallback.
std::span<const CUpti_CallbackId> launch_functions();

/// What a call of one of them launches; nullopt for any other function, and for
/// cuLaunchCooperativeKernelMultiDevice, which no range can hold.
std::optional<LaunchCall> read_launch(CUpti_CallbackId function, const void* parameters);

/// Names of graphs, made of the kernels in them: "graph(scale, 2 × reduce)".
class GraphNames {
 public:
  /// When a graph has been made executable.
  void add(const cupti::DriverApi& api, CUgraphExec executable, CUgraph graph);
  void remove(CUgraphExec executable);
  std::string name_of(CUgraphExec executable) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<CUgraphExec, std::string> names_;
};

/// "graph(scale, 2 × reduce)" of its kernels' names in order; of more than eight, the first ones.
std::string graph_name(std::span<const std::string> kernels);

}  // namespace warpmeter::inject
