// SPDX-License-Identifier: MIT
// Neighbours in shared memory, read by another warp with no barrier between.
#include <cstdio>
__global__ void shift(int* out) {
  __shared__ int row[64];
  row[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = row[63 - threadIdx.x];
}

int main() {
  int* d_out = nullptr;
  cudaMalloc(&d_out, 64 * sizeof(int));
  shift<<<1, 64>>>(d_out);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(d_out);
  std::printf("%s\n", cudaGetErrorString(error));
  return 0;
}
