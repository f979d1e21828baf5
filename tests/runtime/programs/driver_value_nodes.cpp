// SPDX-License-Identifier: MIT
// Graphs whose nodes wait for values and write them, of the driver's API: added, asked, changed,
// captured; a condition of the driver's; and how many clusters fit.
#include <cstdio>
#include <cstring>
#include <vector>

#include "driver_program.h"
namespace {

constexpr int name_width = 27;

constexpr const char* source = R"(
extern "C" __global__ void nothing() {}
)";

void show_type(CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  cuGraphNodeGetType(node, &type);
  std::printf("type %d\n", static_cast<int>(type));
}

void show_values(CUdeviceptr memory) {
  unsigned values[4] = {};
  cuMemcpyDtoH(values, memory, sizeof values);
  std::printf("%u %x %x\n", values[0], values[2], values[3]);
}

void nodes(CUcontext context) {
  CUdeviceptr memory = 0;
  cuMemAlloc(&memory, 64);
  cuMemsetD32(memory, 0, 16);
  std::vector<CUstreamBatchMemOpParams> operations(3);
  std::memset(operations.data(), 0, 3 * sizeof operations[0]);
  operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = memory;
  operations[0].writeValue.value = 7;
  operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.address = memory;
  operations[1].waitValue.value = 7;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  operations[2].writeValue.address = memory + 8;
  operations[2].writeValue.value64 = 0x1234567890;
  CUDA_BATCH_MEM_OP_NODE_PARAMS given{}, found{};
  given.ctx = context;
  given.count = 3;
  given.paramArray = operations.data();
  CUgraph graph = nullptr;
  cuGraphCreate(&graph, 0);
  CUgraphNode node = nullptr, other = nullptr;
  SAY(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &given));
  show_type(node);
  SAY(cuGraphBatchMemOpNodeGetParams(node, &found));
  std::printf("%u %u %u\n", found.count, found.flags, found.paramArray[0].writeValue.value);
  SAY(cuGraphAddBatchMemOpNode(&other, graph, nullptr, 0, nullptr));
  given.flags = 1;
  SAY(cuGraphAddBatchMemOpNode(&other, graph, nullptr, 0, &given));
  given.flags = 0;
  given.ctx = nullptr;
  SAY(cuGraphAddBatchMemOpNode(&other, graph, nullptr, 0, &given));
  given.ctx = context;
  given.paramArray = nullptr;
  SAY(cuGraphAddBatchMemOpNode(&other, graph, nullptr, 0, &given));
  given.paramArray = operations.data();
  operations[0].writeValue.address = 1;
  SAY(cuGraphAddBatchMemOpNode(&other, graph, nullptr, 0, &given));
  operations[0].writeValue.address = memory;
  CUgraphExec executable = nullptr;
  SAY(cuGraphInstantiate(&executable, graph, 0));
  SAY(cuGraphLaunch(executable, nullptr));
  SAY(cuCtxSynchronize());
  show_values(memory);
  operations[0].writeValue.value = operations[1].waitValue.value = 9;
  SAY(cuGraphBatchMemOpNodeSetParams(node, &given));
  SAY(cuGraphExecBatchMemOpNodeSetParams(executable, node, &given));
  SAY(cuGraphLaunch(executable, nullptr));
  SAY(cuCtxSynchronize());
  show_values(memory);
  given.count = 1;
  SAY(cuGraphExecBatchMemOpNodeSetParams(executable, node, &given));

  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  any.memOp.ctx = context;
  any.memOp.count = 3;
  any.memOp.paramArray = operations.data();
  SAY(cuGraphAddNode(&other, graph, nullptr, nullptr, 0, &any));
  SAY(cuGraphNodeSetParams(other, &any));
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  SAY(cuStreamBatchMemOp(stream, 3, operations.data(), 0));
  SAY(cuStreamEndCapture(stream, &graph));
  std::size_t count = 1;
  cuGraphGetNodes(graph, &other, &count);
  show_type(other);
}

void questions(CUcontext context) {
  CUgraph graph = nullptr;
  cuGraphCreate(&graph, 0);
  CUgraphConditionalHandle condition = 0;
  SAY(cuGraphConditionalHandleCreate(&condition, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  SAY(cuGraphConditionalHandleCreate(&condition, graph, nullptr, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  SAY(cuGraphConditionalHandleCreate(&condition, nullptr, context, 1, 0));

  CUmodule module = nullptr;
  CUfunction nothing = nullptr;
  cuModuleLoadData(&module, compiled(source, "nothing.cu").c_str());
  cuModuleGetFunction(&nothing, module, "nothing");
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = 2;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  CUlaunchConfig config{};
  config.gridDimX = 64;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0, size = 0;
  SAY(cuOccupancyMaxActiveClusters(&clusters, nothing, &config));
  SAY(cuOccupancyMaxPotentialClusterSize(&size, nothing, &config));
  std::printf("%d %d\n", clusters, size);
  SAY(cuOccupancyMaxActiveClusters(&clusters, nullptr, &config));

  const CUatomicOperation operation = CU_ATOMIC_OPERATION_INTEGER_ADD;
  unsigned capabilities = 99;
  SAY(cuDeviceGetHostAtomicCapabilities(&capabilities, &operation, 1, 0));
  std::printf("%u\n", capabilities);
  SAY(cuDeviceGetHostAtomicCapabilities(&capabilities, &operation, 0, 0));
  SAY(cuDeviceGetHostAtomicCapabilities(&capabilities, &operation, 1, 9));
  SAY(cuDeviceGetP2PAtomicCapabilities(&capabilities, &operation, 1, 0, 0));
  int is_supported = 1;
  SAY(cuDeviceGetExecAffinitySupport(&is_supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
  CUexecAffinityParam affinity{};
  SAY(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  std::printf("%d %u\n", is_supported, affinity.param.smCount.val);
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  nodes(context);
  questions(context);
}
