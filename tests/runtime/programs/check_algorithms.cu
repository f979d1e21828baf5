// SPDX-License-Identifier: MIT
// Algorithms of the toolkit that leave alone what they make no use of: registers and shared memory
// of the last, incomplete tile, and what Thrust compacts in place. Nothing here is a mistake.
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/sequence.h>
#include <thrust/unique.h>

#include <cstdio>
#include <cub/block/block_merge_sort.cuh>
constexpr int threads = 128, each = 5;

struct Less {
  __device__ bool operator()(int a, int b) const { return a < b; }
};

__global__ void sort_block(int* keys) {
  using Sort = cub::BlockMergeSort<int, threads, each>;
  __shared__ typename Sort::TempStorage room;
  int own[each];
  for (int i = 0; i < each; ++i) own[i] = keys[threadIdx.x * each + i];
  Sort(room).Sort(own, Less());
  for (int i = 0; i < each; ++i) keys[threadIdx.x * each + i] = own[i];
}

int main() {
  constexpr int n = threads * each, many = 20000;
  thrust::device_vector<int> keys(n), runs(many);
  for (int i = 0; i < n; ++i) keys[i] = (i * 7919) % 1000;
  sort_block<<<1, threads>>>(thrust::raw_pointer_cast(keys.data()));
  cudaDeviceSynchronize();
  std::printf("%d %d\n", int{keys[0]}, int{keys[n - 1]});
  thrust::sequence(runs.begin(), runs.end());
  thrust::transform(runs.begin(), runs.end(), runs.begin(), [] __device__(int i) { return i / 3; });
  const auto largest = thrust::max_element(runs.begin(), runs.end());
  std::printf("%d\n", static_cast<int>(largest - runs.begin()));
  const auto end = thrust::unique(runs.begin(), runs.end());
  std::printf("%d\n", static_cast<int>(end - runs.begin()));
}
