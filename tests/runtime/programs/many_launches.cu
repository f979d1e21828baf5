// SPDX-License-Identifier: MIT
// As many launches as its argument says, of a kernel that does next to nothing.
#include <cstdlib>
__global__ void tick(int* count) { *count += 1; }

int main(int, char** argv) {
  int* count;
  cudaMalloc(&count, sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  const int launches = std::atoi(argv[1]);
  for (int i = 0; i < launches; ++i) tick<<<1, 1>>>(count);
  int counted = 0;
  cudaMemcpy(&counted, count, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(count);
  return counted == launches ? 0 : 1;
}
