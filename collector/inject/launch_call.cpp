// SPDX-License-Identifier: MIT
// CUPTI hands over a function's parameters as a struct of generated_cuda_meta.h. That header does
// not compile after cuda.h (it wants types of 2009), so the three shapes that matter are declared
// here; the functions of the per-thread stream (_ptsz) have the same.
#include "collector/inject/launch_call.h"

#include <cupti_driver_cbid.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

namespace warpmeter::inject {
namespace {

/// The parameters of cuLaunchKernel; cuLaunchCooperativeKernel's begin with the same.
struct KernelParameters {
  CUfunction f;
  unsigned int grid[3], block[3];
  unsigned int shared_bytes;
  CUstream stream;
  void** values;
};
struct KernelExParameters {
  const CUlaunchConfig* config;
  CUfunction f;
  void** values;
};
struct GraphParameters {
  CUgraphExec graph;
  CUstream stream;
};

/// How all of graph_changing_functions() begin. The graph is cuGraphExecUpdate's; the others have a
/// node there, and those that set its parameters these.
struct GraphChangeParameters {
  CUgraphExec executable;
  union {
    CUgraph graph;
    CUgraphNode node;
  };
  const void* parameters;
};

LaunchCall plain(const void* parameters) {
  const auto& p = *static_cast<const KernelParameters*>(parameters);
  LaunchCall call;
  call.function = p.f;
  call.stream = p.stream;
  call.grid = {p.grid[0], p.grid[1], p.grid[2]};
  call.block = {p.block[0], p.block[1], p.block[2]};
  call.dynamic_shared_bytes = p.shared_bytes;
  call.parameters = p.values;
  return call;
}

LaunchCall extended(const void* parameters) {
  const auto& p = *static_cast<const KernelExParameters*>(parameters);
  LaunchCall call;
  call.function = p.f;
  call.parameters = p.values;
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

/// A function that launches; nullptr: its parameters are not read.
struct LaunchFunction {
  CUpti_CallbackId id;
  LaunchCall (*read)(const void* parameters);
  bool per_thread_stream = false;
};
constexpr LaunchFunction launches[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, plain},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, plain, true},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, extended},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, extended, true},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, plain},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, plain, true},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice, nullptr},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, graph},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, graph, true},
};

}  // namespace

bool is_captured(const cupti::DriverApi& driver, CUstream stream) {
  if (stream == nullptr) return false;  // the default stream cannot be captured, nor asked
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

std::span<const CUpti_CallbackId> launch_functions() {
  static constexpr auto functions = [] {
    std::array<CUpti_CallbackId, std::size(launches)> ids{};
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = launches[i].id;
    return ids;
  }();
  return functions;
}

std::optional<LaunchCall> read_launch(CUpti_CallbackId function, const void* parameters) {
  for (const LaunchFunction& launch : launches) {
    if (launch.id != function || launch.read == nullptr) continue;
    LaunchCall call = launch.read(parameters);
    call.per_thread_stream = launch.per_thread_stream;
    return call;
  }
  return std::nullopt;
}

std::span<const CUpti_CallbackId> graph_changing_functions() {
  static constexpr CUpti_CallbackId functions[] = {
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate,
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2,
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams,
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams,
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams,
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecChildGraphNodeSetParams,
      CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams,
      CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled,
  };
  return functions;
}

namespace {

CUDA_KERNEL_NODE_PARAMS kernel_of(const CUDA_KERNEL_NODE_PARAMS_v1& old) {
  return {old.func,         old.gridDimX,  old.gridDimY,  old.gridDimZ,
          old.blockDimX,    old.blockDimY, old.blockDimZ, old.sharedMemBytes,
          old.kernelParams, old.extra,     nullptr,       nullptr};
}

CUDA_MEMSET_NODE_PARAMS set_of(const CUDA_MEMSET_NODE_PARAMS_v2& set) {
  return {set.dst, set.pitch, set.value, set.elementSize, set.width, set.height};
}

/// The change of a node that the function makes; see GraphChange::repeat.
decltype(GraphChange::repeat) node_change(CUpti_CallbackId function, const void* parameters) {
  using Kernel = CUDA_KERNEL_NODE_PARAMS;
  const auto set_kernel = [](const Kernel& kernel) {
    return [kernel](const cupti::DriverApi& api, CUgraphNode node) {
      return api.cuGraphKernelNodeSetParams_v2(node, &kernel);
    };
  };
  const auto set_copy = [](const CUDA_MEMCPY3D& copy) {
    return [copy](const cupti::DriverApi& api, CUgraphNode node) {
      return api.cuGraphMemcpyNodeSetParams(node, &copy);
    };
  };
  const auto set_memory = [](const CUDA_MEMSET_NODE_PARAMS& set) {
    return [set](const cupti::DriverApi& api, CUgraphNode node) {
      return api.cuGraphMemsetNodeSetParams(node, &set);
    };
  };
  switch (function) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams:
      return set_kernel(kernel_of(*static_cast<const CUDA_KERNEL_NODE_PARAMS_v1*>(parameters)));
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
      return set_kernel(*static_cast<const Kernel*>(parameters));
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams:
      return set_copy(*static_cast<const CUDA_MEMCPY3D*>(parameters));
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams:
      return set_memory(*static_cast<const CUDA_MEMSET_NODE_PARAMS*>(parameters));
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams:
      break;
    default:
      return {};
  }
  const auto& node = *static_cast<const CUgraphNodeParams*>(parameters);
  switch (node.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return set_kernel(std::bit_cast<Kernel>(node.kernel));  // one shape under two names
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return set_copy(node.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return set_memory(set_of(node.memset));
    default:
      return {};
  }
}

}  // namespace

bool changes_graph(CUpti_CallbackId function) {
  const auto known = graph_changing_functions();
  return std::find(known.begin(), known.end(), function) != known.end();
}

GraphChange read_graph_change(CUpti_CallbackId function, const void* parameters) {
  const auto& p = *static_cast<const GraphChangeParameters*>(parameters);
  const bool is_update = function == CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate ||
                         function == CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2;
  if (is_update) return {p.executable, p.graph, nullptr, {}};
  return {p.executable, nullptr, p.node, node_change(function, p.parameters)};
}

void launch_instead(const void* parameters, CUgraphExec other) {
  static_cast<GraphParameters*>(const_cast<void*>(parameters))->graph = other;
}

}  // namespace warpmeter::inject
