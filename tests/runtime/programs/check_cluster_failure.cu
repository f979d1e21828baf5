// SPDX-License-Identifier: MIT
// A kernel of a cluster that stores through a null pointer.
#include <cuda_runtime.h>

#include <cstdio>
__global__ void __cluster_dims__(2, 1, 1) fails(int* nothing) {
  if (threadIdx.x == 3) *nothing = 1;
}

int main() {
  fails<<<2, 32>>>(nullptr);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
