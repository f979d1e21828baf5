// SPDX-License-Identifier: MIT
// Accesses beside buffers that hardware does not notice: behind an allocation or a variable, within
// its page, and behind a block's shared memory, within its last 128 bytes. With "far": beyond
// those, an error.
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>
__global__ void behind_an_allocation(int* data, int n) { data[n + threadIdx.x] = threadIdx.x; }

__global__ void behind_shared_memory(int* out, int offset) {
  __shared__ int s[33];  // 132 bytes, given as 256
  s[threadIdx.x] = threadIdx.x;
  s[threadIdx.x + 1 + offset] = threadIdx.x + 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x + 1 + offset];
}

__device__ unsigned char letter;

/// As the standard library of CUDA adds to a byte: to the word that it is in.
__global__ void beside_a_variable() { atomicAdd(reinterpret_cast<unsigned*>(&letter), 3u); }

int main(int count, char**) {
  int* data = nullptr;
  if (cudaMalloc(&data, 128) != cudaSuccess) return 9;
  behind_an_allocation<<<1, 32>>>(data, 32);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  beside_a_variable<<<1, 32>>>();
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  unsigned char sum = 0;
  cudaMemcpyFromSymbol(&sum, letter, 1);
  std::printf("%d\n", sum);
  behind_shared_memory<<<1, 32>>>(data, count > 1 ? 64 : 31);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int last = 0;
  const cudaError_t copied = cudaMemcpy(&last, data + 31, 4, cudaMemcpyDeviceToHost);
  std::printf("%s %d\n", cudaGetErrorString(copied), last);
}
