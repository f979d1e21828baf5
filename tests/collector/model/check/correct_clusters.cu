// SPDX-License-Identifier: MIT
// Clusters as they are meant: nothing is to be found here.
// A kernel is read line by line, and so are its marks.
// clang-format off
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

// The first and the last element go to the neighbours, again and again.
__global__ void __cluster_dims__(4, 1, 1) halo_exchange(int* out, const int* in) {
  __shared__ int kept[66];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x, rank = cluster.block_rank();
  int value = in[t];
  cluster.sync();
  for (int step = 0; step < 3; ++step) {
    kept[t + 1] = value;
    if (t == 0) cluster.map_shared_rank(kept, (rank + 3) % 4)[65] = value;
    if (t == 63) cluster.map_shared_rank(kept, (rank + 1) % 4)[0] = value;
    cluster.sync();
    value = kept[t] + kept[t + 2];
    cluster.sync();
  }
  out[blockIdx.x * 64 + t] = value;
}

// Two buffers need one barrier a step.
__global__ void __cluster_dims__(2, 1, 1) two_buffers(int* out, const int* in) {
  __shared__ int kept[2][64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  int value = in[t];
  for (int step = 0; step < 5; ++step) {
    kept[step % 2][t] = value;
    cluster.sync();
    value += cluster.map_shared_rank(kept[step % 2], cluster.block_rank() ^ 1)[63 - t];
  }
  cluster.sync();
  out[blockIdx.x * 64 + t] = value;
}

// Each block has a place of its own in the first one's memory.
__global__ void __cluster_dims__(4, 1, 1) sum_of_a_cluster(int* out, const int* in) {
  __shared__ int own, parts[4];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) own = 0;
  cluster.sync();
  atomicAdd(&own, in[t]);
  __syncthreads();
  if (t == 0) cluster.map_shared_rank(parts, 0)[cluster.block_rank()] = own;
  cluster.sync();
  if (cluster.block_rank() == 0 && t == 0) out[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}

// Between its arrival and its wait a block keeps to memory that no other touches.
__global__ void __cluster_dims__(2, 1, 1) works_between_arrive_and_wait(int* out, const int* in) {
  __shared__ int kept[64], own[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = in[t];
  cluster.barrier_arrive();
  own[t] = in[63 - t];
  __syncthreads();
  int value = own[63 - t];
  cluster.barrier_wait();
  value += cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[t];
  cluster.barrier_arrive();
  own[63 - t] = value;
  cluster.barrier_wait();
  out[blockIdx.x * 64 + t] = own[63 - t];
}

// Blocks write bytes beside each other in one word.
__global__ void __cluster_dims__(4, 1, 1) bytes_beside_each_other(int* out, const int* in) {
  __shared__ unsigned char parts[64][4];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  cluster.sync();
  for (int to = 0; to < 4; ++to) {
    cluster.map_shared_rank(&parts[0][0], to)[t * 4 + cluster.block_rank()] = static_cast<unsigned char>(in[t] + to);
  }
  cluster.sync();
  out[blockIdx.x * 64 + t] = parts[t][0] + parts[t][1] + parts[t][2] + parts[t][3];
}

// All blocks read the tile of the first, and write their own afterwards.
__global__ void __cluster_dims__(4, 1, 1) reads_one_tile(int* out, const int* in) {
  __shared__ int tile[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  tile[t] = in[t] + cluster.block_rank();
  cluster.sync();
  const int value = cluster.map_shared_rank(tile, 0)[63 - t];
  cluster.sync();
  tile[t] = value;
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[63 - t];
}

// Whoever finds something says so in the first block; all write the same.
__global__ void __cluster_dims__(4, 1, 1) says_that_it_was_found(int* out, const int* in) {
  __shared__ int found;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) found = 0;
  cluster.sync();
  if (in[threadIdx.x] >= 0) *cluster.map_shared_rank(&found, 0) = 1;
  cluster.sync();
  const int value = *cluster.map_shared_rank(&found, 0);
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = value;
}

// Threads that have ended are not waited for.
__global__ void __cluster_dims__(2, 1, 1) half_of_the_threads_end(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = in[t];
  if (t >= 32) return;
  asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
  const int value = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[63 - t];
  asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
  out[blockIdx.x * 64 + t] = value;
}

// A fence does what a relaxed arrival does not.
__global__ void __cluster_dims__(2, 1, 1) fences_before_it_arrives_relaxed(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  kept[t] = in[t];
  asm volatile("fence.acq_rel.cluster;\n barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  const int value = cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[63 - t];
  cluster.sync();
  out[blockIdx.x * 64 + t] = value;
}

// A flag in the other block's memory tells it that its data is there.
__global__ void __cluster_dims__(2, 1, 1) flag_of_a_cluster(int* out, const int* in) {
  __shared__ int kept[64], flag;
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  if (t == 0) flag = 0;
  cluster.sync();
  cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[t] = in[t];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(cluster.map_shared_rank(&flag, cluster.block_rank() ^ 1), 1);
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * 64 + t] = kept[63 - t];
  cluster.sync();
}

// The other block's barrier object counts the arrival of what it is sent.
__global__ void __cluster_dims__(2, 1, 1) barrier_object_of_the_other(int* out, const int* in) {
  __shared__ alignas(8) unsigned long long object;
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  unsigned other;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(cluster.block_rank() ^ 1));
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(own));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  cluster.sync();
  cluster.map_shared_rank(kept, cluster.block_rank() ^ 1)[t] = in[t];
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other) : "memory");
  unsigned is_over = 0;
  while (is_over == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_over)
        : "r"(own)
        : "memory");
  }
  out[blockIdx.x * 64 + t] = kept[63 - t];
  cluster.sync();
}

// The same as writes_to_its_neighbour, by an address of shared memory.
__global__ void __cluster_dims__(2, 1, 1) writes_by_a_shared_address(int* out, const int* in) {
  __shared__ int kept[64];
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x;
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(kept));
  unsigned other;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(cluster.block_rank() ^ 1));
  cluster.sync();
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(other + 4 * t), "r"(in[t]) : "memory");
  cluster.sync();
  out[blockIdx.x * 64 + t] = kept[63 - t];
}

// A buffer in global memory goes back and forth, and each step has its barrier.
__global__ void __cluster_dims__(4, 1, 1) rounds_by_global_memory(int* out, int* between, const int* in) {
  const auto cluster = cg::this_cluster();
  const int t = threadIdx.x, first = blockIdx.x / 4 * 4, rank = cluster.block_rank();
  int value = in[t];
  for (int step = 0; step < 3; ++step) {
    between[blockIdx.x * 64 + t] = value;
    cluster.sync();
    value += between[(first + (rank + 1) % 4) * 64 + 63 - t];
    cluster.sync();
  }
  out[blockIdx.x * 64 + t] = value;
}

// One warp waits for the cluster, and the barrier of the block tells the others.
__global__ void __cluster_dims__(2, 1, 1) one_thread_gathers(int* out, int* between, const int* in) {
  const int t = threadIdx.x;
  if (t >= 32) between[blockIdx.x * 32 + t - 32] = in[t];
  cg::this_cluster().sync();
  if (t == 0) {
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += between[(blockIdx.x ^ 1) * 32 + i];
    out[blockIdx.x] = sum;
  }
}
