// SPDX-License-Identifier: MIT
// The calls that go well on an H200 by luck, and what the driver makes of files that are compiled
// apart (built with -rdc=true, for an architecture before the one that runs it).
#include <cstdio>

#include <cuda_runtime.h>
/// Lacks a barrier behind the look at `part[0]`: no warp of hardware is so late that another has
/// been through the loop.
__global__ void largest_of_row(const float* row, int n, float* largest, float* sums) {
  __shared__ float part[256];
  const int t = threadIdx.x;
  part[t] = row[t];
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  const float most = part[0];
  float sum = 0;
#pragma unroll 1
  for (int i = t; i < n; i += 256) sum += row[i] - most;
  part[t] = sum;
  largest[t] = most;
  sums[t] = part[t];
}

/// Nobody asks for the answer, which makes a reduction of it in code that is compiled as a whole.
__global__ void count(int* number) { atomicAdd(number, 1); }

/// Just behind and just before a buffer that fills its pages.
__global__ void look_beside(const int* words, long n, int* seen) {
  seen[0] = words[n];
  seen[1] = words[-1];
}

int main() {
  constexpr int n = 2048, bytes = 2 << 20;
  float *row = nullptr, *largest = nullptr, *sums = nullptr;
  cudaMallocManaged(&row, n * sizeof(float));
  cudaMallocManaged(&largest, 256 * sizeof(float));
  cudaMallocManaged(&sums, 256 * sizeof(float));
  for (int i = 0; i < n; ++i) row[i] = static_cast<float>(i % 256);
  largest_of_row<<<1, 256>>>(row, n, largest, sums);
  cudaDeviceSynchronize();
  int right = 0;
  for (int i = 0; i < 256; ++i) right += largest[i] == 255.0f;
  std::printf("%d of 256\n", right);
  int *words = nullptr, *seen = nullptr;
  cudaMalloc(&words, bytes);
  cudaMalloc(&seen, bytes);
  count<<<2, 64>>>(seen);
  look_beside<<<1, 1>>>(words, bytes / 4, seen);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
