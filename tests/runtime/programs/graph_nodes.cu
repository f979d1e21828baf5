// SPDX-License-Identifier: MIT
// A graph built by hand: every kind of node, edges changed, cloned, with memory of its own.
#include <atomic>
#include <cstdio>
__device__ int symbol[4];
__global__ void fill(int* data, int value) { data[threadIdx.x] = value + threadIdx.x; }
__global__ void add_symbol(int* data) { data[threadIdx.x] += symbol[threadIdx.x]; }

static void CUDART_CB say(void* text) { std::printf("%s\n", static_cast<const char*>(text)); }
static std::atomic<bool> is_gone{false};
static void CUDART_CB gone(void* text) {
  std::printf("%s\n", static_cast<const char*>(text));
  is_gone = true;
}

#define SAY(call) std::printf("%s\n", cudaGetErrorName(call))

int main() {
  int* data;
  int host[4] = {}, numbers[4] = {100, 200, 300, 400};
  cudaMalloc(&data, sizeof host);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  SAY(cudaGraphCreate(&graph, 0));

  cudaGraphNode_t kernel, to_symbol, add, back, set, text, empty;
  int value = 7;
  void* arguments[] = {&data, &value};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(fill);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(4);
  parameters.kernelParams = arguments;
  SAY(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &parameters));
  value = 1000;  // too late
  SAY(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, nullptr, 0, symbol, numbers, sizeof numbers,
                                     0, cudaMemcpyHostToDevice));
  parameters.func = reinterpret_cast<void*>(add_symbol);
  cudaGraphNode_t both[] = {kernel, to_symbol};
  SAY(cudaGraphAddKernelNode(&add, graph, both, 2, &parameters));
  SAY(cudaGraphAddMemcpyNode1D(&back, graph, &add, 1, host, data, sizeof host,
                               cudaMemcpyDeviceToHost));
  cudaHostNodeParams speaks{say, const_cast<char*>("copied")};
  SAY(cudaGraphAddHostNode(&text, graph, &back, 1, &speaks));
  cudaMemsetParams zero{data, 0, 0, 4, 4, 1};
  SAY(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
  SAY(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  SAY(cudaGraphAddDependencies(graph, &back, &set, nullptr, 1));
  SAY(cudaGraphAddDependencies(graph, &back, &set, nullptr, 1));
  SAY(cudaGraphRemoveDependencies(graph, &kernel, &empty, nullptr, 1));
  cudaGraphNodeType type;
  cudaGraphNodeGetType(text, &type);
  size_t before = 0, behind = 0, nodes = 0;
  cudaGraphNodeGetDependencies(add, nullptr, nullptr, &before);
  cudaGraphNodeGetDependentNodes(back, nullptr, nullptr, &behind);
  std::printf("type %d, before %zu, behind %zu\n", type, before, behind);
  SAY(cudaGraphDestroyNode(empty));
  cudaGraphGetNodes(graph, nullptr, &nodes);
  std::printf("nodes %zu\n", nodes);

  cudaUserObject_t object;
  SAY(cudaUserObjectCreate(&object, const_cast<char*>("object gone"), gone, 1,
                           cudaUserObjectNoDestructorSync));
  SAY(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));

  cudaGraph_t clone, parent;
  SAY(cudaGraphClone(&clone, graph));
  cudaGraphNode_t found, child;
  SAY(cudaGraphNodeFindInClone(&found, back, clone));
  std::printf("another node: %d\n", found != back);
  SAY(cudaGraphCreate(&parent, 0));
  SAY(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, clone));
  SAY(cudaGraphDestroy(graph));
  SAY(cudaGraphDestroy(clone));

  // Memory that lives in the graph.
  cudaMemAllocNodeParams memory{};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = sizeof host;
  cudaGraphNode_t allocate, fills, copies, frees;
  int own[4] = {};
  SAY(cudaGraphAddMemAllocNode(&allocate, parent, &child, 1, &memory));
  int from = 40;
  void* others[] = {&memory.dptr, &from};
  parameters.func = reinterpret_cast<void*>(fill);
  parameters.kernelParams = others;
  SAY(cudaGraphAddKernelNode(&fills, parent, &allocate, 1, &parameters));
  SAY(cudaGraphAddMemcpyNode1D(&copies, parent, &fills, 1, own, memory.dptr, sizeof own,
                               cudaMemcpyDeviceToHost));
  SAY(cudaGraphAddMemFreeNode(&frees, parent, &copies, 1, memory.dptr));

  cudaGraphExec_t exec;
  cudaGraphInstantiateParams how{};
  SAY(cudaGraphInstantiateWithParams(&exec, parent, &how));
  std::printf("result %d\n", how.result_out);
  for (int i = 0; i < 2; ++i) {
    const cudaError_t launched = cudaGraphLaunch(exec, stream);
    SAY(cudaStreamSynchronize(stream));
    SAY(launched);
    std::printf("%d %d %d %d, own %d %d\n", host[0], host[1], host[2], host[3], own[0], own[3]);
  }
  SAY(cudaGraphDestroy(parent));
  const cudaError_t destroyed = cudaGraphExecDestroy(exec);
  while (!is_gone) {  // a driver calls it from a thread of its own
  }
  SAY(destroyed);

  // A circle cannot be executed.
  SAY(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t a, b;
  cudaGraphAddEmptyNode(&a, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&b, graph, &a, 1);
  cudaGraphAddDependencies(graph, &b, &a, nullptr, 1);
  SAY(cudaGraphInstantiate(&exec, graph, 0));
  cudaGetLastError();
  SAY(cudaDeviceSynchronize());
}
