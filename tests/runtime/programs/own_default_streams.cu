// SPDX-License-Identifier: MIT
// The calls of `nvcc --default-stream per-thread`: functions for which stream 0 is the thread's
// own, which can be captured. Named here, so that the file needs no option.
#include <cstdio>
#include <thread>
extern "C" {
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t, cudaGraph_t*);
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t, cudaStreamCaptureStatus*);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);
cudaError_t cudaLaunchKernel_ptsz(const void*, dim3, dim3, void**, size_t, cudaStream_t);
}

__global__ void add(int* data) { ++*data; }

int main() {
  int* data;
  cudaMallocManaged(&data, sizeof(int));
  *data = 0;
  void* arguments[] = {&data};
  std::printf("%s\n",
              cudaGetErrorName(cudaStreamBeginCapture_ptsz(0, cudaStreamCaptureModeRelaxed)));
  cudaLaunchKernel_ptsz(reinterpret_cast<void*>(add), dim3(1), dim3(1), arguments, 0, 0);
  std::thread([&] {
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing_ptsz(0, &status);
    std::printf("another thread's: %d\n", status);
    cudaLaunchKernel_ptsz(reinterpret_cast<void*>(add), dim3(1), dim3(1), arguments, 0, 0);
    cudaStreamSynchronize_ptsz(0);
    std::printf("%d\n", *data);
  }).join();
  cudaGraph_t graph;
  std::printf("%s\n", cudaGetErrorName(cudaStreamEndCapture_ptsz(0, &graph)));
  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  std::printf("nodes %zu\n", nodes);
  std::printf("legacy: %s\n", cudaGetErrorName(cudaStreamBeginCapture(
                                  cudaStreamLegacy, cudaStreamCaptureModeRelaxed)));
}
