// SPDX-License-Identifier: MIT
// Host code reads device memory, and is ended for it.
#include <cstdio>
int main() {
  float* d_in = nullptr;
  cudaMalloc(&d_in, 32 * sizeof(float));
  cudaMemset(d_in, 0, 32 * sizeof(float));
  std::printf("%g\n", d_in[3]);
  return 0;
}
