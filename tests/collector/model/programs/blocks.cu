// SPDX-License-Identifier: MIT
// Block-wide algorithms of CUB.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" {
__global__ void block_reduce(int* out, const int* in) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) out[0] = sum;
}
__global__ void block_scan(int* out, const int* in) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int before;
  Scan(storage).ExclusiveSum(in[threadIdx.x], before);
  out[threadIdx.x] = before;
}
__global__ void block_sort(int* out, const int* in) {
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
  } storage;
  int keys[4];
  Load(storage.load).Load(in, keys);
  __syncthreads();
  Sort(storage.sort).Sort(keys);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = keys[i];
}
}
