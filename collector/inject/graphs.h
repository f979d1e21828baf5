// SPDX-License-Identifier: MIT
// The executable graphs of the program: their names and how to run them.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/inject/graph_steps.h"
#include "collector/inject/launch_call.h"

namespace warpmeter::inject {

class Graphs {
 public:
  /// `graph` has been made executable.
  void add(const cupti::DriverApi& api, CUgraphExec executable, CUgraph graph);
  void change(const cupti::DriverApi& api, const GraphChange& change);
  void remove(CUgraphExec executable);
  /// nullptr for one that was made before we were there.
  std::shared_ptr<GraphSteps> find(CUgraphExec executable) const;
  /// As the machine code has them; none for a graph that was made before we were there.
  std::vector<std::string> kernels_of(CUgraphExec executable) const;
  /// The name is made of the kernels in it.
  std::string name_of(CUgraphExec executable) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<CUgraphExec, std::shared_ptr<GraphSteps>> graphs_;
};

/// "graph(scale, 2 × reduce)" of its kernels' names in order; of more than eight, the first ones.
std::string graph_name(std::span<const std::string> kernels);

}  // namespace warpmeter::inject
