// SPDX-License-Identifier: MIT
// Copies, also to and from variables, and no kernel.
#include <cstdio>

#include "runtime_program.h"
namespace {

__device__ int dv[4] = {5, 6, 7, 8};
__constant__ int cv[2] = {11, 12};
__managed__ int mv = 21;

}  // namespace

int main() {
  int host[4] = {1, 2, 3, 4}, back[4] = {};
  int* device = nullptr;
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost);
  cudaFree(device);
  std::printf("%d\n", back[3]);

  int h[4] = {};
  size_t n = 0;
  R(cudaGetSymbolSize(&n, dv));
  I(n);
  R(cudaMemcpyFromSymbol(h, dv, 16));
  I(h[3]);
  R(cudaMemcpyFromSymbol(h, cv, 8));
  I(h[1]);
  R(cudaMemcpyToSymbol(cv, h, 4, 4));
  R(cudaMemcpyFromSymbol(h, cv, 8));
  I(h[0]);
  I(h[1]);
  I(mv);
}
