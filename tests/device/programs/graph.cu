// A graph of three kernels, captured from a stream, launched four times; one launch outside of it.
#include <cstdio>
__global__ void fill(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = static_cast<float>(i);
}
__global__ void scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}
int main() {
  constexpr int n = 1 << 16;
  float* data = nullptr;
  if (cudaMalloc(&data, n * sizeof(float)) != cudaSuccess) return 9;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  fill<<<n / 256, 256, 0, stream>>>(data, n);
  scale<<<n / 256, 256, 0, stream>>>(data, n);
  scale<<<n / 256, 256, 0, stream>>>(data, n);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) return 8;
  cudaGraphExec_t executable;
  if (cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) return 7;
  for (int i = 0; i < 4; ++i) cudaGraphLaunch(executable, stream);
  scale<<<n / 256, 256, 0, stream>>>(data, n);
  cudaStreamSynchronize(stream);
  float last = 0;
  cudaMemcpy(&last, data + 3, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%g\n", last);
  return last == 24 ? 0 : 1;
}
