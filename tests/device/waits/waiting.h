// SPDX-License-Identifier: MIT
// The programs of this folder have kernels that wait. Each prints what it computed and ends by
// itself. A kernel gives up after 20 seconds, so that a profiler that holds the program costs a
// wrong result and no GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    const cudaError_t status_ = (call);                                            \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(9);                                                                \
    }                                                                              \
  } while (0)

__device__ inline unsigned long long now_ns() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

/// Waits until `*flag` is at least `value`; false when it gave up.
__device__ inline bool wait_for(volatile int* flag, int value) {
  const unsigned long long begin = now_ns();
  while (*flag < value) {
    if (now_ns() - begin > 20'000'000'000ull) return false;
  }
  __threadfence_system();
  return true;
}

/// The program's ordinary kernel: 8 blocks of 128 threads add 1, with 32 requests to load and 32 to
/// store.
__global__ void add_one(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
constexpr int count = 8 * 128;

inline int* device_array() {
  int* data = nullptr;
  // Loads its code now: a first launch behind work that waits for the host would wait too.
  CHECK(cudaFuncSetCacheConfig(add_one, cudaFuncCachePreferNone));
  CHECK(cudaMalloc(&data, count * sizeof(int)));
  CHECK(cudaMemset(data, 0, count * sizeof(int)));
  return data;
}

/// Launches the ordinary kernel three times and prints the sum of its array: 3,072 more than
/// before.
inline void finish(int* data) {
  for (int i = 0; i < 3; ++i) add_one<<<8, 128>>>(data);
  CHECK(cudaDeviceSynchronize());
  static int host[count];
  CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
  long sum = 0;
  for (const int value : host) sum += value;
  std::printf("sum %ld\n", sum);
}
