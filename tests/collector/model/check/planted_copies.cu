// SPDX-License-Identifier: MIT
// Asynchronous copies and barrier objects that are waited for wrongly, or not at all.
// "!": has to be found, "?!": may be (README.md).
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void copy_nobody_waited_for(float* out, const float* in) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));  // ! shared-memory race
  __pipeline_commit();
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[63 - t];  // ! shared-memory race ?! uninitialised read
}

// Its own thread, even, does not see it before it has waited.
__global__ void own_copy_not_waited_for(float* out, const float* in) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));  // ! shared-memory race
  __pipeline_commit();
  out[blockIdx.x * 64 + t] = tile[t];  // ! shared-memory race ?! uninitialised read
}

// Each thread waits for its own copies after the barrier: for others' it has not waited.
__global__ void waited_after_the_barrier(float* out, const float* in) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));  // ! shared-memory race
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[blockIdx.x * 64 + t] = tile[63 - t];  // ! shared-memory race ?! uninitialised read
}

// Only the readers wait, and they have copied nothing.
__global__ void waited_for_by_the_wrong_warp(float* out, const float* in) {
  __shared__ float tile[32];
  const int t = threadIdx.x;
  if (t < 32) {
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));  // ! shared-memory race
    __pipeline_commit();
  } else {
    __pipeline_wait_prior(0);
  }
  __syncthreads();
  const int i = blockIdx.x * 32 + t - 32;
  if (t >= 32) out[i] = tile[t - 32];  // ! shared-memory race ?! uninitialised read
}

// One group may be under way, the one that is read next; at the last there is no next.
__global__ void one_group_too_many_under_way(float* out, const float* in, int chunks) {
  __shared__ float tiles[2][64];
  const int t = threadIdx.x;
  float sum = 0;
  __pipeline_memcpy_async(&tiles[0][t], &in[t], sizeof(float));
  __pipeline_commit();
  for (int c = 0; c < chunks; ++c) {
    if (c + 1 < chunks) {
      float* const to = &tiles[(c + 1) & 1][t];
      __pipeline_memcpy_async(to, &in[(c + 1) * 64 + t], sizeof(float));  // ! shared-memory race
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += tiles[c & 1][(t + 32) % 64];  // ! shared-memory race ?! uninitialised read
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = sum;
}

// The copy goes into what others still read.
__global__ void copied_over_what_is_read(float* out, const float* in) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  const float first = tile[63 - t];                               // ! shared-memory race
  __pipeline_memcpy_async(&tile[t], &in[64 + t], sizeof(float));  // ! shared-memory race
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 64 + t] = first + tile[63 - t];
}

__global__ void group_copy_without_wait(float* out, const float* in) {
  __shared__ float tile[64];
  const auto block = cg::this_thread_block();
  const unsigned t = block.thread_rank();
  cg::memcpy_async(block, tile, in, sizeof(float) * 64);  // ! shared-memory race
  block.sync();
  out[blockIdx.x * 64 + t] = tile[63 - t];  // ! shared-memory race ?! uninitialised read
  cg::wait(block);
}

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void arrived_without_waiting(float* out, const float* in) {
  __shared__ alignas(BlockBarrier) unsigned char place[sizeof(BlockBarrier)];
  auto* barrier = reinterpret_cast<BlockBarrier*>(place);
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t == 0) init(barrier, 64);
  __syncthreads();
  tile[t] = in[t];  // ! shared-memory race
  auto token = barrier->arrive();
  (void)token;
  out[blockIdx.x * 64 + t] = tile[63 - t];  // ! shared-memory race ?! uninitialised read
}

// A barrier in its first phase takes the phase before that for complete. (It stays in it: the
// readers, who arrive last, are counted too.)
__global__ void waited_for_the_wrong_phase(float* out, const float* in) {
  __shared__ alignas(BlockBarrier) unsigned char place[sizeof(BlockBarrier)];
  auto* barrier = reinterpret_cast<BlockBarrier*>(place);
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t == 0) init(barrier, 64);
  __syncthreads();
  if (t < 32) {
    tile[t] = in[t];  // ! shared-memory race
    (void)barrier->arrive();
  } else {
    barrier->wait_parity(true);
    out[blockIdx.x * 32 + t - 32] = tile[63 - t];  // ! shared-memory race ?! uninitialised read
    (void)barrier->arrive();
  }
}

// Half of those who write are not counted, so the barrier opens without them.
__global__ void barrier_object_for_half_of_the_writers(float* out, const float* in) {
  __shared__ alignas(BlockBarrier) unsigned char place[sizeof(BlockBarrier)];
  auto* barrier = reinterpret_cast<BlockBarrier*>(place);
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t == 0) init(barrier, 32);
  __syncthreads();
  if (t < 32) {
    tile[t] = in[t];
    barrier->arrive_and_wait();
    const float other = tile[t + 32];  // ! shared-memory race ?! uninitialised read
    out[blockIdx.x * 32 + t] = tile[t] + other;
  } else {
    tile[t] = 1 - in[t] * in[t];  // ! shared-memory race
  }
}

// Two stages; the reader takes what it has not waited for.
__global__ void pipeline_without_consumer_wait(float* out, const float* in, int chunks) {
  __shared__ float tiles[2][64];
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
  __shared__ alignas(State) unsigned char place[sizeof(State)];
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, reinterpret_cast<State*>(place));
  const unsigned t = block.thread_rank();
  float sum = 0;
  for (int c = 0; c < chunks; ++c) {
    pipeline.producer_acquire();
    float* const to = &tiles[c & 1][t];
    cuda::memcpy_async(to, &in[c * 64 + t], sizeof(float), pipeline);  // ! shared-memory race
    pipeline.producer_commit();
    sum += tiles[c & 1][63 - t];  // ! shared-memory race ?! uninitialised read
    pipeline.consumer_wait();
    pipeline.consumer_release();
  }
  out[blockIdx.x * 64 + t] = sum;
}

// Two of three stages are to be done; the wait leaves two under way, and the last groups are empty.
__global__ void wait_that_is_one_group_too_weak(float* out, const float* in, int chunks) {
  __shared__ float tiles[3][64];
  const int t = threadIdx.x;
  float sum = 0;
  for (int c = 0; c < 2; ++c) {
    __pipeline_memcpy_async(&tiles[c][t], &in[c * 64 + t], sizeof(float));  // ! shared-memory race
    __pipeline_commit();
  }
  for (int c = 0; c < chunks; ++c) {
    __pipeline_wait_prior(2);
    __syncthreads();
    if (c + 2 < chunks) {
      float* const to = &tiles[(c + 2) % 3][t];
      __pipeline_memcpy_async(to, &in[(c + 2) * 64 + t], sizeof(float));  // ! shared-memory race
    }
    __pipeline_commit();
    sum += tiles[c % 3][63 - t];  // ! shared-memory race ?! uninitialised read
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = sum;
}

// The commit stands behind a branch that nobody takes, and is one group, not two.
__global__ void group_behind_a_branch(float* out, const float* in, int more) {
  __shared__ float tiles[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tiles[0][t], &in[t], sizeof(float));  // ! shared-memory race
  __pipeline_commit();
  if (more > 5) __pipeline_memcpy_async(&tiles[1][t], &in[64 + t], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(2);
  out[blockIdx.x * 64 + t] = tiles[0][t];  // ! shared-memory race ?! uninitialised read
}

__device__ unsigned place_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void init_object(const unsigned long long* object, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(place_of(object)), "r"(count) : "memory");
}

// The barrier object counts the copies; nobody waits for it.
__global__ void object_of_copies_not_waited_for(float* out, const float* in) {
  __shared__ float tile[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) init_object(&object, 64);
  __syncthreads();
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));  // ! shared-memory race
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(place_of(&object))
               : "memory");
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[63 - t];  // ! shared-memory race ?! uninitialised read
}

// The same where the copies are arrivals beside those of their threads.
__global__ void counted_copies_not_waited_for(float* out, const float* in) {
  __shared__ float tile[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) init_object(&object, 64);
  __syncthreads();
  __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));  // ! shared-memory race
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(place_of(&object)) : "memory");
  asm volatile(
      "{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(place_of(&object))
      : "memory");
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[63 - t];  // ! shared-memory race ?! uninitialised read
}

// The copy is longer than any shared memory: the checker stops at its end.
__global__ void copy_of_nearly_4_gibibytes(float* out, const float* in, unsigned bytes) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    init_object(&object, 1);
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], 256; }" ::"r"(
            place_of(&object))
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];" ::
            "r"(place_of(tile)),
        "l"(in), "r"(place_of(&object)), "r"(bytes)  // ! out of bounds ?! shared-memory race
        : "memory");
  }
  __syncthreads();
  out[blockIdx.x * 64 + t] = static_cast<float>(t);
}

/// The source changes while the copy is under way.
extern "C" __global__ void source_changed_too_early(float* out, float* in) {
  __shared__ alignas(16) float tile[256];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * threadIdx.x)
               : "memory");
  in[4 * threadIdx.x + 1] = 7;  // ! global-memory race
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = tile[4 * threadIdx.x];
}

/// A copy in bulk whose source changes, and one whose wait's answer nobody uses.
__device__ void start_bulk_copy(float* to, const float* from, unsigned bytes,
                                unsigned long long* object) {
  const auto place = [](const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  };
  asm volatile(
      "{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"(place(object)),
      "r"(bytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(place(to)),
      "l"(from), "r"(bytes), "r"(place(object))
      : "memory");
}

__device__ void begin_object(unsigned long long* object) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(object)))
               : "memory");
}

__device__ bool is_over(unsigned long long* object, unsigned parity) {
  unsigned answer;
  asm volatile(
      "{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
      : "=r"(answer)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(object))), "r"(parity)
      : "memory");
  return answer != 0;
}

extern "C" __global__ void bulk_source_changed_too_early(float* out, float* in) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long object;
  if (threadIdx.x == 0) begin_object(&object);
  __syncthreads();
  if (threadIdx.x == 0) {
    start_bulk_copy(tile, in, sizeof tile, &object);
    in[5] = 9;  // ! global-memory race
  }
  while (!is_over(&object, 0)) {
  }
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void answer_of_the_wait_ignored(float* out, float* in) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long object;
  if (threadIdx.x == 0) begin_object(&object);
  __syncthreads();
  if (threadIdx.x == 0) start_bulk_copy(tile, in, sizeof tile, &object);  // ?! shared-memory race
  (void)is_over(&object, 0);
  out[threadIdx.x] = tile[63 - threadIdx.x];  // ! shared-memory race
}

extern "C" __global__ void block_ends_before_the_copy(float* out, float* in) {
  __shared__ alignas(128) float tile[64];
  __shared__ unsigned long long object;
  if (threadIdx.x == 0) {
    begin_object(&object);
    start_bulk_copy(tile, in, sizeof tile, &object);  // ! shared-memory race
  }
  out[threadIdx.x] = 1;
}

extern "C" __global__ void object_overwritten_in_use(int* out) {
  __shared__ unsigned long long object;
  if (threadIdx.x == 0) begin_object(&object);
  __syncthreads();
  if (threadIdx.x == 0) *reinterpret_cast<int*>(&object) = 5;  // ! shared-memory race
  __syncthreads();
  out[threadIdx.x] = *reinterpret_cast<int*>(&object);
}

extern "C" __global__ void atomics_of_two_widths(unsigned long long* sum) {
  if (blockIdx.x == 0) {
    atomicAdd(sum, 1ull);  // ! race between blocks
  } else {
    atomicAdd(reinterpret_cast<unsigned*>(sum), 1u);  // ! race between blocks
  }
}
