// SPDX-License-Identifier: MIT
// Copies whose direction their pointers do not have, and that the API takes; then such that are
// right.
#include <cstdio>
int main() {
  char *d_in = nullptr, *d_out = nullptr, *managed = nullptr, *pinned = nullptr, host[64] = {};
  cudaMalloc(&d_in, 64);
  cudaMalloc(&d_out, 64);
  cudaMallocManaged(&managed, 64);
  cudaMallocHost(&pinned, 64);
  cudaMemset(d_in, 0, 64);
  int failed = 0;
  failed += cudaMemcpy(d_out, d_in, 64, cudaMemcpyHostToDevice) != cudaSuccess;
  failed += cudaMemcpy(d_out, d_in, 64, cudaMemcpyDeviceToHost) != cudaSuccess;
  failed += cudaMemcpy(d_out, d_in, 64, cudaMemcpyHostToHost) != cudaSuccess;
  failed += cudaMemcpy(host, d_in, 64, cudaMemcpyHostToHost) != cudaSuccess;

  failed += cudaMemcpy(host, d_in, 64, cudaMemcpyDefault) != cudaSuccess;
  failed += cudaMemcpy(managed, d_in, 64, cudaMemcpyDeviceToHost) != cudaSuccess;
  failed += cudaMemcpy(managed, d_in, 64, cudaMemcpyDeviceToDevice) != cudaSuccess;
  failed += cudaMemcpy(d_out, managed, 64, cudaMemcpyHostToDevice) != cudaSuccess;
  failed += cudaMemcpy(pinned, d_in, 64, cudaMemcpyDeviceToHost) != cudaSuccess;
  failed += cudaMemcpy(pinned, host, 64, cudaMemcpyHostToHost) != cudaSuccess;
  failed += cudaMemcpy(d_out, d_in, 64, cudaMemcpyDeviceToDevice) != cudaSuccess;
  std::printf("%d\n", failed);
  cudaFree(d_in);
  cudaFree(d_out);
  cudaFree(managed);
  cudaFreeHost(pinned);
  return 0;
}
