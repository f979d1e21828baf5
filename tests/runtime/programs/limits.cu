// Limits of a device: how it rounds what it is given, and which it holds once a kernel needs them.
#include <cstdint>
#include <cstdio>

#define ASK(call)                                                       \
  do {                                                                  \
    const cudaError_t result = (call);                                  \
    std::printf("%s = %s | last %s\n", #call, cudaGetErrorName(result), \
                cudaGetErrorName(cudaGetLastError()));                  \
  } while (0)
#define SHOW(number) std::printf("%s = %lld\n", #number, static_cast<long long>(number))
#define GET(limit)                    \
  ASK(cudaDeviceGetLimit(&v, limit)); \
  SHOW(v)

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
  ASK(cudaDeviceGetLimit(&v, (cudaLimit)99));
  ASK(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  ASK(cudaDeviceSetLimit((cudaLimit)99, 1));
  for (const size_t n : {size_t{0}, size_t{1}, size_t{1000}, size_t{65536}, size_t{523000},
                         size_t{600000}, size_t{1} << 40}) {
    std::printf("stack %zu\n", n);
    ASK(cudaDeviceSetLimit(cudaLimitStackSize, n));
    GET(cudaLimitStackSize);
  }
  for (const size_t n : {0, 1, 1 << 20, 1000001, 2 << 20}) {
    std::printf("fifo %zu\n", n);
    ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, n));
    GET(cudaLimitPrintfFifoSize);
  }
  for (const size_t n : {0, 1, 5000000, 16 << 20}) {
    std::printf("heap %zu\n", n);
    ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, n));
    GET(cudaLimitMallocHeapSize);
  }
  for (const size_t n : {15 << 20, 64 << 20}) {
    take<<<1, 1>>>(n, d);
    ASK(cudaDeviceSynchronize());
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    SHOW(h);
  }
  ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  pf<<<1, 1>>>(1);
  ASK(cudaDeviceSynchronize());
  ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
  for (const size_t n : {0, 100, 128, 129}) {
    ASK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, n));
    GET(cudaLimitMaxL2FetchGranularity);
  }
  ASK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4));
  ASK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
  GET(cudaLimitDevRuntimePendingLaunchCount);
  cudaFuncCache fc;
  ASK(cudaDeviceGetCacheConfig(&fc));
  SHOW(fc);
  ASK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  ASK(cudaDeviceGetCacheConfig(&fc));
  SHOW(fc);
  ASK(cudaDeviceReset());
  GET(cudaLimitStackSize);
  GET(cudaLimitMallocHeapSize);
  GET(cudaLimitPrintfFifoSize);
}
