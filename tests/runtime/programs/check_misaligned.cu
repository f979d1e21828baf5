// SPDX-License-Identifier: MIT
// A vector of four floats at an address that is a multiple of 4 only.
#include <cstdio>
__global__ void fill(float* out) { *reinterpret_cast<float4*>(out + 1) = make_float4(1, 2, 3, 4); }

int main() {
  float* d_out = nullptr;
  cudaMalloc(&d_out, 32 * sizeof(float));
  fill<<<1, 1>>>(d_out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_out);
  return 0;
}
