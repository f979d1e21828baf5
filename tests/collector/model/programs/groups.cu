// SPDX-License-Identifier: MIT
// Cooperative groups, asynchronous copies, barrier objects and atomics of the C++ library.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

extern "C" {
__global__ void tiles(int* out, const int* in) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int v = in[block.thread_rank()];
  out[block.thread_rank()] =
      1000 * cg::reduce(tile, v, cg::plus<int>()) + cg::inclusive_scan(tile, v);
}
__global__ void coalesced(int* out, const int* in) {
  const int i = threadIdx.x;
  if (in[i] & 1) {
    const auto group = cg::coalesced_threads();
    out[i] = 10000 * group.size() + 100 * group.thread_rank() + group.shfl(i, 0);
  }
}
__global__ void labelled(int* out, const int* in) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto group = cg::labeled_partition(warp, in[threadIdx.x] % 3);
  out[threadIdx.x] = 100 * group.size() + group.thread_rank();
}
__global__ void asynchronous(int* out, const int* in) {
  __shared__ int tile[256];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(tile));
  cg::wait(block);
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
__global__ void barriers(int* out, const int* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[256];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    tile[threadIdx.x] = in[threadIdx.x] + k;
    barrier.arrive_and_wait();
    out[threadIdx.x] += tile[(threadIdx.x + 7) % 256];
    barrier.arrive_and_wait();
  }
}
__global__ void pipelines(int* out, const int* in) {
  __shared__ int stage[2][256];
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[k & 1][threadIdx.x], &in[k * 256 + threadIdx.x], sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    __syncthreads();
    sum += stage[k & 1][255 - threadIdx.x];
    __syncthreads();
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
__global__ void atomics(int* out, float* reals, unsigned long long* wide, unsigned short* narrow) {
  cuda::atomic_ref<int, cuda::thread_scope_device> counter(out[0]);
  counter.fetch_add(1, cuda::memory_order_acq_rel);
  cuda::atomic_ref<float> real(reals[0]);
  real.fetch_add(0.5f);
  int old = out[1], want;
  do {
    want = old;
    old = atomicCAS(&out[1], want, want + 3);
  } while (old != want);
  atomicMax(&out[2], threadIdx.x);
  atomicOr(&wide[0], 1ull << (threadIdx.x % 64));
  atomicCAS(narrow, static_cast<unsigned short>(0), static_cast<unsigned short>(7));
}
__global__ void named_barriers(int* out) {
  __shared__ int tile[128];
  if (threadIdx.x < 128) {
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("bar.arrive 1, 256;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 256;" ::: "memory");
    out[threadIdx.x - 128] = tile[255 - threadIdx.x];
  }
}
__global__ void votes(int* out, const int* in) {
  const int v = in[threadIdx.x];
  int all;
  __match_all_sync(~0u, v, &all);
  out[threadIdx.x] = __popc(__match_any_sync(~0u, v)) + 100 * __reduce_add_sync(~0u, v) + all +
                     100000 * __syncthreads_count(v & 1);
}
}
