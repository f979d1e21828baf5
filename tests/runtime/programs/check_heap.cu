// SPDX-License-Identifier: MIT
// The next kernel finds all memory of malloc that one kernel leaves: all but what nobody set.
#include <cstdio>
__device__ int* kept;

__global__ void make() {
  kept = static_cast<int*>(malloc(16 * sizeof(int)));
  for (int i = 0; i < 15; ++i) kept[i] = i;
}

__global__ void use(int* out) { out[0] = kept[3] + kept[14]; }

__global__ void use_too_much(int* out) {
  out[1] = kept[15];
  free(kept);
}

int main() {
  int* d_out = nullptr;
  int out[2] = {};
  cudaMalloc(&d_out, sizeof out);
  cudaMemset(d_out, 0, sizeof out);
  make<<<1, 1>>>();
  use<<<1, 1>>>(d_out);
  use_too_much<<<1, 1>>>(d_out);
  if (cudaGetLastError() != cudaSuccess) return 1;
  if (cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  cudaFree(d_out);
  std::printf("%d\n", out[0]);
}
