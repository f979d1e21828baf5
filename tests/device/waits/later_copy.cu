// SPDX-License-Identifier: MIT
// A kernel waits for a copy in another stream that is issued after it.
#include "waiting.h"
__global__ void wait_for_copy(volatile int* flag, int* data) {
  if (wait_for(flag, 1)) data[threadIdx.x] += 10;
}
int main() {
  int *flag = nullptr, *one = nullptr, *data = device_array();
  CHECK(cudaMalloc(&flag, sizeof *flag));
  CHECK(cudaMemset(flag, 0, sizeof *flag));
  CHECK(cudaHostAlloc(&one, sizeof *one, cudaHostAllocDefault));
  *one = 1;
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  wait_for_copy<<<1, 64, 0, first>>>(flag, data);
  CHECK(cudaMemcpyAsync(flag, one, sizeof *one, cudaMemcpyHostToDevice, second));
  CHECK(cudaDeviceSynchronize());
  finish(data);
}
