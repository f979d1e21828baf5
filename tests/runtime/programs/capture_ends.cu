// SPDX-License-Identifier: MIT
// Captures whose graph nobody asks for, and two into one graph at a time.
#include <cuda_runtime.h>

#include <cstdio>

#include "runtime_program.h"
__global__ void add(int* number, int more) { *number += more; }

int main() {
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  int* number = nullptr;
  cudaMallocManaged(&number, sizeof(*number));
  cudaStreamCaptureStatus status;
  K(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
  K(cudaStreamEndCapture(first, nullptr));
  K(cudaStreamIsCapturing(first, &status));
  I(status);
  cudaGraph_t graph, ended = nullptr;
  K(cudaGraphCreate(&graph, 0));
  const auto begin = [&](cudaStream_t stream) {
    K(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                    cudaStreamCaptureModeRelaxed));
  };
  begin(first);
  add<<<1, 1, 0, first>>>(number, 1);
  K(cudaStreamEndCapture(first, nullptr));
  std::size_t nodes = 0;
  K(cudaGraphGetNodes(graph, nullptr, &nodes));
  I(nodes);
  begin(first);
  K(cudaStreamEndCapture(first, &ended));
  I(ended == graph);
  begin(first);
  begin(second);
  K(cudaStreamEndCapture(second, &ended));
  K(cudaStreamEndCapture(first, &ended));
  add<<<1, 1>>>(number, 1);
  cudaDeviceSynchronize();
  I(*number);
}
