// SPDX-License-Identifier: MIT
// Cooperative groups, what lanes of one warp tell each other, copies past the registers.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_pipeline.h>
#define AT                                    \
  [[maybe_unused]] const int t = threadIdx.x; \
  const int i = blockIdx.x * blockDim.x + threadIdx.x

namespace cg = cooperative_groups;

extern "C" __global__ void tile_sums(const int* in, int* out, int n) {
  AT;
  const auto block = cg::this_thread_block();
  const auto small = cg::tiled_partition<8>(block);
  const auto warp = cg::tiled_partition<32>(block);
  int sum =
      cg::reduce(small, in[i], cg::plus<int>()) + cg::reduce(warp, in[i], cg::less<int>()) * n;
  sum += cg::inclusive_scan(small, in[i]) + cg::exclusive_scan(warp, in[i], cg::bit_xor<int>());
  out[i] = sum + small.shfl_xor(sum, 3) + warp.shfl_up(sum, 5) + small.any(in[i] > 6);
}

extern "C" __global__ void odd_ones_out(const int* in, int* out, int n) {
  AT;
  if (in[i] % 3 == 0) {
    const auto group = cg::coalesced_threads();
    const int sum = cg::reduce(group, in[i] + n, cg::plus<int>());
    out[i] = sum * 100 + group.thread_rank() + group.shfl(i, group.size() - 1);
    if (group.thread_rank() == 0) atomicAdd(&out[4096], static_cast<int>(group.size()));
  }
}

extern "C" __global__ void alike(const int* in, int* out, int n) {
  AT;
  const unsigned same = __match_any_sync(~0u, in[i] % n);
  int all_same;
  __match_all_sync(~0u, in[i / 32] % n, &all_same);
  const int leader = __ffs(static_cast<int>(same)) - 1;
  int sum = 0;
  if (t % 32 == leader)
    sum = atomicAdd(&out[4096 + blockIdx.x * 64 + in[i] % n + 32], __popc(same)) * 0;
  out[i] = __shfl_sync(~0u, t * 3, leader) + all_same * 1000 + static_cast<int>(same >> 16) + sum;
}

extern "C" __global__ void reduced_by_warp(const int* in, unsigned* out, int n) {
  AT;
  const unsigned value = static_cast<unsigned>(in[i] + n);
  unsigned sum = __reduce_add_sync(~0u, value) + __reduce_max_sync(~0u, value) * 7;
  sum ^= __reduce_xor_sync(~0u, value << (t & 7)) + __reduce_or_sync(~0u, 1u << (value & 31));
  sum += static_cast<unsigned>(__reduce_min_sync(~0u, in[i]));
  if (t % 32 < 20) sum += __reduce_add_sync(0xfffff, value);
  out[i] = sum + __ballot_sync(~0u, in[i] > 0) % 97 + (__all_sync(~0u, in[i] < 9) ? 3 : 5);
}

extern "C" __global__ void counted_at_barriers(const int* in, int* out, int n) {
  AT;
  const int positive = __syncthreads_count(in[i] > 0);
  const int any = __syncthreads_or(in[i] == n), all = __syncthreads_and(in[i] > -100);
  out[i] = positive * 10 + (any != 0) * 2 + (all != 0);
}

extern "C" __global__ void staged_groups(const int* in, int* out, int n) {
  __shared__ alignas(16) int stage[2][256];
  AT;
  const auto block = cg::this_thread_block();
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    cg::memcpy_async(block, stage[k & 1], in + (blockIdx.x + k) % 4 * 256, sizeof(int) * 256);
    cg::wait(block);
    sum += stage[k & 1][255 - t] * (k + 1);
    block.sync();
  }
  out[i] = sum;
}

extern "C" __global__ void staged_pipeline(const float4* in, float4* out, int n) {
  __shared__ float4 stage[3][128];
  AT;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&stage[k][t], &in[(i + k * 128) % 1024], sizeof(float4));
    __pipeline_commit();
  }
  for (int k = 0; k < n; ++k) {
    if (k + 2 < n) {
      __pipeline_memcpy_async(&stage[(k + 2) % 3][t], &in[(i + (k + 2) * 128) % 1024],
                              sizeof(float4));
    }
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    const float4 value = stage[k % 3][127 - t];
    sum.x += value.x, sum.y += value.y * 2, sum.z += value.z, sum.w += value.w * 3;
    __syncthreads();
  }
  out[i] = sum;
}

extern "C" __global__ void hinted(const int* in, int* out, int n) {
  AT;
  int sum = __ldg(&in[i]) + __ldcg(&in[(i * 3) % 1024]) + __ldcs(&in[(i + n) % 1024]);
  sum += __ldca(&in[(i ^ 5) % 1024]) + __ldlu(&in[(i + 64) % 1024]) + __ldcv(&in[(i * 5) % 1024]);
  const int4 four = __ldg(reinterpret_cast<const int4*>(in) + i % 256);
  __stcs(&out[i], sum + four.x + four.w);
  __stcg(&out[1024 + i], four.y);
  __stwt(&out[2048 + i], four.z);
}
