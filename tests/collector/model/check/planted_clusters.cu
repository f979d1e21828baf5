// SPDX-License-Identifier: MIT
// Mistakes of kernels whose blocks run in clusters.
// "!": has to be found, "?!": may be (README.md).
// A kernel is read line by line, and so are its marks.
// clang-format off
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

// Both blocks have begun; nothing says that the other has written.
__global__ void __cluster_dims__(2, 1, 1) no_sync_before_the_remote_read(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  cluster.sync();
  kept[t] = in[t];  // ! race between blocks
  __syncthreads();
  const int value = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[63 - t];  // ! race between blocks
  cluster.sync();
  out[blockIdx.x * 64 + t] = value;
}

// The other block may still read what is written again.
__global__ void __cluster_dims__(2, 1, 1) no_sync_before_it_is_used_again(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = in[t];
  cluster.sync();
  const int value = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[t];  // ! race between blocks
  kept[t] = value + 1;                                                           // ! race between blocks
  cluster.sync();
  out[blockIdx.x * 64 + t] = kept[t];
}

__global__ void __cluster_dims__(2, 1, 1) no_sync_after_the_remote_write(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  cluster.sync();
  cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[t] = in[t];  // ! race between blocks
  __syncthreads();
  out[blockIdx.x * 64 + t] = kept[t];  // ! race between blocks
  cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) writes_after_it_has_arrived(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  cluster.barrier_arrive();
  kept[t] = in[t];  // ?! race between blocks
  cluster.barrier_wait();
  const int value = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[63 - t];  // ! race between blocks
  cluster.sync();
  out[blockIdx.x * 64 + t] = value;
}

__global__ void __cluster_dims__(2, 1, 1) reads_before_it_has_waited(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  cluster.sync();
  kept[t] = in[t];  // ! race between blocks
  cluster.barrier_arrive();
  const int value = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[63 - t];  // ! race between blocks
  cluster.barrier_wait();
  cluster.sync();
  out[blockIdx.x * 64 + t] = value;
}

// A relaxed arrival orders no memory.
__global__ void __cluster_dims__(2, 1, 1) arrives_relaxed(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = in[t];
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  const int value = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[63 - t];  // ! race between blocks
  cluster.sync();
  out[blockIdx.x * 64 + t] = value;
}

// The barrier of the block does not wait for the atomics of the other.
__global__ void __cluster_dims__(2, 1, 1) reads_a_histogram_too_early(int* out, const int* in) {
  __shared__ int bins[32];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t < 32) bins[t] = 0;
  cluster.sync();
  atomicAdd(&cluster.map_shared_rank(bins, t / 32)[(in[t] & 1) + t % 31], 1);  // ! race between blocks
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = bins[t];  // ! race between blocks
  cluster.sync();
}

// All blocks add to one number, without atomics.
__global__ void __cluster_dims__(4, 1, 1) adds_without_an_atomic(int* out, const int* in) {
  __shared__ int sum;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) sum = 0;
  cluster.sync();
  if (threadIdx.x == 0) *cluster.map_shared_rank(&sum, 0) += in[0] + 1;  // ! race between blocks
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// A step needs two barriers, or two buffers.
__global__ void __cluster_dims__(2, 1, 1) one_sync_a_step(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  int value = in[t];
  for (int step = 0; step < 3; ++step) {
    kept[t] = value;  // ! race between blocks
    cluster.sync();
    value += cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[63 - t];  // ! race between blocks
  }
  cluster.sync();
  out[blockIdx.x * 64 + t] = value;
}

__global__ void __cluster_dims__(2, 1, 1) bytes_of_the_other(int* out, const int* in) {
  __shared__ unsigned char kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = static_cast<unsigned char>(in[t]);
  cluster.sync();
  cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[t] += 1;  // ! race between blocks
  __syncthreads();
  out[blockIdx.x * 64 + t] = kept[t];  // ! race between blocks
  cluster.sync();
}

// The same, on global memory.
__global__ void __cluster_dims__(2, 1, 1) hands_on_by_global_memory_too_early(int* out, int* between, const int* in) {
  const int t = threadIdx.x;
  between[blockIdx.x * 64 + t] = in[t] + blockIdx.x;  // ! race between blocks
  __syncthreads();
  out[blockIdx.x * 64 + t] = between[(blockIdx.x ^ 1) * 64 + 63 - t];  // ! race between blocks ?! uninitialised read
  cg::this_cluster().sync();
}

__global__ void __cluster_dims__(2, 1, 1) writes_global_memory_between_arrive_and_wait(int* out, int* between, const int* in) {
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  cluster.barrier_arrive();
  between[blockIdx.x * 64 + t] = in[t] + blockIdx.x;  // ! race between blocks
  cluster.barrier_wait();
  out[blockIdx.x * 64 + t] = between[(blockIdx.x ^ 1) * 64 + 63 - t];  // ! race between blocks
}

// Its barrier orders the blocks of one cluster, no others.
__global__ void __cluster_dims__(2, 1, 1) reads_what_another_cluster_writes(int* out, int* between, const int* in) {
  const int t = threadIdx.x;
  between[blockIdx.x * 64 + t] = in[t] + blockIdx.x;  // ! race between blocks
  cg::this_cluster().sync();
  out[blockIdx.x * 64 + t] = between[(blockIdx.x ^ 2) * 64 + 63 - t];  // ! race between blocks ?! uninitialised read
}
