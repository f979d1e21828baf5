// SPDX-License-Identifier: MIT
// Asynchronous copies, barrier objects and pipelines as they are meant: nothing is to be found
// here.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void copy_then_barrier(float* out, const float* in) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[63 - t];
}

// A thread may read its own copies when it has waited, without a barrier.
__global__ void own_copy_waited_for(float4* out, const float4* in) {
  __shared__ float4 tile[64];
  const int t = threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]))),
               "l"(in + t)
               : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[blockIdx.x * 64 + t] = tile[t];
}

// An empty group at the end keeps the count of groups right.
__global__ void copies_two_stages_ahead(float* out, const float* in, int chunks) {
  __shared__ float tiles[3][64];
  const int t = threadIdx.x;
  float sum = 0;
  for (int c = 0; c < 2; ++c) {
    __pipeline_memcpy_async(&tiles[c][t], &in[c * 64 + t], sizeof(float));
    __pipeline_commit();
  }
  for (int c = 0; c < chunks; ++c) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (c + 2 < chunks) {
      __pipeline_memcpy_async(&tiles[(c + 2) % 3][t], &in[(c + 2) * 64 + t], sizeof(float));
    }
    __pipeline_commit();
    sum += tiles[c % 3][63 - t];
  }
  out[blockIdx.x * 64 + t] = sum;
}

__global__ void group_copies_and_waits(float* out, const float* in) {
  __shared__ __align__(16) float tile[64];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in, sizeof(float) * 64);
  cg::wait(block);
  out[blockIdx.x * 64 + block.thread_rank()] = tile[63 - block.thread_rank()];
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void arrives_and_waits(float* out, const float* in) {
  __shared__ alignas(Barrier) unsigned char place[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(place);
  __shared__ float line[64];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  float v = in[t];
  for (int round = 0; round < 4; ++round) {
    line[t] = v;
    auto token = barrier.arrive();
    const float factor = in[(t + round) % 64];
    barrier.wait(static_cast<Barrier::arrival_token&&>(token));
    v = line[(t + 33) % 64] + factor;
    barrier.arrive_and_wait();
  }
  out[blockIdx.x * 64 + t] = v;
}

// One warp fills, another reads; the barriers say which slots are full and which are free.
__global__ void slots_full_and_free(float* out, const float* in, int rounds) {
  __shared__ alignas(Barrier) unsigned char place[4 * sizeof(Barrier)];
  Barrier* const full = reinterpret_cast<Barrier*>(place);
  Barrier* const vacant = full + 2;
  __shared__ float slots[2][32];
  const int t = threadIdx.x, lane = t % 32;
  if (t < 4) init(full + t, 64);
  __syncthreads();
  if (t < 32) {
    for (int round = 0; round < rounds; ++round) {
      vacant[round & 1].arrive_and_wait();
      slots[round & 1][lane] = in[round * 32 + lane];
      (void)full[round & 1].arrive();
    }
  } else {
    (void)vacant[0].arrive();
    (void)vacant[1].arrive();
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
      full[round & 1].arrive_and_wait();
      sum += slots[round & 1][31 - lane];
      (void)vacant[round & 1].arrive();
    }
    out[blockIdx.x * 32 + lane] = sum;
  }
}

// Waits for a phase by its parity, without having arrived.
__global__ void waits_by_parity(float* out, const float* in) {
  __shared__ alignas(Barrier) unsigned char place[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(place);
  __shared__ float line[32];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, 32);
  __syncthreads();
  if (t < 32) {
    line[t] = in[t];
    (void)barrier.arrive();
  } else {
    barrier.wait_parity(false);
    out[blockIdx.x * 32 + t - 32] = line[63 - t];
  }
}

__global__ void pipeline_of_a_block(float* out, const float* in, int chunks) {
  __shared__ float tiles[2][64];
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
  __shared__ alignas(State) unsigned char place[sizeof(State)];
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, reinterpret_cast<State*>(place));
  const unsigned t = block.thread_rank();
  float sum = 0;
  int fetched = 0;
  for (int c = 0; c < chunks; ++c) {
    for (; fetched < chunks && fetched < c + 2; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tiles[fetched & 1][t], &in[fetched * 64 + t], sizeof(float), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tiles[c & 1][63 - t];
    pipeline.consumer_release();
  }
  out[blockIdx.x * 64 + t] = sum;
}

// The pipeline of a single thread needs no shared state; a barrier does the rest.
__global__ void pipeline_of_each_thread(float* out, const float* in, int chunks) {
  __shared__ float tiles[2][64];
  auto pipeline = cuda::make_pipeline();
  const int t = threadIdx.x;
  float sum = 0;
  pipeline.producer_acquire();
  cuda::memcpy_async(&tiles[0][t], &in[t], sizeof(float), pipeline);
  pipeline.producer_commit();
  for (int c = 0; c < chunks; ++c) {
    if (c + 1 < chunks) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tiles[(c + 1) & 1][t], &in[(c + 1) * 64 + t], sizeof(float), pipeline);
      pipeline.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<0>(pipeline);
    __syncthreads();
    sum += tiles[c & 1][63 - t];
    pipeline.consumer_release();
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = sum;
}

__device__ unsigned place_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// The barrier object counts the copies of all. One warp waits for it, and the other for that warp.
__global__ void copies_that_an_object_counts(float* out, const float* in, int rounds) {
  __shared__ float tile[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(place_of(&object)) : "memory");
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    __pipeline_memcpy_async(&tile[t], &in[i * 64 + t], sizeof(float));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(place_of(&object))
                 : "memory");
    if (t < 32) {
      asm volatile(
          "{ .reg .pred over; again%=: mbarrier.try_wait.parity.shared.b64 over, [%0], %1; "
          "@!over bra again%=; }" ::"r"(place_of(&object)),
          "r"(i & 1)
          : "memory");
    }
    __syncthreads();
    sum += tile[63 - t];
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = sum;
}

// Each thread waits for the object, and at the end for its groups too.
__global__ void copies_counted_beside_their_threads(float* out, const float* in, int rounds) {
  __shared__ float tile[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(place_of(&object)) : "memory");
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    __pipeline_memcpy_async(&tile[t], &in[i * 64 + t], sizeof(float));
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(place_of(&object)) : "memory");
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(place_of(&object))
        : "memory");
    asm volatile(
        "{ .reg .pred over; again%=: mbarrier.try_wait.parity.shared.b64 over, [%0], %1; "
        "@!over bra again%=; }" ::"r"(place_of(&object)),
        "r"(i & 1)
        : "memory");
    sum += tile[63 - t];
    __syncthreads();
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[blockIdx.x * 64 + t] = sum;
}

/// The source changes once the copy has ended, and what is no source changes before.
extern "C" __global__ void source_changed_behind_the_copy(float* out, float* in) {
  __shared__ alignas(16) float tile[256];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * threadIdx.x)
               : "memory");
  in[256 + threadIdx.x] = 7;
  asm volatile("cp.async.wait_all;" ::: "memory");
  in[4 * threadIdx.x + 1] = 7;
  out[threadIdx.x] = tile[4 * threadIdx.x];
}

/// The same in bulk; then the object ends, and its memory is used again.
extern "C" __global__ void bulk_source_changed_behind_the_copy(float* out, float* in) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long object;
  const auto place = [](const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  };
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(place(&object)) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 256;}" ::"r"(place(&object))
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, "
        "[%2];" ::"r"(place(tile)),
        "l"(in), "r"(place(&object))
        : "memory");
    in[64] = 9;
  }
  unsigned is_over = 0;
  while (is_over == 0) {
    asm volatile(
        "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
        : "=r"(is_over)
        : "r"(place(&object))
        : "memory");
  }
  out[threadIdx.x] = tile[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    in[5] = 9;
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(place(&object)) : "memory");
    *reinterpret_cast<int*>(&object) = 5;
  }
}

/// Atomics of two widths with a barrier between them.
extern "C" __global__ void atomics_of_two_widths_in_turn(unsigned long long* sum) {
  unsigned long long* const own = sum + blockIdx.x;
  atomicAdd(own, 1ull);
  __syncthreads();
  atomicAdd(reinterpret_cast<unsigned*>(own), 1u);
}
