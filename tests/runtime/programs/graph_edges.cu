// SPDX-License-Identifier: MIT
// Edges of graphs that say more than an order: a kernel that may begin before the one in front of
// it has ended, as launches of streams, by events and by hand; and what is refused.
#include <cuda_runtime.h>

#include <cstdio>
#define SAY(call) std::printf("%-24s %s\n", cudaGetErrorName(call), #call)

__global__ void add(int* sum) { atomicAdd(sum, 1); }
__global__ void wait_and_add(int* sum) {
  cudaGridDependencySynchronize();
  atomicAdd(sum, 1);
}

namespace {

void show(const cudaGraphEdgeData& edge) {
  std::printf(" (%d %d %d)", edge.from_port, edge.to_port, edge.type);
}

void show_edges(cudaGraph_t graph) {
  cudaGraphNode_t from[8], to[8];
  cudaGraphEdgeData edges[8];
  std::size_t count = 8;
  SAY(cudaGraphGetEdges(graph, from, to, edges, &count));
  std::printf("%zu edges:", count);
  for (std::size_t i = 0; i < count; ++i) show(edges[i]);
  std::puts("");
  count = 8;
  SAY(cudaGraphGetEdges(graph, from, to, nullptr, &count));
  count = 0;
  SAY(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  std::printf("%zu\n", count);
}

cudaLaunchConfig_t one_warp(cudaStream_t stream, cudaLaunchAttribute* attribute) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = attribute;
  config.numAttrs = attribute == nullptr ? 0 : 1;
  return config;
}

void run(cudaGraph_t graph, cudaStream_t stream, const int* sum) {
  cudaGraphExec_t executable = nullptr;
  SAY(cudaGraphInstantiate(&executable, graph, 0));
  SAY(cudaGraphLaunch(executable, stream));
  SAY(cudaStreamSynchronize(stream));
  int host = 0;
  cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", host);
}

void captured(cudaStream_t stream, int* sum) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, stream>>>(sum);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  const cudaLaunchConfig_t config = one_warp(stream, &attribute);
  SAY(cudaLaunchKernelEx(&config, wait_and_add, sum));
  add<<<1, 32, 0, stream>>>(sum);
  cudaGraph_t graph = nullptr;
  SAY(cudaStreamEndCapture(stream, &graph));
  show_edges(graph);
  cudaGraphNode_t nodes[4];
  std::size_t count = 4;
  cudaGraphGetNodes(graph, nodes, &count);
  for (std::size_t i = 0; i < count; ++i) {
    cudaGraphNode_t others[4];
    cudaGraphEdgeData edges[4];
    std::size_t before = 4, behind = 4;
    SAY(cudaGraphNodeGetDependencies(nodes[i], others, nullptr, &before));
    before = 4;
    SAY(cudaGraphNodeGetDependencies(nodes[i], others, edges, &before));
    if (before == 1) show(edges[0]);
    SAY(cudaGraphNodeGetDependentNodes(nodes[i], others, nullptr, &behind));
  }
  run(graph, stream, sum);
}

void by_event(cudaStream_t stream, int* sum) {
  cudaStream_t other = nullptr;
  cudaEvent_t begun = nullptr, joined = nullptr;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  attribute.val.programmaticEvent.event = begun;
  attribute.val.programmaticEvent.triggerAtBlockStart = 1;
  cudaLaunchConfig_t config = one_warp(stream, &attribute);
  SAY(cudaLaunchKernelEx(&config, add, sum));
  SAY(cudaStreamWaitEvent(other, begun, 0));
  config = one_warp(other, nullptr);
  SAY(cudaLaunchKernelEx(&config, wait_and_add, sum));
  SAY(cudaEventRecord(joined, other));
  SAY(cudaStreamWaitEvent(stream, joined, 0));
  cudaGraph_t graph = nullptr;
  SAY(cudaStreamEndCapture(stream, &graph));
  show_edges(graph);
  run(graph, stream, sum);
}

void by_hand(cudaStream_t stream, int* sum) {
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  void* arguments[] = {&sum};
  cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = reinterpret_cast<void*>(wait_and_add);
  any.kernel.gridDim = dim3(1);
  any.kernel.blockDim = dim3(32);
  any.kernel.kernelParams = arguments;
  cudaGraphNode_t first = nullptr, second = nullptr, third = nullptr, empty = nullptr;
  cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &any);
  cudaGraphAddNode(&second, graph, nullptr, nullptr, 0, &any);
  cudaGraphAddEmptyNode(&empty, graph, nullptr, 0);
  cudaGraphEdgeData edge{}, wrong{};
  edge.from_port = cudaGraphKernelNodePortProgrammatic;
  edge.type = cudaGraphDependencyTypeProgrammatic;
  SAY(cudaGraphAddDependencies(graph, &first, &second, &edge, 1));
  SAY(cudaGraphAddDependencies(graph, &first, &second, &edge, 1));
  SAY(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
  SAY(cudaGraphAddDependencies(graph, &first, &empty, &edge, 1));
  SAY(cudaGraphAddNode(&third, graph, &second, &edge, 1, &any));
  wrong = edge;
  wrong.type = cudaGraphDependencyTypeDefault;
  SAY(cudaGraphAddDependencies(graph, &first, &third, &wrong, 1));
  wrong = edge;
  wrong.from_port = cudaGraphKernelNodePortDefault;
  SAY(cudaGraphAddDependencies(graph, &first, &third, &wrong, 1));
  wrong = edge;
  wrong.from_port = 3;
  SAY(cudaGraphAddDependencies(graph, &first, &third, &wrong, 1));
  wrong = edge;
  wrong.to_port = 1;
  SAY(cudaGraphAddDependencies(graph, &first, &third, &wrong, 1));
  wrong = {};
  wrong.reserved[0] = 1;
  SAY(cudaGraphAddDependencies(graph, &first, &third, &wrong, 1));
  show_edges(graph);
  SAY(cudaGraphRemoveDependencies(graph, &first, &second, &wrong, 1));
  SAY(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
  SAY(cudaGraphRemoveDependencies(graph, &second, &third, &edge, 1));
  edge.from_port = cudaGraphKernelNodePortLaunchCompletion;
  SAY(cudaGraphAddDependencies(graph, &second, &third, &edge, 1));
  cudaGraph_t clone = nullptr;
  SAY(cudaGraphClone(&clone, graph));
  show_edges(clone);
  run(clone, stream, sum);
}

}  // namespace

int main() {
  int* sum = nullptr;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  captured(stream, sum);
  by_event(stream, sum);
  by_hand(stream, sum);
}
