// SPDX-License-Identifier: MIT
// Mistakes of kernels whose blocks run in clusters.
// "!": has to be found, "?!": may be (README.md).
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// A block ends while the other may still read its shared memory.
// may hang
__global__ void __cluster_dims__(2, 1, 1) ended_before_the_other_reads(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = in[t];
  cluster.sync();
  const int* other = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + t] = other[63 - t];  // ! out of bounds
}

__global__ void __cluster_dims__(2, 1, 1) no_barrier_within_a_block(int* out, const int* in) {
  __shared__ int kept[64];
  const int t = threadIdx.x;
  kept[t] = in[t];                          // ! shared-memory race
  out[blockIdx.x * 64 + t] = kept[63 - t];  // ! shared-memory race ?! uninitialised read
}

__global__ void __cluster_dims__(2, 1, 1) half_of_it_is_unset(int* out, const int* in) {
  __shared__ int kept[64];
  const int t = threadIdx.x;
  if (t < 32) kept[t] = in[t];
  cg::this_cluster().sync();
  out[blockIdx.x * 64 + t] = kept[63 - t];  // ! uninitialised read
}

__global__ void __cluster_dims__(2, 1, 1) reads_beyond_its_buffer(int* out, const int* in) {
  out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x + 1];  // ! out of bounds
}

// The clusters order nothing between each other.
__global__ void __cluster_dims__(2, 1, 1) clusters_that_write_the_same(int* out) {
  out[threadIdx.x] = blockIdx.x / 2 + 1;  // ! race between blocks
}
