// SPDX-License-Identifier: MIT
// One kernel that ends and one that does not, before its program is stopped; with an argument the
// program ends badly instead.
#include <cstdio>
__global__ void ends(int* words) { words[threadIdx.x] = 1; }

__global__ void waits(volatile int* words) {
  while (words[0] != 7) words[1]++;
}

int main(int count, char**) {
  int* words = nullptr;
  cudaMalloc(&words, 4096);
  ends<<<1, 32>>>(words);
  cudaDeviceSynchronize();
  if (count > 1) return 5;
  waits<<<1, 1>>>(words);
  std::printf("%d\n", cudaDeviceSynchronize());
  return 0;
}
