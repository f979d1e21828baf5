// SPDX-License-Identifier: MIT
// A block that is too large: the launch fails, and nobody asks.
#include <cstdio>
__global__ void fill(float* out) { out[threadIdx.x] = 1.0f; }

int main() {
  float* d_out = nullptr;
  cudaMalloc(&d_out, 2048 * sizeof(float));
  fill<<<1, 2048>>>(d_out);
  cudaFree(d_out);
  std::printf("done\n");
  return 0;
}
