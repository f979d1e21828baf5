// SPDX-License-Identifier: MIT
// A kernel in one stream waits for a kernel in another that is launched later.
#include "waiting.h"
__global__ void wait_for_stream(volatile int* flag, int* data) {
  if (wait_for(flag, 1)) data[threadIdx.x] += 10;
}
__global__ void release(volatile int* flag) { *flag = 1; }
int main() {
  int *flag = nullptr, *data = device_array();
  CHECK(cudaMalloc(&flag, sizeof *flag));
  CHECK(cudaMemset(flag, 0, sizeof *flag));
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaFuncSetCacheConfig(release,
                               cudaFuncCachePreferNone));  // loads its code before anything waits
  CHECK(cudaDeviceSynchronize());
  wait_for_stream<<<1, 64, 0, first>>>(flag, data);
  release<<<1, 1, 0, second>>>(flag);
  CHECK(cudaDeviceSynchronize());
  finish(data);
}
