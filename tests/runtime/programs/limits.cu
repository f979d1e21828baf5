// SPDX-License-Identifier: MIT
// Limits of a device: how it rounds what it is given, and which it holds once a kernel needs them.
#include <cstdint>
#include <cstdio>

#include "runtime_program.h"
#define GET(limit)                  \
  R(cudaDeviceGetLimit(&v, limit)); \
  I(v)

__global__ void take(size_t bytes, int* got) {
  void* memory = malloc(bytes);
  *got = memory != nullptr;
  free(memory);
}
__global__ void pf(int i) { printf("line %d\n", i); }

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  size_t v;
  int *d, h;
  cudaMalloc(&d, 4);
  GET(cudaLimitStackSize);
  GET(cudaLimitPrintfFifoSize);
  GET(cudaLimitMallocHeapSize);
  GET(cudaLimitDevRuntimeSyncDepth);
  GET(cudaLimitDevRuntimePendingLaunchCount);
  GET(cudaLimitMaxL2FetchGranularity);
  R(cudaDeviceGetLimit(&v, (cudaLimit)99));
  R(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  R(cudaDeviceSetLimit((cudaLimit)99, 1));
  for (const size_t n : {size_t{0}, size_t{1}, size_t{1000}, size_t{65536}, size_t{523000},
                         size_t{600000}, size_t{1} << 40}) {
    std::printf("stack %zu\n", n);
    R(cudaDeviceSetLimit(cudaLimitStackSize, n));
    GET(cudaLimitStackSize);
  }
  for (const size_t n : {0, 1, 1 << 20, 1000001, 2 << 20}) {
    std::printf("fifo %zu\n", n);
    R(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, n));
    GET(cudaLimitPrintfFifoSize);
  }
  for (const size_t n : {0, 1, 5000000, 16 << 20}) {
    std::printf("heap %zu\n", n);
    R(cudaDeviceSetLimit(cudaLimitMallocHeapSize, n));
    GET(cudaLimitMallocHeapSize);
  }
  for (const size_t n : {15 << 20, 64 << 20}) {
    take<<<1, 1>>>(n, d);
    R(cudaDeviceSynchronize());
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    I(h);
  }
  R(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  R(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  pf<<<1, 1>>>(1);
  R(cudaDeviceSynchronize());
  R(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  R(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
  for (const size_t n : {0, 100, 128, 129}) {
    R(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, n));
    GET(cudaLimitMaxL2FetchGranularity);
  }
  R(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4));
  R(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
  GET(cudaLimitDevRuntimePendingLaunchCount);
  cudaFuncCache fc;
  R(cudaDeviceGetCacheConfig(&fc));
  I(fc);
  R(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  R(cudaDeviceGetCacheConfig(&fc));
  I(fc);
  R(cudaDeviceReset());
  GET(cudaLimitStackSize);
  GET(cudaLimitMallocHeapSize);
  GET(cudaLimitPrintfFifoSize);
}
