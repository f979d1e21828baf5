// SPDX-License-Identifier: MIT
// Clusters as they are meant: nothing is to be found here.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) reads_from_its_neighbour(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = in[t];
  cluster.sync();
  const int* other = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1);
  const int value = other[63 - t];
  cluster.sync();
  out[blockIdx.x * 64 + t] = kept[t] + value;
}

// The other block has written the memory that a block reads of its own.
__global__ void __cluster_dims__(2, 1, 1) writes_to_its_neighbour(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  cluster.sync();
  cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[t] = in[t];
  cluster.sync();
  out[blockIdx.x * 64 + t] = kept[63 - t];
}

__global__ void __cluster_dims__(2, 1, 1) histogram_of_a_cluster(int* out, const int* in) {
  __shared__ int bins[32];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t < 32) bins[t] = 0;
  cluster.sync();
  const unsigned bin = static_cast<unsigned>(in[t]) % 64;
  atomicAdd(&cluster.map_shared_rank(bins, bin / 32)[bin % 32], 1);
  cluster.sync();
  if (t < 32) out[blockIdx.x * 32 + t] = bins[t];
}

// The barrier of the cluster orders global memory too.
__global__ void __cluster_dims__(2, 1, 1) handed_on(int* out, int* between, const int* in) {
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  between[blockIdx.x * 64 + t] = in[t] + blockIdx.x;
  cluster.sync();
  out[blockIdx.x * 64 + t] = between[(blockIdx.x ^ 1) * 64 + 63 - t];
}
