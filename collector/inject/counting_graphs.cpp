// SPDX-License-Identifier: MIT
// The launch of a CUDA graph in counter mode: each of its kernels that the filter takes is a
// launch.
#include <fmt/format.h>

#include "base/error.h"
#include "base/kernel_name.h"
#include "collector/inject/counting.h"
#include "collector/inject/pending.h"

namespace warpmeter::inject {

/// Why the launch is neither repeated nor waited for.
std::string Counting::waiting_obstacle(const LaunchCall& call, const std::string& kernel,
                                       std::uint32_t device) const {
  if (call.graph == nullptr) {
    return waits_.obstacle(driver(), call, kernel, static_cast<CUdevice>(device));
  }
  const std::shared_ptr<GraphSteps> graph = graphs_.find(call.graph);
  for (std::size_t i = 0; graph != nullptr && i < graph->kernels().size(); ++i) {
    const std::string& name = graph->kernels()[i];
    if (!waits_.may_wait(name)) continue;
    const std::string reason =
        waits_.obstacle(driver(), graph->call_of(i), name, static_cast<CUdevice>(device));
    if (!reason.empty()) return fmt::format("its kernel '{}': {}", function_name(name), reason);
  }
  return "";
}

/// The kernels that a launch executes.
std::vector<std::string> Counting::kernels_of(const LaunchCall& call,
                                              const std::string& kernel) const {
  return call.graph != nullptr ? graphs_.kernels_of(call.graph) : std::vector{kernel};
}

/// Asks the filter, for a graph about each of its kernels: their numbers are in pending.chosen.
/// True if it takes one.
bool Counting::chooses(const LaunchCall& call, CUcontext context, const std::string& kernel,
                       std::span<const std::string> ranges) {
  const auto takes = [&](const std::string& name) {
    if (filter_.takes(name, context_of(context).device, ranges)) return true;
    if (left_out_.insert(name).second) channel_.send(Seen{channel_.name(name)});
    return false;
  };
  pending.chosen.clear();
  const bool is_graph = mode_ == Mode::counters && call.graph != nullptr;
  const std::shared_ptr<GraphSteps> graph = is_graph ? graphs_.find(call.graph) : nullptr;
  if (graph == nullptr) return takes(kernel);
  for (std::size_t i = 0; i < graph->kernels().size(); ++i) {
    const std::string& name = graph->kernels()[i];
    const std::uint32_t occurrence = count(kernel_of(*graph, i, call), context, name, true);
    if (takes(name)) pending.chosen.emplace(i, occurrence);
  }
  return !pending.chosen.empty();
}

/// The launch of one kernel in the launch of a graph.
LaunchCall Counting::kernel_of(const GraphSteps& graph, std::size_t kernel,
                               const LaunchCall& call) {
  LaunchCall one = graph.call_of(kernel);
  one.stream = call.stream;
  one.per_thread_stream = call.per_thread_stream;
  return one;
}

/// Counts one kernel of a graph. False where the driver did not launch it; `failure`: why there are
/// no counters.
bool Counting::count_kernel(Context& context, const std::string& kernel,
                            const std::function<bool()>& launch,
                            std::vector<schema::Counter>& counters, std::string& failure) {
  counted_ = pending.shape.kernel;
  try {
    start(context);
  } catch (const Error& error) {
    failure = error.what();
  }
  const bool is_launched = launch();
  if (failure.empty()) failure = finish(context, {kernel}, counters);
  counted_ = 0;
  return is_launched;
}

/// Does the graph's nodes here, so that the driver has nothing left to launch. Each chosen kernel
/// is a launch.
void Counting::count_graph(const LaunchCall& call, const CUpti_CallbackData& data,
                           Context& context) {
  const std::shared_ptr<GraphSteps> graph = graphs_.find(call.graph);
  if (context.empty_graph == nullptr) context.empty_graph = empty_graph(driver());
  if (graph == nullptr || context.empty_graph == nullptr) {
    return send_refusal(pending.shape, "how this CUDA graph was made has not been seen");
  }
  const LaunchShape whole = pending.shape;
  const std::uint32_t occurrence = pending.occurrence;
  std::map<std::size_t, std::uint32_t> left = pending.chosen;
  const auto describe = [&](std::size_t kernel) {
    const std::string& name = graph->kernels()[kernel];
    pending.shape = shape_of(kernel_of(*graph, kernel, call), data, context, name);
    pending.shape.range = whole.range;
    pending.is_in_graph = true;
    pending.occurrence = pending.chosen.at(kernel);
    pending.doubt = doubt(name, context);
  };
  const auto count_one = [&](std::size_t kernel, const std::function<bool()>& launch) {
    if (!pending.chosen.contains(kernel)) return launch();
    describe(kernel);
    std::vector<schema::Counter> counters;
    std::string failure;
    if (!count_kernel(context, graph->kernels()[kernel], launch, counters, failure)) {
      return false;
    }
    left.erase(kernel);
    send(failure, counters);
    return true;
  };
  if (graph->run(data.context, stream_of(call), count_one)) {
    launch_instead(data.functionParams, context.empty_graph);
    for (const auto& [kernel, _] : left) {
      describe(kernel);
      send_refusal(pending.shape, graph->obstacle());
    }
    return;
  }
  pending.waits = {call, "graph"};  // it may hold a node that waits
  pending.occurrence = occurrence;
  pending.is_in_graph = false;
  send_refusal(whole, graph->obstacle());
}

void Counting::graph_made(const CUpti_GraphData& graph) {
  if (pending.depth > 0) return;
  // The graph that was instantiated; CUPTI's `graph` may be the executable copy of it.
  graphs_.add(driver(), graph.graphExec,
              graph.originalGraph != nullptr ? graph.originalGraph : graph.graph);
}

void Counting::graph_changes(const GraphChange& change) {
  if (pending.depth == 0) graphs_.change(driver(), change);
}

void Counting::graph_ends(const CUpti_GraphData& graph) {
  if (pending.depth == 0) graphs_.remove(graph.graphExec);
}

}  // namespace warpmeter::inject
