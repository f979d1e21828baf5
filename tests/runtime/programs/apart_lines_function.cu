// SPDX-License-Identifier: MIT
__device__ float table[256];

__device__ float weigh(float x, int stride) {
  table[threadIdx.x * stride] = x;
  return 2 * x;
}
