// SPDX-License-Identifier: MIT
// Half of a warp goes past a barrier that the other half waits at.
#include <cstdio>
__global__ void half(int* out) {
  __shared__ int row[32];
  row[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 16) __syncthreads();
  out[threadIdx.x] = row[threadIdx.x];
}

int main() {
  int* d_out = nullptr;
  cudaMalloc(&d_out, 32 * sizeof(int));
  half<<<1, 32>>>(d_out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_out);
  return 0;
}
