// SPDX-License-Identifier: MIT
// A kernel and a copy use memory that was freed.
#include <cstdio>
__global__ void fill(float* out) { out[threadIdx.x] = 1.0f; }

int main() {
  float *d_out = nullptr, host[32] = {};
  cudaMalloc(&d_out, sizeof host);
  fill<<<1, 32>>>(d_out);
  cudaFree(d_out);
  fill<<<1, 32>>>(d_out);
  const cudaError_t error = cudaMemcpy(host, d_out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%s\n", cudaGetErrorString(error));
  return 0;
}
