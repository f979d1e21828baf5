// SPDX-License-Identifier: MIT
// The last thread writes one element behind its buffer, which hardware does not notice.
#include <cstdio>
__global__ void fill(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 1.0f;
}

int main() {
  const int n = 1000;
  float* d_out = nullptr;
  cudaMalloc(&d_out, n * sizeof(float));
  fill<<<4, 256>>>(d_out, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(d_out);
  std::printf("%s\n", cudaGetErrorString(error));
  return 0;
}
