// SPDX-License-Identifier: MIT
// Work of every kind in a known order, for `profile --trace`. Each kernel notes when it began and
// ended by the GPU's own clock; the program prints "name start end" for each, in ns.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr std::size_t bytes = 1 << 20;

__device__ unsigned long long times[64];

__device__ unsigned long long now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/// Runs for that long, in one thread.
__global__ void spin(int place, unsigned long long ns) {
  times[2 * place] = now();
  while (now() < times[2 * place] + ns) continue;
  times[2 * place + 1] = now();
}

__global__ void touch(char* data, std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i < count) data[i] += 1;
}

int main() {
  char *a = nullptr, *b = nullptr, *pinned = nullptr, *managed = nullptr;
  std::vector<char> pageable(bytes, 1);
  if (cudaMalloc(&a, bytes) != cudaSuccess || cudaMalloc(&b, bytes) != cudaSuccess) return 9;
  if (cudaMallocHost(&pinned, bytes) != cudaSuccess) return 9;
  if (cudaMallocManaged(&managed, 8 * bytes) != cudaSuccess) return 9;
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t done;
  cudaEventCreate(&done);

  cudaMemcpy(a, pageable.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpyAsync(a, pinned, bytes / 2, cudaMemcpyHostToDevice, first);
  cudaMemcpyAsync(b, a, bytes / 4, cudaMemcpyDeviceToDevice, first);
  cudaMemsetAsync(b, 0, bytes / 8, first);
  spin<<<1, 1, 0, first>>>(0, 3'000'000);
  cudaEventRecord(done, first);
  cudaStreamWaitEvent(second, done, 0);
  spin<<<1, 1, 256, second>>>(1, 2'000'000);
  cudaMemcpyAsync(pinned, b, bytes / 16, cudaMemcpyDeviceToHost, second);
  if (cudaDeviceSynchronize() != cudaSuccess) return 8;

  std::memset(managed, 1, 8 * bytes);
  touch<<<8 * bytes / 256, 256>>>(managed, 8 * bytes);
  if (cudaDeviceSynchronize() != cudaSuccess) return 8;
  long sum = 0;
  for (std::size_t i = 0; i < 8 * bytes; i += 4096) sum += managed[i];

  unsigned long long noted[64];
  cudaMemcpyFromSymbol(noted, times, sizeof noted);
  for (int place = 0; place < 2; ++place) {
    std::printf("spin %llu %llu\n", noted[2 * place], noted[2 * place + 1]);
  }
  std::printf("sum %ld\n", sum);
  return sum == 2 * static_cast<long>(8 * bytes / 4096) ? 0 : 1;
}
