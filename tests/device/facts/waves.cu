// SPDX-License-Identifier: MIT
// The cost of a last wave of few blocks: microseconds and nanoseconds a block of launches of 1 to 6
// waves, each after the cache was flushed, medians of 25. A warp multiplies eight rows by a vector
// and adds `more` times in a row.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>
constexpr int threads = 128, rows = 8, most_waves = 6, processors = 132;

__device__ float sum_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

template <int more>
__global__ void __launch_bounds__(threads, 12)
    scores(float* out, const float4* vector, const float4* matrix) {
  const int lane = threadIdx.x % 32, warp = (blockIdx.x * threads + threadIdx.x) / 32;
  const float4 a = vector[lane];
  float own = 0;
#pragma unroll
  for (int row = 0; row < rows; ++row) {
    const float4 b = matrix[(std::size_t{rows} * warp + row) * 32 + lane];
    float sum = sum_of_warp(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
#pragma unroll
    for (int i = 0; i < more; ++i) sum = fmaf(sum, 1.0001f, 0.5f);
    if (lane == row) own = sum;
  }
  if (lane < rows) out[warp * rows + lane] = own;
}

template <int more>
void measure() {
  int at_a_time = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_a_time, scores<more>, threads, 0);
  const int wave = at_a_time * processors, warps = wave * most_waves * threads / 32;
  constexpr std::size_t cache = 200 << 20;
  float4 *matrix = nullptr, *vector = nullptr;
  float* out = nullptr;
  char* other = nullptr;
  cudaMalloc(&matrix, std::size_t(warps) * rows * 32 * sizeof(float4));
  cudaMalloc(&vector, 32 * sizeof(float4));
  cudaMalloc(&out, std::size_t(warps) * rows * sizeof(float));
  cudaMalloc(&other, cache);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (const double waves : {1.0, 1.1, 1.33, 1.5, 2.0, 2.33, 3.0, 4.0, 6.0}) {
    const int blocks = static_cast<int>(wave * waves);
    std::vector<float> times;
    for (int i = 0; i < 25; ++i) {
      cudaMemsetAsync(other, i, cache);
      cudaEventRecord(begin);
      scores<more><<<blocks, threads>>>(out, vector, matrix);
      cudaEventRecord(end);
      cudaEventSynchronize(end);
      float milliseconds = 0;
      cudaEventElapsedTime(&milliseconds, begin, end);
      times.push_back(1000 * milliseconds);
    }
    std::nth_element(times.begin(), times.begin() + 12, times.end());
    std::printf("%3d more, %d blocks at a time, %.2f waves: %6.2f us, %.3f ns a block\n", more,
                at_a_time, waves, times[12], 1000 * times[12] / blocks);
  }
  for (void* memory : {static_cast<void*>(matrix), static_cast<void*>(vector),
                       static_cast<void*>(out), static_cast<void*>(other)}) {
    cudaFree(memory);
  }
}

int main() {
  measure<0>();
  measure<16>();
  measure<64>();
  measure<160>();
}
