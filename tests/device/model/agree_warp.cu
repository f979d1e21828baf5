// SPDX-License-Identifier: MIT
// The messages between the lanes of a warp: shuffles, votes, matches; groups of cooperative_groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

constexpr unsigned full = 0xFFFFFFFFU;

extern "C" __global__ void warp_sum(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(full, value, offset);
  if (threadIdx.x % 32 == 0) out[i / 32] = value;
}

extern "C" __global__ void warp_scan(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int value = in[i];
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(full, value, offset);
    if (lane >= offset) value += other;
  }
  out[i] = value;
}

extern "C" __global__ void warp_butterfly(const double* in, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double value = in[i];
  for (int mask = 1; mask < 32; mask *= 2) value += __shfl_xor_sync(full, value, mask);
  out[i] = value;
}

// Keeps the positive ones, packed within each warp.
extern "C" __global__ void warp_compact(const int* in, int* out, int* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int value = in[i];
  const unsigned keepers = __ballot_sync(full, value > 0);
  if (value > 0) out[i - lane + __popc(keepers & ((1U << lane) - 1))] = value;
  if (lane == 0) counts[i / 32] = __popc(keepers);
}

extern "C" __global__ void warp_match(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned peers = __match_any_sync(full, in[i]);
  if (__ffs(peers) - 1 == static_cast<int>(threadIdx.x % 32)) {
    out[i] = __popc(peers);
  } else {
    out[i] = __any_sync(__activemask(), in[i] > 6) ? -1 : -2;
  }
}

extern "C" __global__ void warp_redux(const unsigned* in, unsigned* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned value = in[i];
  const unsigned sum = __reduce_add_sync(full, value & 255),
                 largest = __reduce_max_sync(full, value), either = __reduce_or_sync(full, value);
  if (threadIdx.x % 32 == 0) {
    out[3 * (i / 32)] = sum;
    out[3 * (i / 32) + 1] = largest;
    out[3 * (i / 32) + 2] = either;
  }
}

// Sums of groups of 16, then one of the block's through shared memory and the group's barrier.
extern "C" __global__ void group_sums(const int* in, int* out, int* blocks) {
  __shared__ int partial[16];
  const cg::thread_block block = cg::this_thread_block();
  const auto group = cg::tiled_partition<16>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = cg::reduce(group, in[i], cg::plus<int>());
  if (group.thread_rank() == 0) {
    out[i / 16] = sum;
    partial[group.meta_group_rank()] = sum;
  }
  block.sync();
  if (block.thread_rank() < 16) {
    const int total = cg::reduce(group, partial[group.thread_rank()], cg::plus<int>());
    if (group.thread_rank() == 0) blocks[blockIdx.x] = total;
  }
}

extern "C" __global__ void group_scan(const int* in, int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = cg::exclusive_scan(warp, in[i], cg::plus<int>());
}

// Those that arrive together elect a leader.
extern "C" __global__ void group_coalesced(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 0;
  if (in[i] % 3 == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    out[i] = active.size() * 100 + active.thread_rank() + active.shfl(in[i], 0);
  }
}
