// SPDX-License-Identifier: MIT
// The cost of atomics whose lanes meet: microseconds, the least of five launches, of plain atomics
// and of those that __match_any_sync brings together in each warp first. Blocks of 256 threads go
// to 1 to 256 places at random, next to each other or ("s") spread over 256.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>
enum Way { increments, increments_by_one, sums, sums_by_one, float_sums };

constexpr int threads = 256, blocks = 264, values = 64 * threads;

template <int WAY>
__device__ void add(unsigned* places, float* floats, unsigned place, unsigned value) {
  const bool by_one = WAY == increments_by_one || WAY == sums_by_one;
  const unsigned meeting = by_one ? __match_any_sync(~0u, place) : 0;
  const bool acts = !by_one || __ffs(meeting) - 1 == threadIdx.x % 32;
  if (WAY == sums_by_one) value = __reduce_add_sync(meeting, value);
  if (!acts) return;
  if (WAY == increments) atomicAdd(&places[place], 1u);
  if (WAY == increments_by_one) atomicAdd(&places[place], static_cast<unsigned>(__popc(meeting)));
  if (WAY == sums || WAY == sums_by_one) atomicAdd(&places[place], value);
  if (WAY == float_sums) atomicAdd(&floats[place], static_cast<float>(value));
}

template <int WAY>
__global__ void in_shared_memory(unsigned* out, const unsigned* in) {
  __shared__ unsigned places[threads];
  __shared__ float floats[threads];
  const int t = threadIdx.x;
  places[t] = 0;
  floats[t] = 0;
  __syncthreads();
  for (int k = 0; k < 256; k++) {
    const unsigned place = in[(k * threads + t) % values];
    add<WAY>(places, floats, place, place + k + 1);
  }
  __syncthreads();
  out[blockIdx.x * threads + t] = places[t] + static_cast<unsigned>(floats[t]);
}

template <int WAY>
__global__ void in_global_memory(unsigned* out, const unsigned* in) {
  for (int k = 0; k < 64; k++) {
    const unsigned place = in[k * threads + threadIdx.x];
    add<WAY>(out, nullptr, place, place + k + 1);
  }
}

using Kernel = void (*)(unsigned*, const unsigned*);

float microseconds(Kernel kernel, unsigned* out, const unsigned* in) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float least = 1e9f;
  for (int i = 0; i < 6; i++) {
    float milliseconds = 0;
    cudaEventRecord(begin);
    kernel<<<blocks, threads>>>(out, in);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    if (i > 0) least = std::min(least, 1000 * milliseconds);
  }
  return least;
}

int main() {
  unsigned *out, *in;
  if (cudaMalloc(&out, blocks * threads * 4) != cudaSuccess) return 1;
  if (cudaMalloc(&in, values * 4) != cudaSuccess) return 1;
  const Kernel kernels[] = {in_shared_memory<increments>,
                            in_shared_memory<increments_by_one>,
                            in_shared_memory<sums>,
                            in_shared_memory<sums_by_one>,
                            in_shared_memory<float_sums>,
                            in_global_memory<increments>,
                            in_global_memory<increments_by_one>,
                            in_global_memory<sums>,
                            in_global_memory<sums_by_one>};
  std::printf(
      "places | shared: +1, by one; +value, by one; float | global: +1, by one; +value, by one\n");
  for (const unsigned places : {1, 2, 4, 8, 16, 32, 64, 256}) {
    for (const bool is_spread : {false, true}) {
      std::vector<unsigned> host(values);
      unsigned random = 12345;
      for (unsigned& value : host) {
        random = random * 1664525 + 1013904223;
        value = (random >> 16) % places * (is_spread ? 256 / places : 1);
      }
      cudaMemcpy(in, host.data(), values * 4, cudaMemcpyHostToDevice);
      std::printf("%3u%s", places, is_spread ? "s" : " ");
      for (const Kernel kernel : kernels) std::printf(" %8.1f", microseconds(kernel, out, in));
      std::printf("\n");
    }
  }
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
