// SPDX-License-Identifier: MIT
// Streams captured into graphs: fork and join over two streams, launched twice, changed, updated.
#include <cstdio>
__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
__global__ void scale(int* data, int factor) { data[threadIdx.x] *= factor; }
__global__ void sum(int* to, const int* a, const int* b) {
  to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

#define SAY(call) std::printf("%s: %s\n", #call, cudaGetErrorName(call))

int main() {
  int *a, *b, *c;
  cudaMalloc(&a, 32 * sizeof(int));
  cudaMalloc(&b, 32 * sizeof(int));
  cudaMalloc(&c, 32 * sizeof(int));
  cudaMemset(a, 0, 32 * sizeof(int));
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t fork, join;
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&join, cudaEventDisableTiming);

  cudaStreamCaptureStatus status;
  SAY(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  add<<<1, 32, 0, first>>>(a, 1);
  cudaEventRecord(fork, first);
  cudaStreamWaitEvent(second, fork, 0);
  cudaStreamIsCapturing(second, &status);
  std::printf("second stream: %d\n", status);
  cudaMemcpyAsync(b, a, 32 * sizeof(int), cudaMemcpyDeviceToDevice, second);
  scale<<<1, 32, 0, first>>>(a, 2);
  cudaEventRecord(join, second);
  cudaStreamWaitEvent(first, join, 0);
  sum<<<1, 32, 0, first>>>(c, a, b);
  cudaGraph_t graph;
  SAY(cudaStreamEndCapture(first, &graph));
  cudaStreamIsCapturing(second, &status);
  std::printf("second stream: %d\n", status);

  size_t nodes = 0, roots = 0, edges = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetRootNodes(graph, nullptr, &roots);
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
  std::printf("nodes %zu, roots %zu, edges %zu\n", nodes, roots, edges);

  cudaGraphExec_t exec;
  SAY(cudaGraphInstantiate(&exec, graph, 0));
  int host[32];
  for (int i = 0; i < 2; ++i) {
    SAY(cudaGraphLaunch(exec, first));
    SAY(cudaStreamSynchronize(first));
    cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("c: %d\n", host[31]);
  }

  // The kernel adds another number from now on, in what is executed and not in the graph.
  cudaGraphNode_t root;
  size_t one = 1;
  cudaGraphGetRootNodes(graph, &root, &one);
  cudaKernelNodeParams parameters;
  SAY(cudaGraphKernelNodeGetParams(root, &parameters));
  std::printf("adds %d\n", *static_cast<int*>(parameters.kernelParams[1]));
  int ten = 10;
  void* arguments[] = {&a, &ten};
  parameters.kernelParams = arguments;
  SAY(cudaGraphExecKernelNodeSetParams(exec, root, &parameters));
  cudaMemset(a, 0, 32 * sizeof(int));
  SAY(cudaGraphLaunch(exec, first));
  cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("c: %d\n", host[0]);

  // Back to what the graph says.
  cudaGraphExecUpdateResultInfo info;
  SAY(cudaGraphExecUpdate(exec, graph, &info));
  std::printf("result %d\n", info.result);
  cudaMemset(a, 0, 32 * sizeof(int));
  SAY(cudaGraphLaunch(exec, first));
  cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("c: %d\n", host[0]);
  SAY(cudaGraphNodeSetEnabled(exec, root, 0));
  SAY(cudaGraphLaunch(exec, first));
  cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("c: %d\n", host[0]);

  // Another shape is refused.
  cudaGraph_t other;
  cudaGraphCreate(&other, 0);
  SAY(cudaGraphExecUpdate(exec, other, &info));
  std::printf("result %d\n", info.result);
  SAY(cudaGraphExecDestroy(exec));
  SAY(cudaGraphDestroy(graph));
  SAY(cudaGraphDestroy(other));
  SAY(cudaDeviceSynchronize());
}
