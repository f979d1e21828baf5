// SPDX-License-Identifier: MIT
// A graph that is updated as a whole, then in one node; and one that calls a host function.
#include <cstdio>
__global__ void add(int* data, int value) { data[threadIdx.x] += value; }
static void on_host(void* calls) { ++*static_cast<int*>(calls); }
int main() {
  int *data = nullptr, sum = 0, calls = 0;
  if (cudaMalloc(&data, 4096) != cudaSuccess) return 9;
  cudaMemset(data, 0, 4096);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  const auto capture = [&](int value, bool with_host) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add<<<1, 128, 0, stream>>>(data, value);
    if (with_host) cudaLaunchHostFunc(stream, on_host, &calls);
    cudaStreamEndCapture(stream, &graph);
    return graph;
  };
  cudaGraphExec_t executable, other;
  const cudaGraph_t first = capture(1, false), second = capture(10, false);
  if (cudaGraphInstantiate(&executable, first, 0) != cudaSuccess) return 8;
  cudaGraphLaunch(executable, stream);
  cudaGraphExecUpdateResultInfo info;
  if (cudaGraphExecUpdate(executable, second, &info) != cudaSuccess) return 7;
  cudaGraphLaunch(executable, stream);
  int value = 100;
  std::size_t count = 1;
  cudaGraphNode_t node;
  cudaGraphGetNodes(first, &node, &count);
  void* arguments[] = {&data, &value};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(add);
  parameters.gridDim = 1;
  parameters.blockDim = 128;
  parameters.kernelParams = arguments;
  if (cudaGraphExecKernelNodeSetParams(executable, node, &parameters) != cudaSuccess) return 6;
  cudaGraphLaunch(executable, stream);
  if (cudaGraphInstantiate(&other, capture(1000, true), 0) != cudaSuccess) return 5;
  cudaGraphLaunch(other, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(&sum, data, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", sum, calls);
  return sum == 1111 && calls == 1 ? 0 : 1;
}
