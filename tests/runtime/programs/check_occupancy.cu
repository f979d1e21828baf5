// SPDX-License-Identifier: MIT
// Asks what its kernel takes of a multiprocessor: where the program has no machine code for the
// device, it has to be made of the PTX.
#include <cstdio>
__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main() {
  int blocks = 0, *data;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 128, 0);
  cudaMalloc(&data, 128);
  fill<<<1, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
