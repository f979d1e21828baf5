// SPDX-License-Identifier: MIT
#include "collector/inject/graphs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/kernel_name.h"

namespace warpmeter::inject {

void Graphs::add(const cupti::DriverApi& api, CUgraphExec executable, CUgraph graph) {
  auto steps = std::make_shared<GraphSteps>(api, graph);
  // The destructor of the old one calls the driver, and the driver us: not with the lock held.
  const std::lock_guard lock(mutex_);
  graphs_[executable].swap(steps);
}

void Graphs::change(const cupti::DriverApi& api, const GraphChange& change) {
  if (change.graph != nullptr) return add(api, change.executable, change.graph);
  const auto steps = find(change.executable);
  if (steps != nullptr && !steps->change(change.node, change.repeat)) {
    steps->refuse(
        "CUPTI cannot count inside of a CUDA graph, and a node of this one was changed after it "
        "had been made executable, in a way that is not followed; profile without --metrics shows "
        "its kernels");
  }
}

void Graphs::remove(CUgraphExec executable) {
  std::shared_ptr<GraphSteps> steps;
  const std::lock_guard lock(mutex_);
  if (const auto found = graphs_.find(executable); found != graphs_.end()) {
    steps.swap(found->second);
    graphs_.erase(found);
  }
}

std::shared_ptr<GraphSteps> Graphs::find(CUgraphExec executable) const {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(executable);
  return found != graphs_.end() ? found->second : nullptr;
}

std::vector<std::string> Graphs::kernels_of(CUgraphExec executable) const {
  const auto steps = find(executable);
  return steps != nullptr ? steps->kernels() : std::vector<std::string>();
}

std::string Graphs::name_of(CUgraphExec executable) const {
  const auto steps = find(executable);
  if (steps == nullptr) return "graph";
  std::vector<std::string> kernels;
  for (const std::string& kernel : steps->kernels()) kernels.push_back(function_name(kernel));
  return graph_name(kernels);
}

std::string graph_name(std::span<const std::string> kernels) {
  constexpr std::size_t most = 8;
  std::vector<std::pair<std::string, std::size_t>> counted;  // in the order of first appearance
  for (const std::string& kernel : kernels) {
    const auto found = std::find_if(counted.begin(), counted.end(),
                                    [&](const auto& pair) { return pair.first == kernel; });
    if (found == counted.end()) {
      counted.emplace_back(kernel, 1);
    } else {
      ++found->second;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [kernel, times] : counted) {
    if (parts.size() == most) {
      parts.push_back("…");
      break;
    }
    parts.push_back(times == 1 ? kernel : fmt::format("{} × {}", times, kernel));
  }
  return fmt::format("graph({})", fmt::join(parts, ", "));
}

}  // namespace warpmeter::inject
