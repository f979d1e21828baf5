// SPDX-License-Identifier: MIT
#include <cstdio>
#include "apart.h"
static __device__ int counter = 7;
static __device__ __noinline__ int twist(int x) { return x * counter - 1; }
__device__ int plus_one(int x) { return x + 1; }
__device__ int times_two(int x) { return twice(x); }
__device__ op table[2] = {plus_one, times_two};
__device__ int across(int x) { return twist(x) * factors[x % 4]; }
__global__ void second_kernel(int* out) {
  extern __shared__ int dyn[];
  dyn[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    printf("second %s %d %d\n", "two", twist(2), shared_total);
    shared_total += 10;
  }
  out[threadIdx.x] = dyn[31 - threadIdx.x] + twice(1);
}
static __global__ void own(int* out) { out[threadIdx.x] += 1; }
void second(int* d) {
  second_kernel<<<1, 32, 128>>>(d);
  own<<<1, 32>>>(d);
}
