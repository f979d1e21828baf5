// SPDX-License-Identifier: MIT
// A graph of four kernels and a copy, captured from a stream and launched four times, its original
// long gone; one launch outside of it. One kernel counts how often the graph really ran.
#include <cstdio>
__global__ void fill(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = static_cast<float>(i);
}
__global__ void scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}
__global__ void count(int* runs) { atomicAdd(runs, 1); }
int main() {
  constexpr int n = 1 << 16;
  float *source = nullptr, *data = nullptr, last = 0;
  int *runs = nullptr, ran = 0;
  if (cudaMalloc(&source, n * sizeof(float)) != cudaSuccess) return 9;
  if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) return 9;
  if (cudaMalloc(&runs, sizeof(int)) != cudaSuccess) return 9;
  cudaMemset(runs, 0, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill<<<n / 256, 256, 0, stream>>>(source, n);
  cudaMemcpyAsync(data, source, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  scale<<<n / 256, 256, 0, stream>>>(data, n);
  scale<<<n / 256, 256, 0, stream>>>(data, n);
  count<<<1, 1, 0, stream>>>(runs);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) return 8;
  cudaGraphExec_t executable;
  if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) return 7;
  cudaGraphDestroy(graph);
  for (int i = 0; i < 4; ++i) cudaGraphLaunch(executable, stream);
  scale<<<n / 256, 256, 0, stream>>>(data, n);
  cudaStreamSynchronize(stream);
  cudaMemcpy(&last, data + 3, sizeof last, cudaMemcpyDeviceToHost);
  cudaMemcpy(&ran, runs, sizeof ran, cudaMemcpyDeviceToHost);
  std::printf("%g %d\n", last, ran);
  return last == 24 && ran == 4 ? 0 : 1;
}
