// SPDX-License-Identifier: MIT
// A reduction that overwrites its input, and a counter that must be right although launches are
// replayed.
#include <cstdio>
__global__ void reduce_in_place(int* data, int n) {
  for (int stride = n / 2; stride > 0; stride /= 2) {
    if (static_cast<int>(threadIdx.x) < stride) data[threadIdx.x] += data[threadIdx.x + stride];
    __syncthreads();
  }
}
__global__ void count_launches(int* counter) { atomicAdd(counter, 1); }
int main() {
  constexpr int n = 1024;
  int host[n];
  for (int i = 0; i < n; ++i) host[i] = i;
  int *data = nullptr, *counter = nullptr;
  if (cudaMalloc(&data, sizeof host) != cudaSuccess) return 9;
  if (cudaMalloc(&counter, sizeof(int)) != cudaSuccess) return 9;
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(counter, 0, sizeof(int));
  reduce_in_place<<<1, n>>>(data, n);
  for (int i = 0; i < 5; ++i) count_launches<<<2, 32>>>(counter);
  int sum = 0, launches = 0;
  cudaMemcpy(&sum, data, sizeof sum, cudaMemcpyDeviceToHost);
  cudaMemcpy(&launches, counter, sizeof launches, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", sum, launches);
  return sum == n * (n - 1) / 2 && launches == 320 ? 0 : 1;
}
