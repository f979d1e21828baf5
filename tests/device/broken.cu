// SPDX-License-Identifier: MIT
// Good kernels, one that reads where nothing is, one that never ends.
__global__ void good(int* out) { out[threadIdx.x] = threadIdx.x; }
__global__ void bad(int* out) { out[threadIdx.x] = reinterpret_cast<int*>(0x10)[threadIdx.x]; }
__global__ void endless(volatile int* out) {
  while (out[0] != 12345) out[1] += 1;
}
