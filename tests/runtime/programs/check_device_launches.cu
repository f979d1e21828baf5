// SPDX-License-Identifier: MIT
// Launches by kernels that the device refuses, on a line that names the kind at its end, and such
// after which the kernel asks.
#include "races.h"

__global__ void child(int* to) { to[threadIdx.x % 32] = 1; }

__global__ void launches_too_many(int* to) {
  if (threadIdx.x == 0) child<<<1, 2048>>>(to);  // ! failed launch
}

__global__ void launches_too_many_and_asks(int* to) {
  if (threadIdx.x != 0) return;
  child<<<1, 2048>>>(to);
  if (cudaGetLastError() != cudaSuccess) child<<<1, 32>>>(to);
}

__global__ void launches(int* to) {
  if (threadIdx.x == 0) child<<<1, 32>>>(to);
}

int main() {
  Case c;
  launches_too_many<<<1, 32>>>(c.x);
  CHECKED(cudaDeviceSynchronize());
  launches_too_many_and_asks<<<1, 32>>>(c.x);
  launches<<<1, 32>>>(c.x);
  CHECKED(cudaDeviceSynchronize());
}
