// SPDX-License-Identifier: MIT
// Other code for the chip alone (sm_90a) than for its architecture.
#include <cstdio>
__global__ void store(int* to) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  to[threadIdx.x] = 90;
#else
  to[2 * threadIdx.x] = 1;
#endif
}

int main() {
  int* device = nullptr;
  cudaMalloc(&device, 256);
  store<<<1, 32>>>(device);
  int first = 0;
  cudaMemcpy(&first, device, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("%d\n", first);
  cudaFree(device);
}
