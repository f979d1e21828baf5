// SPDX-License-Identifier: MIT
// Threads that read, compute and write back to the same place: what one of them writes is lost, and
// an atomic is what helps, no barrier. The host allocates several buffers on one line.
#include <cstdio>

#include <cuda_runtime.h>
__global__ void count(const int* in, int n, int* bins) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[in[i] % 10]++;
}

// All lanes read the same, and so write the same.
__global__ void count_all(int* total) { *total = *total + 1; }

__global__ void add_up(const float* in, float* sum) {
  __shared__ float part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  part += 2 * in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) *sum = part;
}

__global__ void greatest(const int* in, int* most) { *most = max(*most, in[threadIdx.x]); }

// All threads would write the same as one: a remark.
__global__ void mark(unsigned* flags) { *flags |= 4; }

// No update: what is read lies elsewhere, and a barrier is what is missing.
__global__ void add_next(int* values) {
  __shared__ int shared[64];
  shared[threadIdx.x] = values[threadIdx.x];
  if (threadIdx.x < 63) shared[threadIdx.x] += shared[threadIdx.x + 1];
  __syncthreads();
  values[threadIdx.x] = shared[threadIdx.x];
}

int main() {
  int *in = nullptr, *bins = nullptr;
  float *floats = nullptr, *sum = nullptr;
  if (cudaMalloc(&in, 64 * sizeof(int)) || cudaMalloc(&bins, 10 * sizeof(int))) return 1;
  cudaMalloc(&floats, 64 * sizeof(float)), cudaMalloc(&sum, sizeof(float));
  int values[64];
  float numbers[64];
  for (int i = 0; i < 64; ++i) numbers[i] = values[i] = i;
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy(floats, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 10 * sizeof(int));
  count<<<2, 32>>>(in, 64, bins);
  count_all<<<1, 32>>>(bins);
  add_up<<<1, 64>>>(floats, sum);
  greatest<<<1, 64>>>(in, bins);
  mark<<<1, 64>>>(reinterpret_cast<unsigned*>(bins));
  add_next<<<1, 64>>>(in);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(in), cudaFree(bins), cudaFree(floats), cudaFree(sum);
}
