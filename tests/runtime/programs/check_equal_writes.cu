// SPDX-License-Identifier: MIT
// All threads write the same: a remark, and no mistake.
#include <cstdio>
__global__ void flag(int* out) { *out = 1; }

int main() {
  int *d_out = nullptr, host = 0;
  cudaMalloc(&d_out, sizeof(int));
  flag<<<2, 64>>>(d_out);
  cudaMemcpy(&host, d_out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(d_out);
  std::printf("%d\n", host);
  return host == 1 ? 0 : 1;
}
