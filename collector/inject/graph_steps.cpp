// SPDX-License-Identifier: MIT
#include "collector/inject/graph_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

namespace warpmeter::inject {
namespace {

/// The nodes so that each comes after those that it depends on; empty when the driver does not say.
std::vector<CUgraphNode> in_order(const cupti::DriverApi& api, CUgraph graph) {
  std::size_t count = 0, edges = 0;
  if (api.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS) return {};
  std::vector<CUgraphNode> nodes(count);
  if (count != 0 && api.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return {};
  if (api.cuGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &edges) != CUDA_SUCCESS) return {};
  std::vector<CUgraphNode> from(edges), to(edges);
  std::vector<CUgraphEdgeData> data(edges);
  if (edges != 0 &&
      api.cuGraphGetEdges_v2(graph, from.data(), to.data(), data.data(), &edges) != CUDA_SUCCESS) {
    return {};
  }
  std::unordered_map<CUgraphNode, std::size_t> awaited;
  std::unordered_map<CUgraphNode, std::vector<CUgraphNode>> next;
  for (std::size_t i = 0; i < edges; ++i) {
    ++awaited[to[i]];
    next[from[i]].push_back(to[i]);
  }
  std::vector<CUgraphNode> order;
  for (const CUgraphNode node : nodes) {
    if (awaited[node] == 0) order.push_back(node);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const CUgraphNode node : next[order[i]]) {
      if (--awaited[node] == 0) order.push_back(node);
    }
  }
  return order;
}

const char* kind_of(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_HOST:
      return "a host function";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "an event";
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return "an external semaphore";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "an allocation";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "a conditional node";
    default:
      return "a node of a kind that is not known";
  }
}

std::string kernel_name(const cupti::DriverApi& api, const CUDA_KERNEL_NODE_PARAMS& kernel) {
  const char* name = nullptr;
  if (kernel.func != nullptr && api.cuFuncGetName(&name, kernel.func) == CUDA_SUCCESS) return name;
  if (kernel.kern != nullptr && api.cuKernelGetName(&name, kernel.kern) == CUDA_SUCCESS) {
    return name;
  }
  return "";
}

/// True if the attribute says anything; its default is all zeros.
bool is_set(const CUlaunchAttribute& attribute) {
  const auto* bytes = reinterpret_cast<const char*>(&attribute.value);
  return std::any_of(bytes, bytes + sizeof attribute.value, [](char byte) { return byte != 0; });
}

}  // namespace

GraphSteps::GraphSteps(const cupti::DriverApi& api, CUgraph graph) : api_(api) {
  if (const CUresult result = api_.cuGraphClone(&copy_, graph); result != CUDA_SUCCESS) {
    copy_ = nullptr;
    obstacle_ = "this CUDA graph cannot be copied: " + cupti::in_words(api_, result);
  }
  add(copy_ != nullptr ? copy_ : graph);
}

GraphSteps::~GraphSteps() {
  for (const Step& step : steps_) {
    if (step.alone != nullptr) api_.cuGraphExecDestroy(step.alone);
  }
  if (copy_ != nullptr) api_.cuGraphDestroy(copy_);
}

void GraphSteps::add(CUgraph graph) {
  for (const CUgraphNode node : in_order(api_, graph)) add_node(node);
}

void GraphSteps::add_node(CUgraphNode node) {
  CUgraphNodeType type{};
  if (api_.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS) return;
  CUgraph child = nullptr;
  CUDA_KERNEL_NODE_PARAMS kernel{};
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      if (api_.cuGraphKernelNodeGetParams_v2(node, &kernel) != CUDA_SUCCESS) {
        obstacle_ = "the driver does not tell what a kernel of this CUDA graph is";
      }
      kernels_.push_back(kernel_name(api_, kernel));
      kernel_nodes_.push_back(node);
      steps_.push_back({node, type});
      break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
      steps_.push_back({node, type});
      break;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      if (api_.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS) add(child);
      break;
    default:
      obstacle_ = fmt::format(
          "CUPTI cannot count inside of a CUDA graph, and this one holds {}, so its kernels cannot "
          "be launched one by one; profile without --metrics shows them",
          kind_of(type));
  }
}

bool GraphSteps::change(
    CUgraphNode node, const std::function<CUresult(const cupti::DriverApi&, CUgraphNode)>& repeat) {
  CUgraphNode copied = nullptr;
  if (copy_ == nullptr || !repeat ||
      api_.cuGraphNodeFindInClone(&copied, node, copy_) != CUDA_SUCCESS ||
      repeat(api_, copied) != CUDA_SUCCESS) {
    return false;
  }
  for (Step& step : steps_) {
    if (step.node != copied || step.alone == nullptr) continue;
    api_.cuGraphExecDestroy(step.alone);
    step.alone = nullptr;
    is_prepared_ = false;
  }
  for (std::size_t i = 0; i < kernel_nodes_.size(); ++i) {
    CUDA_KERNEL_NODE_PARAMS kernel{};
    if (kernel_nodes_[i] != copied) continue;
    if (api_.cuGraphKernelNodeGetParams_v2(copied, &kernel) != CUDA_SUCCESS) return false;
    kernels_[i] = kernel_name(api_, kernel);
  }
  return true;
}

CUgraphExec GraphSteps::make_alone(const Step& step, CUcontext context) const {
  CUgraph graph = nullptr;
  CUgraphNode added = nullptr;
  CUgraphExec executable = nullptr;
  if (api_.cuGraphCreate(&graph, 0) != CUDA_SUCCESS) return nullptr;
  const auto ok = [](CUresult result) { return result == CUDA_SUCCESS; };
  CUDA_MEMCPY3D copy{};
  CUDA_MEMSET_NODE_PARAMS set{};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  bool is_added = false;
  if (step.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    is_added = ok(api_.cuGraphMemcpyNodeGetParams(step.node, &copy)) &&
               ok(api_.cuGraphAddMemcpyNode(&added, graph, nullptr, 0, &copy, context));
  } else if (step.type == CU_GRAPH_NODE_TYPE_MEMSET) {
    is_added = ok(api_.cuGraphMemsetNodeGetParams(step.node, &set)) &&
               ok(api_.cuGraphAddMemsetNode(&added, graph, nullptr, 0, &set, context));
  } else {
    is_added = ok(api_.cuGraphKernelNodeGetParams_v2(step.node, &kernel)) &&
               ok(api_.cuGraphAddKernelNode_v2(&added, graph, nullptr, 0, &kernel)) &&
               ok(api_.cuGraphKernelNodeCopyAttributes(added, step.node));
  }
  if (!is_added || !ok(api_.cuGraphInstantiateWithFlags(&executable, graph, 0))) {
    executable = nullptr;
  }
  api_.cuGraphDestroy(graph);
  return executable;
}

/// Before the first node runs, so that there is a way back.
bool GraphSteps::prepare(CUcontext context) {
  if (is_prepared_) return true;
  for (Step& step : steps_) {
    if (step.type == CU_GRAPH_NODE_TYPE_KERNEL || step.alone != nullptr) continue;
    step.alone = make_alone(step, context);
    if (step.alone == nullptr) {
      obstacle_ =
          "CUPTI cannot count inside of a CUDA graph, and a copy in this one cannot be made "
          "by itself; profile without --metrics shows its kernels";
      return false;
    }
  }
  is_prepared_ = true;
  return true;
}

/// With the function, however the program has named it.
std::optional<CUDA_KERNEL_NODE_PARAMS> GraphSteps::read_kernel(CUgraphNode node) const {
  CUDA_KERNEL_NODE_PARAMS kernel{};
  if (api_.cuGraphKernelNodeGetParams_v2(node, &kernel) != CUDA_SUCCESS) return std::nullopt;
  if (kernel.func == nullptr &&
      api_.cuKernelGetFunction(&kernel.func, kernel.kern) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  return kernel;
}

LaunchCall GraphSteps::call_of(std::size_t kernel) const {
  LaunchCall call;
  if (copy_ == nullptr || kernel >= kernel_nodes_.size()) return call;  // the nodes may be gone
  const auto read = read_kernel(kernel_nodes_[kernel]);
  if (!read) return call;
  call.function = read->func;
  call.grid = {read->gridDimX, read->gridDimY, read->gridDimZ};
  call.block = {read->blockDimX, read->blockDimY, read->blockDimZ};
  call.dynamic_shared_bytes = read->sharedMemBytes;
  call.parameters = read->kernelParams;
  return call;
}

bool GraphSteps::launch_kernel(CUgraphNode node, CUstream stream) const {
  const auto read = read_kernel(node);
  if (!read) return false;
  const CUDA_KERNEL_NODE_PARAMS& kernel = *read;
  std::array<CUlaunchAttribute, 3> attributes{};
  CUlaunchConfig config{};
  config.gridDimX = kernel.gridDimX;
  config.gridDimY = kernel.gridDimY;
  config.gridDimZ = kernel.gridDimZ;
  config.blockDimX = kernel.blockDimX;
  config.blockDimY = kernel.blockDimY;
  config.blockDimZ = kernel.blockDimZ;
  config.sharedMemBytes = kernel.sharedMemBytes;
  config.hStream = stream;
  config.attrs = attributes.data();
  for (const CUlaunchAttributeID id :
       {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE}) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs];
    attribute = {};
    attribute.id = id;
    if (api_.cuGraphKernelNodeGetAttribute(node, id, &attribute.value) == CUDA_SUCCESS &&
        is_set(attribute)) {
      ++config.numAttrs;
    }
  }
  return api_.cuLaunchKernelEx(&config, kernel.func, kernel.kernelParams, kernel.extra) ==
         CUDA_SUCCESS;
}

bool GraphSteps::run(CUcontext context, CUstream stream, const Around& around) {
  if (!obstacle_.empty() || !prepare(context)) return false;
  bool has_run = false;
  std::size_t kernel = 0;
  for (Step& step : steps_) {
    const auto launch = [&] { return launch_kernel(step.node, stream); };
    const std::size_t number = kernel;
    if (step.type == CU_GRAPH_NODE_TYPE_KERNEL) ++kernel;
    if (step.alone == nullptr && !around(number, launch)) {
      obstacle_ = "a kernel of this CUDA graph could not be launched by itself";
      if (!has_run) return false;
      step.alone = make_alone(step, context);
    }
    if (step.alone != nullptr) api_.cuGraphLaunch(step.alone, stream);
    has_run = true;
  }
  return true;
}

CUgraphExec empty_graph(const cupti::DriverApi& api) {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  if (api.cuGraphCreate(&graph, 0) != CUDA_SUCCESS) return nullptr;
  if (api.cuGraphAddEmptyNode(&node, graph, nullptr, 0) != CUDA_SUCCESS ||
      api.cuGraphInstantiateWithFlags(&executable, graph, 0) != CUDA_SUCCESS) {
    executable = nullptr;
  }
  api.cuGraphDestroy(graph);
  return executable;
}

}  // namespace warpmeter::inject
