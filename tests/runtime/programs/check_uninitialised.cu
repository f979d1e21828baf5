// SPDX-License-Identifier: MIT
// A kernel reads what nobody set, and the host copies what no kernel wrote.
#include <cstdio>
__global__ void twice(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

int main() {
  const int n = 256;
  float *d_in = nullptr, *d_out = nullptr, host[n] = {};
  cudaMalloc(&d_in, n * sizeof(float));
  cudaMalloc((void**)&d_out, n * sizeof(float));
  cudaMemcpy(d_in, host, n / 2 * sizeof(float), cudaMemcpyHostToDevice);
  twice<<<1, n>>>(d_in, d_out, n - 1);
  cudaMemcpy(host, d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  std::printf("%g\n", host[0]);
  return 0;
}
