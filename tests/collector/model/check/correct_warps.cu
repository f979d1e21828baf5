// SPDX-License-Identifier: MIT
// Lanes of a warp that work together as the rules want it: nothing is to be found here.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
constexpr unsigned everyone = 0xffffffffu;

__global__ void warp_sum_in_shared_memory(int* out, const int* in) {
  __shared__ int sums[64];
  const int t = threadIdx.x, lane = t % 32;
  sums[t] = in[blockIdx.x * 64 + t];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    int v = sums[t];
    if (lane < half) v += sums[t + half];
    __syncwarp();
    sums[t] = v;
    __syncwarp();
  }
  if (lane == 0) atomicAdd(out, sums[t]);
}

// Only those who write are in the branch, and all wait after it.
__global__ void warp_sum_as_a_tree(int* out, const int* in) {
  __shared__ int sums[32];
  const int lane = threadIdx.x;
  sums[lane] = in[blockIdx.x * 32 + lane];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) sums[lane] += sums[lane + half];
    __syncwarp();
  }
  if (lane == 0) out[blockIdx.x] = sums[0];
}

__global__ void halves_for_themselves(int* out, const int* in) {
  __shared__ int kept[32];
  const int lane = threadIdx.x;
  const unsigned half = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  kept[lane] = in[blockIdx.x * 32 + lane];
  __syncwarp(half);
  out[blockIdx.x * 32 + lane] = kept[lane ^ 5];
}

// The mask of a branch, made before it by all.
__global__ void lanes_of_a_branch(int* out, const int* in) {
  __shared__ int kept[32];
  const int lane = threadIdx.x, v = in[blockIdx.x * 32 + lane];
  const unsigned even = __ballot_sync(everyone, v % 2 == 0);
  kept[lane] = 0;
  __syncwarp();
  if (v % 2 == 0) {
    const int place = __popc(even & ((1u << lane) - 1));
    kept[place] = v;
    __syncwarp(even);
    const int first = __shfl_sync(even, v, __ffs(even) - 1);
    out[blockIdx.x * 32 + lane] = kept[__popc(even) - 1 - place] + first;
  }
}

// Who has returned is not waited for.
__global__ void ballot_after_some_returned(unsigned* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned active = __activemask();
  out[i] = __popc(__ballot_sync(active, in[i] >= 0));
}

// A mask may name lanes that have ended: those that have not must come.
__global__ void vote_of_a_warp_that_some_have_left(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __any_sync(everyone, in[i] == 7);
}

__global__ void block_sum_by_shuffles(int* out, const int* in) {
  __shared__ int sums[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int v = in[blockIdx.x * blockDim.x + t];
  for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(everyone, v, distance);
  if (lane == 0) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < static_cast<int>(blockDim.x / 32) ? sums[lane] : 0;
    for (int distance = 16; distance > 0; distance /= 2) {
      v += __shfl_down_sync(everyone, v, distance);
    }
    if (lane == 0) out[blockIdx.x] = v;
  }
}

__global__ void scan_by_shuffles(int* out, const int* in) {
  const int lane = threadIdx.x;
  int v = in[blockIdx.x * 32 + lane];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(everyone, v, distance);
    if (lane >= distance) v += other;
  }
  out[blockIdx.x * 32 + lane] = v;
}

// One atomic for all lanes that want the same.
__global__ void one_atomic_for_equal_keys(int* places, int* counts, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, key = in[i] % 5;
  const unsigned same = __match_any_sync(everyone, key);
  const int leader = __ffs(same) - 1;
  int first = 0;
  if (lane == leader) first = atomicAdd(&counts[key], __popc(same));
  first = __shfl_sync(same, first, leader);
  places[i] = first + __popc(same & ((1u << lane) - 1));
}

// The kept elements move together; where it goes is counted by lanes, warps and blocks.
__global__ void compaction(int* out, int* count, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = in[i];
  const unsigned kept = __ballot_sync(everyone, v % 3 != 1);
  int begin = 0;
  if (lane == 0) begin = atomicAdd(count, __popc(kept));
  begin = __shfl_sync(everyone, begin, 0);
  if (v % 3 != 1) out[begin + __popc(kept & ((1u << lane) - 1))] = v;
}

// Loops of different length: each round asks anew who is still there.
__global__ void loops_of_different_length(int* out, const int* in) {
  int sum = 0;
  for (int k = in [blockIdx.x * 32 + threadIdx.x] % 7; k > 0; --k) {
    const auto here = cg::coalesced_threads();
    sum += here.any(k == 3) ? 1 : 2;
    here.sync();
  }
  out[blockIdx.x * 32 + threadIdx.x] = sum;
}

template <unsigned size>
struct Tile {
  int* kept;
  __device__ int rotated(const cg::thread_block_tile<size>& tile, int v) {
    kept[tile.thread_rank()] = v;
    tile.sync();
    const int other = kept[(tile.thread_rank() + 1) % size];
    tile.sync();
    return other;
  }
};
__global__ void tiles_that_share_memory(int* out, const int* in) {
  __shared__ int kept[64];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  Tile<8> shared{kept + threadIdx.x / 8 * 8};
  int v = in[blockIdx.x * 64 + threadIdx.x];
  for (int round = 0; round < 3; ++round) v += shared.rotated(tile, v);
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

__global__ void groups_reduce_and_add(int* out, const int* in) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int sum = cg::reduce(tile, in[blockIdx.x * 64 + threadIdx.x], cg::plus<int>());
  if (tile.thread_rank() == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> total(*out);
    total.fetch_add(sum, cuda::memory_order_relaxed);
  }
}

// Those whose number is large gather, and one of them writes for all.
__global__ void coalesced_lanes_write_once(int* out, const int* in) {
  const int v = in[blockIdx.x * 32 + threadIdx.x];
  if (v > 10) {
    const auto large = cg::coalesced_threads();
    const int first = large.shfl(v, 0);
    if (large.thread_rank() == 0) out[blockIdx.x] = first + static_cast<int>(large.size());
  } else {
    const auto small = cg::coalesced_threads();
    if (small.thread_rank() == 0) out[gridDim.x + blockIdx.x] = static_cast<int>(small.size());
  }
}

// The last warp is half as wide as the others.
__global__ void mask_of_a_warp_that_is_not_full(int* out, const int* in) {
  const int t = threadIdx.x, width = min(32, static_cast<int>(blockDim.x) - t / 32 * 32);
  const unsigned mask = width == 32 ? everyone : (1u << width) - 1;
  int v = in[t];
  for (int distance = 8; distance > 0; distance /= 2) v += __shfl_xor_sync(mask, v, distance);
  out[blockIdx.x * blockDim.x + t] = v;
}

// Lane 0 writes for its warp in global memory; the others wait for it.
__global__ void lane_zero_writes_for_its_warp(int* out, int* scratch, const int* in) {
  const int t = threadIdx.x, warp = (blockIdx.x * blockDim.x + t) / 32;
  if (t % 32 == 0) scratch[warp] = in[warp] * 7;
  __syncwarp();
  out[blockIdx.x * blockDim.x + t] = scratch[warp] + t;
}

// The remedies of taken_before_it_is_made and half_of_the_block_shares: barriers of those who take
// part.
__device__ void wait_for(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__global__ void taken_when_it_is_made(int* out, const int* in, int rounds) {
  __shared__ int kept[32];
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) {
      kept[lane] = in[round * 32 + lane];
      wait_for(1, 64);
      wait_for(2, 64);
    } else {
      wait_for(1, 64);
      out[round * 32 + lane] = kept[31 - lane];
      wait_for(2, 64);
    }
  }
}
__global__ void half_of_the_block_waits(int* out, const int* in) {
  __shared__ int kept[64];
  const int t = threadIdx.x;
  int v = in[t];
  if (t < 64) {
    kept[t] = v;
    wait_for(1, 64);
    v += kept[63 - t];
  }
  out[t] = v;
}

// The remedy of counter_read_while_others_add.
__global__ void counter_read_when_all_have_added(int* out, const int* in) {
  __shared__ int count;
  if (threadIdx.x == 0) count = in[0];
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}
