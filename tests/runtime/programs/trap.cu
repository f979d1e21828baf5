// SPDX-License-Identifier: MIT
// __trap() is a failed launch.
#include <cstdio>
__global__ void ends() { __trap(); }

int main() {
  ends<<<1, 1>>>();
  std::printf("%d\n", cudaGetLastError());
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
