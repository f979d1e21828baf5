// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/graph_launches.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "collector/runtime/stream/conditions.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

/// Streams that kernels name for what they do with a graph.
constexpr std::uint64_t goes_behind = 0x0100000000000000, goes_beside = 0x0200000000000000,
                        goes_as_sibling = 0x0300000000000000;

/// A graph that runs in a stream, and what its kernels have launched that has not run yet.
struct Run {
  cudaGraphExec_t graph = nullptr;
  std::vector<cudaGraphExec_t> beside, behind;
  std::unique_ptr<Run> around;  ///< the run whose kernel launched it beside itself

  static bool has(const std::vector<cudaGraphExec_t>& list, const void* other) {
    return std::find(list.begin(), list.end(), other) != list.end();
  }
  /// True if the graph is to run still.
  bool awaits(const void* other) const {
    return has(beside, other) || has(behind, other) || (around != nullptr && around->awaits(other));
  }
  /// True if it runs.
  bool is_in(const void* other) const {
    return graph == other || (around != nullptr && around->is_in(other));
  }
};

/// By the number of the stream.
struct Runs {
  std::map<std::uint32_t, std::unique_ptr<Run>> all;
};
std::map<std::uint32_t, std::unique_ptr<Run>>& runs() { return Process::get().state<Runs>().all; }

bool calls(Kernel& kernel, const auto& is_one) {
  const model::Program* program = kernel.program();
  return program != nullptr &&
         std::any_of(program->device_calls.begin(), program->device_calls.end(),
                     [&](const model::DeviceCall& call) { return is_one(call.function.function); });
}

bool is_of_graphs(model::DeviceFunction function) {
  return function == model::DeviceFunction::GraphLaunch ||
         function == model::DeviceFunction::GetCurrentGraphExec;
}

bool asks_for_graphs(const Node& node) {
  const auto* work = std::get_if<KernelWork>(&node.work);
  return work != nullptr && calls(*work->kernel, is_of_graphs);
}

cudaError_t run_nodes(Process& process, cudaGraphExec_t handle, std::uint32_t stream) {
  const Executable* executable = executable_of(handle);
  if (executable == nullptr) return cudaSuccess;  // destroyed since
  begin_conditions(executable->order);
  for (const Node* node : executable->order) {
    if (!node->is_enabled) continue;
    if (process.last_failure() != cudaSuccess) break;
    const cudaError_t result = run(process, node->work, stream);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

/// Runs the graphs behind the run's graph, each with what is behind it before the next.
cudaError_t run_behind(Process& process, Run& run, std::uint32_t stream) {
  std::vector<cudaGraphExec_t> stack;  // the last one first
  for (;;) {
    stack.insert(stack.end(), run.behind.rbegin(), run.behind.rend());
    run.behind.clear();
    if (stack.empty() || process.last_failure() != cudaSuccess) return cudaSuccess;
    run.graph = stack.back();
    stack.pop_back();
    const cudaError_t result = run_nodes(process, run.graph, stream);
    if (result != cudaSuccess) return result;
  }
}

}  // namespace

bool launches_graphs(Kernel& kernel) {
  return calls(kernel, [](model::DeviceFunction function) {
    return function == model::DeviceFunction::GraphLaunch;
  });
}

bool launches_graphs(const Executable& executable) {
  const auto asks = [](const Node* node) {
    if (asks_for_graphs(*node)) return true;
    const auto* conditional = std::get_if<ConditionalWork>(&node->work);
    if (conditional == nullptr) return false;
    return std::any_of(
        conditional->orders.begin(), conditional->orders.end(), [](const auto& body) {
          return std::any_of(body.begin(), body.end(),
                             [](const Node* inner) { return asks_for_graphs(*inner); });
        });
  };
  return std::any_of(executable.order.begin(), executable.order.end(), asks);
}

cudaError_t run_mark(Process& process, const GraphMark& mark, std::uint32_t stream) {
  if (mark.begins) {
    runs()[stream] = std::make_unique<Run>();
    runs()[stream]->graph = mark.graph;
    return cudaSuccess;
  }
  const auto found = runs().find(stream);
  if (found == runs().end()) return cudaSuccess;
  const cudaError_t result = run_behind(process, *found->second, stream);
  runs().erase(found);
  return result;
}

cudaError_t run_launched(Process& process, std::uint32_t stream) {
  const auto found = runs().find(stream);
  if (found == runs().end()) return cudaSuccess;
  std::unique_ptr<Run>& run = found->second;
  while (!run->beside.empty()) {
    auto inner = std::make_unique<Run>();
    inner->graph = run->beside.front();
    run->beside.erase(run->beside.begin());
    inner->around = std::move(run);
    run = std::move(inner);
    cudaError_t result = run_nodes(process, run->graph, stream);
    if (result == cudaSuccess) result = run_behind(process, *run, stream);
    auto around = std::move(run->around);
    run = std::move(around);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

// As an H200 answers, and ends.
cudaError_t launch_from_kernel(std::uint64_t graph, std::uint64_t how, std::uint32_t stream) {
  const auto found = runs().find(stream);
  auto* const handle = reinterpret_cast<cudaGraphExec_t>(graph);
  if (handle == nullptr || found == runs().end()) return cudaErrorInvalidValue;
  const Executable* executable = executable_of(handle);
  if (executable == nullptr || (executable->flags & cudaGraphInstantiateFlagDeviceLaunch) == 0) {
    return cudaErrorIllegalAddress;
  }
  Run& run = *found->second;
  const bool is_behind = how == goes_behind;
  if (!is_behind && how != goes_beside && how != goes_as_sibling) return cudaErrorInvalidValue;
  // One launch of a graph is under way at a time; it may follow itself.
  if (!executable->is_uploaded || run.awaits(handle)) return cudaErrorInvalidValue;
  if (!is_behind && run.is_in(handle)) return cudaErrorInvalidValue;
  (is_behind ? run.behind : run.beside).push_back(handle);
  return cudaSuccess;
}

std::uint64_t running_graph(std::uint32_t stream) {
  const auto found = runs().find(stream);
  if (found == runs().end()) return 0;
  const Executable* executable = executable_of(found->second->graph);
  const bool is_for_kernels =
      executable != nullptr && (executable->flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
  return is_for_kernels ? reinterpret_cast<std::uint64_t>(found->second->graph) : 0;
}

Node* not_for_kernels(Process& process, const Graph& graph) {
  const auto is_the_devices = [&](std::uint64_t address) {
    bool is_inside = false;
    return process.memory().find(address) != nullptr || process.memory().is_reserved(address) ||
           process.memory().translate(address, 1, is_inside) != nullptr;
  };
  for (const auto& node : graph.nodes) {
    bool is_fit = std::holds_alternative<SetWork>(node->work);
    if (const auto* kernel = std::get_if<KernelWork>(&node->work)) {
      // The kernel may call nothing else of the device's runtime.
      is_fit = !calls(*kernel->kernel,
                      [](model::DeviceFunction function) { return !is_of_graphs(function); });
    } else if (const auto* copy = std::get_if<CopyWork>(&node->work)) {
      is_fit = is_the_devices(copy->to) && is_the_devices(copy->from);
    } else if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      is_fit = not_for_kernels(process, *child->graph) == nullptr;
    }
    if (!is_fit) return node.get();
  }
  return nullptr;
}

}  // namespace warpmeter::runtime
