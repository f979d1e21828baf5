// SPDX-License-Identifier: MIT
// Races between blocks: each pair here would need an atomic, a fence or another launch.
// "!": has to be found, "?!": may be (README.md).
#include <cuda/atomic>
__global__ void halo_in_place(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = i > 0 ? a[i - 1] : 0;       // ! race between blocks
  const float right = i < n - 1 ? a[i + 1] : 0;  // ! race between blocks
  __syncthreads();
  a[i] = (left + right) / 2;  // ! race between blocks
}

__global__ void neighbours_output_in_the_same_launch(float* shifted, float* scaled,
                                                     const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  scaled[i] = 2 * in[i];  // ! race between blocks
  __syncthreads();
  shifted[i] = scaled[(i + blockDim.x) % n];  // ! race between blocks ?! uninitialised read
}

__global__ void blocks_add_without_an_atomic(int* total, const int* in) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *total += sum;  // ! race between blocks
}

__global__ void every_block_writes_its_minimum(int* minimum, const int* in) {
  int least = in[blockIdx.x * 32 + threadIdx.x];
  least = __reduce_min_sync(0xffffffffu, least);
  if (threadIdx.x == 0 && least <= *minimum) *minimum = least;  // ! race between blocks
}

// The last block adds up what it cannot know to be there.
__global__ void last_block_without_fence(int* out, int* partial, unsigned* done, const int* in) {
  __shared__ bool is_last;
  const int sum = __reduce_add_sync(0xffffffffu, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;  // ! race between blocks
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];  // ! race between blocks
    *out = total;
  }
}

__global__ void last_block_with_the_blocks_fence(int* out, int* partial, unsigned* done,
                                                 const int* in) {
  __shared__ bool is_last;
  const int sum = __reduce_add_sync(0xffffffffu, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;  // ! race between blocks
    __threadfence_block();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence_block();
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];  // ! race between blocks
    *out = total;
  }
}

// Each thread writes a part, but the fence of thread 0 comes before it has waited for the others.
__global__ void last_block_fence_before_the_barrier(int* out, int* parts, unsigned* done,
                                                    const int* in) {
  __shared__ bool is_last;
  const int t = threadIdx.x, n = gridDim.x * blockDim.x;
  const int own = blockIdx.x * blockDim.x + t;
  parts[own] = in[own] * 2;  // ! race between blocks
  if (t == 0) {
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  for (int i = t; i < n; i += blockDim.x) out[i] = parts[i];  // ! race between blocks
}

// Block 1 takes the count back while others still count.
__global__ void count_reset_by_a_certain_block(int* out, int* partial, unsigned* done,
                                               const int* in) {
  __shared__ bool is_last;
  const int sum = __reduce_add_sync(0xffffffffu, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;  // ! race between blocks
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 1) *done = 0;  // ! race between blocks
  if (is_last) *out = partial[0];
}

// The last thread of the last block resets, but has not waited for the one that counted.
__global__ void count_reset_before_the_barrier(int* out, int* partial, unsigned* done,
                                               const int* in) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;  // ! race between blocks
  }
  const bool is_last_thread = threadIdx.x == 63 && blockIdx.x == gridDim.x - 1;
  if (is_last_thread) *done = 0;  // ! race between blocks, global-memory race
  __syncthreads();
  if (is_last && threadIdx.x == 0) *out = partial[0];
}

// The last block takes the count back by an atomic that is one for its own threads alone.
__global__ void count_of_the_blocks_scope_at_the_end(int* out, int* partial, unsigned* done,
                                                     const int* in) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (atomicAdd(done, 1u) != gridDim.x - 1) return;  // ?! race between blocks
  __threadfence();
  *out = partial[0];
  atomicSub_block(done, gridDim.x);  // ! race between blocks
}

// Without a fence the count says nothing, neither of the sums nor of who has counted.
__global__ void count_reset_without_fence(int* out, int* partial, unsigned* done, const int* in) {
  __shared__ bool is_last;
  const int sum = __reduce_add_sync(0xffffffffu, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;                       // ?! race between blocks
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;  // ?! race between blocks
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];  // ! race between blocks
  *out = total;
  *done = 0;  // ! race between blocks
}

// Atomic for the threads of a block, and there are four blocks.
__global__ void atomic_of_the_block_between_blocks(int* total, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_block(total, in[i]);  // ! race between blocks
}

__global__ void scope_of_the_block_between_blocks(int* total, const int* in) {
  cuda::atomic_ref<int, cuda::thread_scope_block> sum(*total);
  sum.fetch_add(in[blockIdx.x * blockDim.x + threadIdx.x]);  // ! race between blocks
}

__global__ void plain_read_of_what_others_add_to(int* out, int* total, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(total, in[i]);  // ! race between blocks
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = *total;  // ! race between blocks
}

// Two buffers take turns, but only a block waits for itself between the rounds.
__global__ void rounds_without_a_grid_barrier(float* a, float* b, int rounds) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const float left = a[(i + n - 1) % n];  // ! race between blocks
    const float right = a[(i + 1) % n];     // ! race between blocks
    b[i] = (left + right) / 2;              // ! race between blocks
    __syncthreads();
    float* const other = a;
    a = b;
    b = other;
  }
}

// It waits for all blocks, but nothing makes their writes visible.
__global__ void own_grid_barrier_without_fences(int* out, int* data, unsigned* arrived,
                                                const int* in) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = in[i] + 1;  // ! race between blocks
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
  }
  __syncthreads();
  out[i] = data[n - 1 - i];  // ! race between blocks ?! uninitialised read
}

// The sum may come after the flag that announces it.
__global__ void look_back_with_a_relaxed_flag(int* out, int* sums, int* ready, const int* in) {
  const int t = threadIdx.x, b = blockIdx.x;
  const int sum = __reduce_add_sync(0xffffffffu, in[b * 32 + t]);
  if (t == 0) {
    int before = 0;
    if (b > 0) {
      cuda::atomic_ref<int, cuda::thread_scope_device> previous(ready[b - 1]);
      while (previous.load(cuda::memory_order_acquire) == 0) {
      }
      before = sums[b - 1];  // ! race between blocks ?! uninitialised read
    }
    sums[b] = before + sum;  // ! race between blocks
    cuda::atomic_ref<int, cuda::thread_scope_device> own(ready[b]);
    own.store(1, cuda::memory_order_relaxed);
    out[b] = before;
  }
}
