// SPDX-License-Identifier: MIT
// Copies in a direction that their pointers do not have, and past the end of a buffer.
#include <cstdio>
int main() {
  float *d_in = nullptr, host[64] = {};
  cudaMalloc(&d_in, 32 * sizeof(float));
  const cudaError_t back = cudaMemcpy(host, d_in, 128, cudaMemcpyHostToDevice);
  const cudaError_t there = cudaMemcpy(d_in, host, 128, cudaMemcpyDeviceToHost);
  const cudaError_t past = cudaMemcpy(d_in, host, sizeof host, cudaMemcpyHostToDevice);
  const cudaError_t set = cudaMemset(d_in, 0, sizeof host);
  cudaFree(d_in);
  std::printf("%d %d %d %d\n", back, there, past, set);
  return 0;
}
