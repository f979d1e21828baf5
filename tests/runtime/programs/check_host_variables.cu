// SPDX-License-Identifier: MIT
// Host code and variables of the device: it has one of its own by each name. Setting that reaches
// no kernel, unless it is copied. And what the last kernel prints is waited for by nobody.
#include <cstdio>

#include <cuda_runtime.h>
__device__ float scale = 2;
__device__ int offsets[4];
__device__ int count;
__device__ int later;

__global__ void apply(float* to) {
  if (threadIdx.x < count) to[threadIdx.x] = scale * threadIdx.x + offsets[threadIdx.x % 4];
}
__global__ void use(float* to) { to[0] = later; }
__global__ void greet() { std::printf("hello\n"); }

int main() {
  float* to = nullptr;
  cudaMalloc(&to, 32 * sizeof(float));
  cudaMemset(to, 0, 32 * sizeof(float));
  count = 32;  // as the place of what is copied
  cudaMemcpyToSymbol(count, &count, sizeof count);
  apply<<<1, 32>>>(to);
  later = 5;  // nobody has used it by the time when it is copied
  scale = 3;
  offsets[1] = 7;
  for (int i = 0; i < 2; ++i) apply<<<1, 32>>>(to);
  cudaMemcpyToSymbol(later, &later, sizeof later);
  use<<<1, 1>>>(to);
  greet<<<1, 1>>>();
  cudaDeviceSynchronize();
  cudaFree(to);
  greet<<<1, 1>>>();
}
