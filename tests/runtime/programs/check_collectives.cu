// SPDX-License-Identifier: MIT
// Mistakes of a kernel's own around CUB's collectives: their room is used again without a barrier,
// and they are given what was not set.
#include <cub/block/block_reduce.cuh>
constexpr int threads = 128;
using Sum = cub::BlockReduce<int, threads>;

__global__ void sums(int* out) {
  __shared__ typename Sum::TempStorage room;
  for (int round = 0; round < 4; ++round) {
    const int sum = Sum(room).Sum(static_cast<int>(threadIdx.x) * round);  // no barrier behind it
    if (threadIdx.x == 0) out[round] = sum;
  }
}

__global__ void sum_of_some(int* out, const int* in, int count) {
  __shared__ typename Sum::TempStorage room;
  int own;
  if (static_cast<int>(threadIdx.x) < count) own = in[threadIdx.x];
  const int sum = Sum(room).Sum(own);  // for the others it is not set
  if (threadIdx.x == 0) *out = sum;
}

int main() {
  int *out = nullptr, *in = nullptr;
  cudaMalloc(&out, 4 * sizeof(int));
  cudaMalloc(&in, threads * sizeof(int));
  cudaMemset(in, 0, threads * sizeof(int));
  sums<<<1, threads>>>(out);
  sum_of_some<<<1, threads>>>(out, in, 90);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(in);
}
