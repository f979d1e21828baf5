// CUPTI hands over a function's parameters as a struct of generated_cuda_meta.h. That header does
// not compile after cuda.h (it wants types of 2009), so the three shapes that matter are declared
// here; the functions of the per-thread stream (_ptsz) have the same.
#include "collector/inject/launch_call.h"

#include <cupti_driver_cbid.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "collector/inject/kernel_name.h"

namespace warpmeter::inject {
namespace {

/// Of cuLaunchKernel; cuLaunchCooperativeKernel's begin with the same.
struct KernelParameters {
  CUfunction f;
  unsigned int grid[3], block[3];
  unsigned int shared_bytes;
  CUstream stream;
};
struct KernelExParameters {
  const CUlaunchConfig* config;
  CUfunction f;
};
struct GraphParameters {
  CUgraphExec graph;
  CUstream stream;
};

LaunchCall plain(const void* parameters) {
  const auto& p = *static_cast<const KernelParameters*>(parameters);
  LaunchCall call;
  call.function = p.f;
  call.stream = p.stream;
  call.grid = {p.grid[0], p.grid[1], p.grid[2]};
  call.block = {p.block[0], p.block[1], p.block[2]};
  call.dynamic_shared_bytes = p.shared_bytes;
  return call;
}

LaunchCall extended(const void* parameters) {
  const auto& p = *static_cast<const KernelExParameters*>(parameters);
  LaunchCall call;
  call.function = p.f;
  if (const CUlaunchConfig* config = p.config) {
    call.stream = config->hStream;
    call.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    call.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    call.dynamic_shared_bytes = config->sharedMemBytes;
  }
  return call;
}

LaunchCall graph(const void* parameters) {
  const auto& p = *static_cast<const GraphParameters*>(parameters);
  LaunchCall call;
  call.graph = p.graph;
  call.stream = p.stream;
  return call;
}

LaunchCall per_thread(LaunchCall call) {
  call.per_thread_stream = true;
  return call;
}

std::string kernel_of(const cupti::DriverApi& api, CUgraphNode node) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  if (api.cuGraphKernelNodeGetParams_v2(node, &parameters) != CUDA_SUCCESS) return "";
  const char* name = nullptr;
  if (parameters.func != nullptr && api.cuFuncGetName(&name, parameters.func) == CUDA_SUCCESS) {
    return name;
  }
  if (parameters.kern != nullptr && api.cuKernelGetName(&name, parameters.kern) == CUDA_SUCCESS) {
    return name;
  }
  return "";
}

}  // namespace

std::span<const CUpti_CallbackId> launch_functions() {
  static constexpr CUpti_CallbackId functions[] = {
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice,
      CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
      CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
  };
  return functions;
}

std::optional<LaunchCall> read_launch(CUpti_CallbackId function, const void* parameters) {
  switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      return plain(parameters);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return per_thread(plain(parameters));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      return extended(parameters);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return per_thread(extended(parameters));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      return plain(parameters);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return per_thread(plain(parameters));
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
      return graph(parameters);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return per_thread(graph(parameters));
    default:
      return std::nullopt;
  }
}

void GraphNames::add(const cupti::DriverApi& api, CUgraphExec executable, CUgraph graph) {
  std::size_t count = 0;
  std::vector<CUgraphNode> nodes;
  if (api.cuGraphGetNodes(graph, nullptr, &count) == CUDA_SUCCESS) {
    nodes.resize(count);
    if (api.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS) nodes.clear();
  }
  std::vector<std::string> kernels;
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    if (api.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS) continue;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) kernels.push_back(function_name(kernel_of(api, node)));
  }
  const std::lock_guard lock(mutex_);
  names_[executable] = graph_name(kernels);
}

void GraphNames::remove(CUgraphExec executable) {
  const std::lock_guard lock(mutex_);
  names_.erase(executable);
}

std::string GraphNames::name_of(CUgraphExec executable) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(executable);
  return found != names_.end() ? found->second : "graph";
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
