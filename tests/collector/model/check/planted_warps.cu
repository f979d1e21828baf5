// SPDX-License-Identifier: MIT
// Named barriers, and lanes of a warp that share memory without waiting for each other.
// "!": has to be found, "?!": may be (README.md).
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ void sync_named(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void arrive_named(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Four warps meet two by two, for the count is that of two.
__global__ void named_barrier_for_too_few(int* out, const int* in) {
  __shared__ int kept[128];
  const int t = threadIdx.x;
  kept[t] = in[t];  // ! shared-memory race
  sync_named(1, 64);
  int sum = kept[(t + 32) % 128];  // ! shared-memory race ?! uninitialised read
  sum += kept[(t + 64) % 128];     // ! shared-memory race ?! uninitialised read
  sum += kept[(t + 96) % 128];     // ! shared-memory race ?! uninitialised read
  out[blockIdx.x * 128 + t] = sum;
}

// The warp that reads waits for itself alone.
__global__ void arrival_at_another_barrier(int* out, const int* in) {
  __shared__ int kept[32];
  const int t = threadIdx.x;
  if (t < 32) {
    kept[t] = in[t];      // ! shared-memory race
    arrive_named(1, 64);  // ?! divergent barrier
  } else {
    sync_named(2, 32);
    out[blockIdx.x * 32 + t - 32] = kept[63 - t];  // ! shared-memory race ?! uninitialised read
  }
}

// The one who fills does not wait until the other has read.
__global__ void refilled_before_it_was_read(int* out, const int* in, int rounds) {
  __shared__ int kept[32];
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (t < 32) kept[t] = in[round * 32 + t];  // ! shared-memory race
    sync_named(1, 64);
    if (t >= 32) sum += kept[63 - t];  // ! shared-memory race
  }
  if (t >= 32) out[blockIdx.x * 32 + t - 32] = sum;
}

__global__ void warp_sum_without_syncwarp(int* out, const int* in) {
  __shared__ int sums[32];
  const int lane = threadIdx.x;
  sums[lane] = in[blockIdx.x * 32 + lane];
  __syncwarp();
  if (lane < 16) sums[lane] += sums[lane + 16];  // ! shared-memory race
  if (lane < 8) sums[lane] += sums[lane + 8];    // ! shared-memory race
  if (lane < 4) sums[lane] += sums[lane + 4];    // ! shared-memory race
  if (lane < 2) sums[lane] += sums[lane + 2];    // ! shared-memory race
  if (lane < 1) sums[lane] += sums[lane + 1];    // ! shared-memory race
  if (lane == 0) out[blockIdx.x] = sums[0];
}

__global__ void warp_scan_with_one_syncwarp_a_step(int* out, const int* in) {
  __shared__ int sums[32];
  const int lane = threadIdx.x;
  sums[lane] = in[blockIdx.x * 32 + lane];
  __syncwarp();
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = lane >= distance ? sums[lane - distance] : 0;  // ! shared-memory race
    sums[lane] += other;                                             // ! shared-memory race
    __syncwarp();
  }
  out[blockIdx.x * 32 + lane] = sums[lane];
}

// Each half waits for itself, and then reads what the other wrote.
__global__ void halves_that_wait_apart(int* out, const int* in) {
  __shared__ int kept[32];
  const int lane = threadIdx.x;
  kept[lane] = in[blockIdx.x * 32 + lane];  // ! shared-memory race
  __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
  out[blockIdx.x * 32 + lane] = kept[lane ^ 16];  // ! shared-memory race ?! uninitialised read
}

__global__ void ballot_taken_for_a_barrier(int* out, const int* in) {
  __shared__ int kept[32];
  const int lane = threadIdx.x;
  kept[lane] = in[blockIdx.x * 32 + lane];  // ! shared-memory race
  const unsigned odd = __ballot_sync(0xffffffffu, in[blockIdx.x * 32 + lane] & 1);
  out[blockIdx.x * 32 + lane] = kept[31 - lane] + __popc(odd);  // ! shared-memory race
}

__global__ void shuffle_taken_for_a_barrier(int* out, const int* in) {
  __shared__ int kept[32];
  const int lane = threadIdx.x;
  int v = in[blockIdx.x * 32 + lane];
  kept[lane] = v;  // ! shared-memory race
  for (int distance = 16; distance > 0; distance /= 2) {
    v += __shfl_xor_sync(0xffffffffu, v, distance);
  }
  out[blockIdx.x * 32 + lane] = v - kept[lane ^ 1];  // ! shared-memory race
}

__global__ void match_taken_for_a_barrier(int* out, const int* in) {
  __shared__ int first[32];
  const int lane = threadIdx.x, key = in[blockIdx.x * 32 + lane] % 4;
  first[lane] = key;  // ! shared-memory race
  const unsigned same = __match_any_sync(0xffffffffu, key);
  out[blockIdx.x * 32 + lane] = same + first[(lane + 1) % 32];  // ! shared-memory race
}

// The mask of active lanes says nothing of what they have written.
__global__ void active_mask_taken_for_a_barrier(int* out, const int* in) {
  __shared__ int kept[64];
  const int t = threadIdx.x;
  kept[t] = in[t];  // ! shared-memory race
  const unsigned active = __activemask();
  out[blockIdx.x * 64 + t] = kept[t ^ 7] + __popc(active);  // ! shared-memory race
}

// A tile is handed to a function that shares memory in it, and forgets to wait.
template <int size>
struct TileRotation {
  int* kept;
  template <class Tile>
  __device__ int operator()(const Tile& tile, int v) {
    kept[tile.thread_rank()] = v;                  // ?! shared-memory race
    return kept[(tile.thread_rank() + 1) % size];  // ?! shared-memory race, uninitialised read
  }
};
__global__ void tile_without_sync(int* out, const int* in) {
  __shared__ int kept[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x;
  TileRotation<16> rotate{kept + t / 16 * 16};
  out[blockIdx.x * 64 + t] = rotate(tile, in[t]);  // ! shared-memory race ?! uninitialised read
}

__global__ void tile_too_small_for_the_exchange(int* out, const int* in) {
  __shared__ int kept[64];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int t = threadIdx.x;
  kept[t] = in[t];  // ! shared-memory race
  tile.sync();
  out[blockIdx.x * 64 + t] = kept[t ^ 8];  // ! shared-memory race ?! uninitialised read
}

// One half writes, "then" the other reads: the source has an order, the lanes have none.
__global__ void one_half_writes_the_other_reads(int* out, const int* in) {
  __shared__ int kept[16];
  const int lane = threadIdx.x;
  if (lane < 16) {
    kept[lane] = in[lane] * 3;  // ! shared-memory race
  } else {
    const int i = blockIdx.x * 16 + lane - 16;
    out[i] = kept[lane - 16];  // ! shared-memory race ?! uninitialised read
  }
}

// A mask made before the branch does not name those who are in it.
__global__ void syncwarp_for_the_even_lanes(int* out, const int* in) {
  __shared__ int kept[32];
  const int lane = threadIdx.x;
  kept[lane] = in[lane];  // ! shared-memory race
  const unsigned even = __ballot_sync(0xffffffffu, lane % 2 == 0);
  if (lane % 2 == 0) {
    __syncwarp(even);
    out[blockIdx.x * 16 + lane / 2] = kept[lane + 1];  // ! shared-memory race
  }
}

// Each lane adds to its own place, then to its neighbour's.
__global__ void neighbours_changed_without_syncwarp(int* out, const int* in) {
  __shared__ int kept[32];
  const int t = threadIdx.x;
  kept[t] = in[t];  // ?! shared-memory race
  __syncthreads();
  kept[t] += 1;      // ! shared-memory race
  kept[t ^ 1] += 2;  // ! shared-memory race
  __syncthreads();
  out[blockIdx.x * 32 + t] = kept[t];
}

// One warp makes what the other takes, each in its branch: no barrier of the block fits in there.
__global__ void taken_before_it_is_made(int* out, const int* in, int rounds) {
  __shared__ int kept[32];
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 32) {
      kept[lane] = in[round * 32 + lane];  // ! shared-memory race
    } else {
      out[round * 32 + lane] = kept[31 - lane];  // ! shared-memory race ?! uninitialised read
    }
  }
}

// Two of four warps share what they load.
__global__ void half_of_the_block_shares(int* out, const int* in) {
  __shared__ int kept[64];
  const int t = threadIdx.x;
  int v = in[t];
  if (t < 64) {
    kept[t] = v;        // ! shared-memory race
    v += kept[63 - t];  // ! shared-memory race ?! uninitialised read
  }
  out[t] = v;
}
