// SPDX-License-Identifier: MIT
// Cooperative launches that change their input. The grid does not wait for itself: how often it
// would look whether all blocks have come is chance, and so would be its counts.
#include <cooperative_groups.h>
#include <cstdio>
__global__ void add_in_place(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (cooperative_groups::this_grid().is_valid()) data[i] += 1;
}
int main() {
  int *data = nullptr, last = 0;
  if (cudaMalloc(&data, 16 * 128 * sizeof(int)) != cudaSuccess) return 9;
  cudaMemset(data, 0, 16 * 128 * sizeof(int));
  void* arguments[] = {&data};
  for (int i = 0; i < 3; ++i) {
    if (cudaLaunchCooperativeKernel(add_in_place, 16, 128, arguments) != cudaSuccess) return 8;
  }
  cudaMemcpy(&last, data + 16 * 128 - 1, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
  return last == 3 ? 0 : 1;
}
