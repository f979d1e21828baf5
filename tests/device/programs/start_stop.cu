// SPDX-License-Identifier: MIT
// 5 launches, 10 between cudaProfilerStart and cudaProfilerStop, 7 after them. Nothing waits in
// between, so a profiler has to tell them apart by when they were launched.
#include <cuda_profiler_api.h>

#include <cstdio>

__global__ void step(int* data) { atomicAdd(data, 1); }

int main() {
  int *data = nullptr, result = 0;
  if (cudaMalloc(&data, sizeof *data) != cudaSuccess) return 9;
  cudaMemset(data, 0, sizeof *data);
  for (int i = 0; i < 5; ++i) step<<<1, 32>>>(data);
  cudaProfilerStart();
  for (int i = 0; i < 10; ++i) step<<<2, 32>>>(data);
  cudaProfilerStop();
  for (int i = 0; i < 7; ++i) step<<<3, 32>>>(data);
  cudaMemcpy(&result, data, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  return result == 32 * (5 + 20 + 21) ? 0 : 1;
}
