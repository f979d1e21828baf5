// SPDX-License-Identifier: MIT
// Copies without a mistake, and no kernel.
#include <cuda_runtime.h>

int main() {
  int values[256] = {}, *memory = nullptr;
  cudaMalloc(&memory, sizeof values);
  cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy(values, memory, sizeof values, cudaMemcpyDeviceToHost);
  cudaFree(memory);
}
