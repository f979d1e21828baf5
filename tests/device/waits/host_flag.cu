// SPDX-License-Identifier: MIT
// A kernel waits for a flag that the host sets after it has launched more work behind it, as XLA's
// autotuner does.
#include "waiting.h"
__global__ void wait_for_host(volatile int* flag, int* data) {
  if (wait_for(flag, 1)) data[threadIdx.x] += 10;
}
int main() {
  int *flag = nullptr, *data = device_array();
  CHECK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  *flag = 0;
  add_one<<<8, 128>>>(data);
  wait_for_host<<<1, 64>>>(flag, data);
  add_one<<<8, 128>>>(data);
  *static_cast<volatile int*>(flag) = 1;
  CHECK(cudaDeviceSynchronize());
  finish(data);
}
