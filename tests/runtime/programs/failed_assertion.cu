// SPDX-License-Identifier: MIT
// An assertion that fails: CUDA's own words on standard error, and an error that stays.
#include <unistd.h>
#include <cassert>
#include <cstdio>
#line 7 "failed_assertion.cu"
__global__ void checks(int n) { assert(threadIdx.x < n); }

int main() {
  dup2(1, 2);
  checks<<<1, 4>>>(3);
  std::printf("%d\n", cudaDeviceSynchronize());
  std::printf("%d\n", cudaDeviceSynchronize());
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
