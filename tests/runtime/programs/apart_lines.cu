// SPDX-License-Identifier: MIT
// A kernel whose function another file defines (apart_lines_function.cu), for the places of both.
#include <cstdlib>
__device__ float weigh(float x, int stride);

__global__ void strided(float* out, const float* in, int stride) {
  out[threadIdx.x] = weigh(in[32 * threadIdx.x], stride);
}

int main(int argc, char** argv) {
  float *in, *out;
  cudaMalloc(&in, 1024 * sizeof(float));
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(in, 0, 1024 * sizeof(float));
  strided<<<1, 32>>>(out, in, argc > 1 ? std::atoi(argv[1]) : 8);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
