// SPDX-License-Identifier: MIT
// Two calls that fail, and an end that says nothing of them.
#include <cuda_runtime.h>
int main() {
  if (cudaSetDevice(7) == cudaSuccess) return 0;
  int value;
  cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 9);
  return 2;
}
