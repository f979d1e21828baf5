// SPDX-License-Identifier: MIT
// The first of two files that are compiled apart (-rdc=true).
#include <cstdio>
#include "apart.h"
static __device__ int counter = 3;  // each file has its own
__constant__ int factors[4];
__device__ int shared_total = 5;
static __device__ __noinline__ int twist(int x) { return x * counter + 1; }
__global__ void first(int* out) {
  const int i = threadIdx.x;
  if (i == 0) {
    printf("first %s %d\n", "one", twist(2));
    shared_total += 1;
  }
  op f = table[i % 2];
  out[i] = twist(i) + across(i) + f(i);
}
static __global__ void own(int* out) { out[threadIdx.x] += 1000; }
int main() {
  int h[32], *d;
  int k[4] = {2, 3, 5, 7};
  cudaMalloc(&d, sizeof h);
  cudaMemcpyToSymbol(factors, k, sizeof k);
  first<<<1, 32>>>(d);
  own<<<1, 32>>>(d);
  second(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  int t = 0;
  cudaMemcpyFromSymbol(&t, shared_total, 4);
  printf("%d %d %d %d, total %d, %s\n", h[0], h[1], h[2], h[31], t,
         cudaGetErrorName(cudaGetLastError()));
}
