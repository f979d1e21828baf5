// SPDX-License-Identifier: MIT
// A graph whose kernel and set are changed after it has been made executable: twice as many blocks,
// another value, another place.
#include <cstdio>
__global__ void add(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] += value; }
int main() {
  constexpr int count = 1024, changed_place = 600;
  int* data = nullptr;
  if (cudaMalloc(&data, count * sizeof(int)) != cudaSuccess) return 9;
  cudaMemset(data, 0, count * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 128, 0, stream>>>(data, 1);
  cudaMemsetAsync(data + 512, 0, 64, stream);
  cudaStreamEndCapture(stream, &graph);
  if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) return 8;
  cudaGraphLaunch(executable, stream);
  cudaGraphNode_t nodes[2];
  std::size_t number = 2;
  cudaGraphGetNodes(graph, nodes, &number);
  int value = 100;
  void* arguments[] = {&data, &value};
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    cudaGraphNodeGetType(node, &type);
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(add);
    kernel.gridDim = 2;
    kernel.blockDim = 128;
    kernel.kernelParams = arguments;
    cudaMemsetParams set{};
    set.dst = data + changed_place;
    set.elementSize = set.height = set.value = 1;
    set.width = 32;
    const cudaError_t changed = type == cudaGraphNodeTypeKernel
                                    ? cudaGraphExecKernelNodeSetParams(executable, node, &kernel)
                                    : cudaGraphExecMemsetNodeSetParams(executable, node, &set);
    if (changed != cudaSuccess) return 7;
  }
  value = 7;  // the values are those of the change
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  int all[count];
  cudaMemcpy(all, data, sizeof all, cudaMemcpyDeviceToHost);
  std::printf("%d %d %x\n", all[1], all[129], all[changed_place]);
  return all[changed_place] == 0x01010101 ? 0 : 1;
}
