// SPDX-License-Identifier: MIT
// The functions that kernels can call: printf, malloc, free, grid-wide barriers; a device's limits.
#include <cooperative_groups.h>
#include <cstdio>
__global__ void speak(int value) {
  printf("block %d, thread %d: %d %s %.2f\n", blockIdx.x, threadIdx.x, value, "text", 0.5);
}

/// A device's printf leaves what it does not know.
__global__ void speak_on() {
  printf("%*d|%-*d|%.*f\n", 6, 42, 6, 42, 3, 2.0);
  printf("%zu %td\n", (size_t)12345678901ull, (ptrdiff_t)-5);
  printf("%5%|\n");
}

__global__ void take(size_t bytes, int* got) {
  void* memory = malloc(bytes);
  *got = memory != nullptr;
  free(memory);
}

__global__ void meet(int* arrived, int* seen) {
  atomicAdd(arrived, 1);
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) seen[blockIdx.x] = *arrived;
}

int main() {
  size_t value = 0;
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20)));
  cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize);
  std::printf("fifo %zu\n", value);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitStackSize, 4096)));
  cudaDeviceGetLimit(&value, cudaLimitStackSize);
  std::printf("stack %zu\n", value);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20)));

  speak<<<2, 2>>>(7);
  std::printf("before they are waited for\n");
  std::fflush(stdout);
  cudaDeviceSynchronize();
  speak_on<<<1, 1>>>();
  cudaDeviceSynchronize();

  int* got;
  cudaMallocManaged(&got, 2 * sizeof(int));
  take<<<1, 1>>>(1 << 20, got);
  take<<<1, 1>>>(64 << 20, got + 1);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("small %d, large %d\n", got[0], got[1]);

  int *arrived, *seen;
  cudaMallocManaged(&arrived, sizeof(int));
  cudaMallocManaged(&seen, 8 * sizeof(int));
  *arrived = 0;
  void* arguments[] = {&arrived, &seen};
  std::printf("%s\n", cudaGetErrorName(cudaLaunchCooperativeKernel(
                          reinterpret_cast<void*>(meet), dim3(8), dim3(32), arguments, 0, 0)));
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("seen %d %d\n", seen[0], seen[7]);
  std::printf("%s\n",
              cudaGetErrorName(cudaLaunchCooperativeKernel(
                  reinterpret_cast<void*>(meet), dim3(1 << 20), dim3(32), arguments, 0, 0)));
}
