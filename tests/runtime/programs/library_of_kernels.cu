// SPDX-License-Identifier: MIT
// A library with a kernel, and a runtime of its own, that a program is linked with.
#include <cuda_runtime.h>
namespace {

__global__ void of_library(int* out) { out[threadIdx.x] = threadIdx.x + 1; }

}  // namespace

extern "C" int sum_of_library() {
  int* data = nullptr;
  int numbers[32] = {}, sum = 0;
  if (cudaMalloc(&data, sizeof numbers) != cudaSuccess) return -1;
  of_library<<<1, 32>>>(data);
  if (cudaMemcpy(numbers, data, sizeof numbers, cudaMemcpyDeviceToHost) != cudaSuccess) return -2;
  cudaFree(data);
  for (const int number : numbers) sum += number;
  return sum;
}
