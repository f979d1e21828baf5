// SPDX-License-Identifier: MIT
// One kernel in three sizes, of which the second costs most. A warp's loads lie 8 floats apart.
#include <cstdio>

__global__ void far_apart(float* out, const float* in) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x * 8];
}

int main() {
  float *out = nullptr, *in = nullptr;
  cudaMalloc(&out, 1 << 16);
  cudaMalloc(&in, 1 << 16);
  cudaMemset(in, 0, 1 << 16);
  far_apart<<<1, 32>>>(out, in);
  far_apart<<<40, 32>>>(out, in);
  far_apart<<<2, 32>>>(out, in);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
