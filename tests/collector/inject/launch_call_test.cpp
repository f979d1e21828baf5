// SPDX-License-Identifier: MIT
// A launch in a stream that is recorded does not run, whichever way the program names the stream.
#include "collector/inject/launch_call.h"

#include <cupti_driver_cbid.h>
#include <gtest/gtest.h>

namespace warpmeter::inject {
namespace {

CUstream recorded = nullptr;

TEST(LaunchCall, ARecordedStreamIsFoundUnderTheNamesOfTheProgram) {
  cupti::DriverApi api{};
  api.cuStreamIsCapturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    *status = stream == recorded ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  const auto is_recorded = [&](CUpti_CallbackId function, CUstream stream) {
    const struct {
      CUfunction f;
      unsigned int grid[3], block[3], shared_bytes;
      CUstream stream;
      void** values;
    } parameters{nullptr, {1, 1, 1}, {32, 1, 1}, 0, stream, nullptr};
    return is_captured(api, stream_of(*read_launch(function, &parameters)));
  };
  const auto stream = reinterpret_cast<CUstream>(std::size_t{77});
  recorded = stream;
  EXPECT_TRUE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, stream));
  EXPECT_FALSE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, nullptr));
  recorded = CU_STREAM_PER_THREAD;
  EXPECT_TRUE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, nullptr));
  EXPECT_TRUE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CU_STREAM_PER_THREAD));
  EXPECT_FALSE(is_recorded(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, nullptr));
}

CUDA_KERNEL_NODE_PARAMS seen_kernel;
CUDA_MEMSET_NODE_PARAMS seen_set;
CUDA_MEMCPY3D seen_copy;

/// Each function that sets a node's parameters hands the same on to another graph's node.
TEST(GraphChange, RepeatsWhatTheProgramDidWithANode) {
  cupti::DriverApi api{};
  api.cuGraphKernelNodeSetParams_v2 = [](CUgraphNode, const CUDA_KERNEL_NODE_PARAMS* kernel) {
    seen_kernel = *kernel;
    return CUDA_SUCCESS;
  };
  api.cuGraphMemsetNodeSetParams = [](CUgraphNode, const CUDA_MEMSET_NODE_PARAMS* set) {
    seen_set = *set;
    return CUDA_SUCCESS;
  };
  api.cuGraphMemcpyNodeSetParams = [](CUgraphNode, const CUDA_MEMCPY3D* copy) {
    seen_copy = *copy;
    return CUDA_SUCCESS;
  };
  const auto executable = reinterpret_cast<CUgraphExec>(std::size_t{5});
  const auto node = reinterpret_cast<CUgraphNode>(std::size_t{6});
  const auto repeat = [&](CUpti_CallbackId function, const void* of_node) {
    const struct {
      CUgraphExec executable;
      CUgraphNode node;
      const void* of_node;
    } parameters{executable, node, of_node};
    EXPECT_TRUE(changes_graph(function));
    const GraphChange change = read_graph_change(function, &parameters);
    EXPECT_EQ(change.executable, executable);
    EXPECT_EQ(change.node, node);
    EXPECT_EQ(change.graph, nullptr);
    return change.repeat && change.repeat(api, nullptr) == CUDA_SUCCESS;
  };
  CUDA_KERNEL_NODE_PARAMS_v1 old{};
  old.gridDimY = 7;
  EXPECT_TRUE(repeat(CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams, &old));
  EXPECT_EQ(seen_kernel.gridDimY, 7U);
  EXPECT_EQ(seen_kernel.kern, nullptr);
  CUDA_KERNEL_NODE_PARAMS kernel{};
  kernel.kern = reinterpret_cast<CUkernel>(std::size_t{8});
  EXPECT_TRUE(repeat(CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2, &kernel));
  EXPECT_EQ(seen_kernel.kern, kernel.kern);
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_MEMSET;
  any.memset.width = 9;
  EXPECT_TRUE(repeat(CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams, &any));
  EXPECT_EQ(seen_set.width, 9U);
  any = {};
  any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  any.memcpy.copyParams.Depth = 3;
  EXPECT_TRUE(repeat(CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams, &any));
  EXPECT_EQ(seen_copy.Depth, 3U);
  any = {};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  any.kernel.blockDimX = 64;
  EXPECT_TRUE(repeat(CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams, &any));
  EXPECT_EQ(seen_kernel.blockDimX, 64U);
  any.type = CU_GRAPH_NODE_TYPE_HOST;
  EXPECT_FALSE(repeat(CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams, &any));
  EXPECT_FALSE(repeat(CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled, nullptr));
  EXPECT_FALSE(changes_graph(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch));
}

}  // namespace
}  // namespace warpmeter::inject
