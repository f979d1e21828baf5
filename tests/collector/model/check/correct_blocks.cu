// SPDX-License-Identifier: MIT
// Several blocks, ordered as they have to be: nothing is to be found here.
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
__global__ void blocks_add_with_atomics(int* total, const int* in) {
  const int sum = __reduce_add_sync(0xffffffffu, in[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

__global__ void maximum_by_compare_and_swap(float* largest, const float* in) {
  const float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  int* const word = reinterpret_cast<int*>(largest);
  int seen = atomicAdd(word, 0);
  while (__int_as_float(seen) < v) {
    const int before = atomicCAS(word, seen, __float_as_int(v));
    if (before == seen) break;
    seen = before;
  }
}

__global__ void last_block_adds_up(int* out, int* partial, unsigned* done, const int* in) {
  __shared__ bool is_last;
  const int sum = __reduce_add_sync(0xffffffffu, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last) {
    const int t = threadIdx.x;
    const int part = t < static_cast<int>(gridDim.x) ? partial[t] : 0;
    const int total = __reduce_add_sync(0xffffffffu, part);
    if (t == 0) *out = total;
  }
}

// Every thread writes, waits for its block, and one of them fences for all: fences are cumulative.
__global__ void last_block_reads_all_parts(int* out, int* parts, unsigned* done, const int* in) {
  __shared__ bool is_last;
  const int t = threadIdx.x, n = gridDim.x * blockDim.x;
  parts[blockIdx.x * blockDim.x + t] = in[blockIdx.x * blockDim.x + t] * 2;
  __syncthreads();
  if (t == 0) {
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  for (int i = t; i < n; i += blockDim.x) out[i] = parts[n - 1 - i];
}

__global__ void last_block_by_atomic_ref(int* out, int* partial, unsigned* done, const int* in) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*done);
  partial[blockIdx.x] = in[blockIdx.x] + 1;
  if (count.fetch_add(1, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  *out = sum;
}

// For the next launch: the last one has seen all who counted, and nobody comes behind it.
__global__ void last_block_resets_the_count(int* out, int* partial, unsigned* done, const int* in) {
  __shared__ bool is_last;
  const int sum = __reduce_add_sync(0xffffffffu, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  const int part = threadIdx.x < gridDim.x ? __ldcg(partial + threadIdx.x) : 0;
  const int total = __reduce_add_sync(0xffffffffu, part);
  if (threadIdx.x == 0) {
    *out = total;
    *done = 0;
  }
}

// All fence, one counts, and another resets.
__global__ void last_block_resets_by_another_thread(int* out, volatile int* parts, unsigned* done,
                                                    const int* in) {
  __shared__ bool is_last;
  const int t = threadIdx.x, n = gridDim.x * blockDim.x;
  parts[blockIdx.x * blockDim.x + t] = in[blockIdx.x * blockDim.x + t] * 2;
  __threadfence();
  __syncthreads();
  if (t == 0) is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  for (int i = t; i < n; i += blockDim.x) out[i] = parts[n - 1 - i];
  if (t == 40) *done = 0;
}

__global__ void last_block_resets_by_exchange(int* out, int* partial, unsigned* done,
                                              const int* in) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = in[blockIdx.x] + 1;
  __threadfence();
  if (atomicAdd(done, 1u) != gridDim.x - 1) return;
  __threadfence();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  *out = sum;
  atomicExch(done, 0u);
}

__global__ void last_block_by_atomic_ref_resets(int* out, int* partial, unsigned* done,
                                                const int* in) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*done);
  partial[blockIdx.x] = in[blockIdx.x] + 1;
  if (count.fetch_add(1, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  *out = sum;
  *done = 0;
}

// Every thread counts; the last of all goes on.
__global__ void last_thread_resets_the_count(int* out, int* parts, unsigned* done, const int* in) {
  const unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  parts[i] = in[i] + 1;
  __threadfence();
  if (atomicAdd(done, 1u) != n - 1) return;
  __threadfence();
  int sum = 0;
  for (unsigned k = 0; k < n; ++k) sum += parts[k];
  *out = sum;
  *done = 0;
}

// A barrier of the block's scope works in shared memory alone, though its code would do for any.
__global__ void last_block_with_a_sum_of_its_own(int* out, int* partial, unsigned* done,
                                                 const int* in) {
  __shared__ int sum;
  __shared__ bool is_last;
  const int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> own(sum);
  own.fetch_add(in[blockIdx.x * blockDim.x + t], cuda::memory_order_relaxed);
  __syncthreads();
  if (t == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || t != 0) return;
  int total = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) total += partial[i];
  *out = total;
  *done = 0;
}

// Who has waited for a flag has seen it, and takes it down.
__global__ void flag_taken_down_by_who_waited(int* out, int* data, unsigned* flag, const int* in) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = in[0] + 5;
    __threadfence();
    atomicExch(flag, 1u);
  } else {
    while (*static_cast<volatile unsigned*>(flag) == 0) {
    }
    __threadfence();
    out[0] = *data;
    *flag = 0;
  }
}

struct Totals {
  int lock, total, updates;
};
__global__ void lock_with_fences(Totals* shared, const int* in) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&shared->lock, 0, 1) != 0) {
  }
  __threadfence();
  shared->total += in[blockIdx.x];
  shared->updates += 1;
  __threadfence();
  atomicExch(&shared->lock, 0);
}

// The whole block works under the lock that one of it has taken.
__global__ void lock_for_the_whole_block(int* lock, int* table, const int* in) {
  const int t = threadIdx.x;
  if (t == 0) {
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
  table[t] += in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  if (t == 0) {
    __threadfence();
    atomicExch(lock, 0);
  }
}

template <cuda::thread_scope scope>
class SpinLock {
 public:
  __device__ explicit SpinLock(int& word) : word_(word) {}
  __device__ void lock() {
    int expected = 0;
    while (!word_.compare_exchange_weak(expected, 1, cuda::memory_order_acquire)) expected = 0;
  }
  __device__ void unlock() { word_.store(0, cuda::memory_order_release); }

 private:
  cuda::atomic_ref<int, scope> word_;
};
__global__ void lock_by_acquire_and_release(Totals* shared, const int* in) {
  if (threadIdx.x % 32 != 0) return;
  SpinLock<cuda::thread_scope_device> lock(shared->lock);
  lock.lock();
  shared->total += in[blockIdx.x];
  shared->updates += 1;
  lock.unlock();
}

// Who comes takes a number and waits until it is called.
__global__ void ticket_lock(unsigned* ticket, unsigned* serving, int* total, const int* in) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> next(*ticket), now(*serving);
  const unsigned mine = next.fetch_add(1, cuda::memory_order_relaxed);
  while (now.load(cuda::memory_order_acquire) != mine) {
  }
  *total = *total * 3 % 1009 + in[blockIdx.x];
  now.store(mine + 1, cuda::memory_order_release);
}

__global__ void flag_after_data(int* out, int* data, int* ready, const int* in) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = in[t] + 5;
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else {
    if (t == 0) {
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
    }
    __syncthreads();
    out[(blockIdx.x - 1) * blockDim.x + t] = data[blockDim.x - 1 - t];
  }
}

// The same as it was written before there were atomic references.
__global__ void volatile_flag_with_fences(int* out, int* data, volatile int* ready, const int* in) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = in[0] + 5;
    __threadfence();
    *ready = 1;
  } else {
    while (*ready == 0) {
    }
    __threadfence();
    out[blockIdx.x] = *data;
  }
}

// A relaxed flag orders as well when fences stand on both sides of it.
__global__ void relaxed_flag_with_fences(int* out, int* data, int* ready, const int* in) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  if (blockIdx.x == 0) {
    *data = in[0] + 5;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    flag.store(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    out[blockIdx.x] = *data;
  }
}

// Block after block hands on what it has made.
__global__ void blocks_in_a_chain(int* data, int* turn) {
  cuda::atomic_ref<int, cuda::thread_scope_device> now(*turn);
  const int t = threadIdx.x;
  if (t == 0) {
    while (now.load(cuda::memory_order_acquire) != static_cast<int>(blockIdx.x)) {
    }
  }
  __syncthreads();
  const int handed_on = data[(t + 1) % blockDim.x];
  __syncthreads();
  data[t] = handed_on + 1;
  __syncthreads();
  if (t == 0) now.store(static_cast<int>(blockIdx.x) + 1, cuda::memory_order_release);
}

__global__ void own_grid_barrier(int* out, int* data, unsigned* arrived, const int* in) {
  const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = in[i] + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  out[i] = data[n - 1 - i];
}

// Rounds between two buffers; the barrier of the grid can be used again.
__global__ void rounds_with_a_grid_barrier(float* a, float* b, int rounds) {
  const auto grid = cg::this_grid();
  const int n = static_cast<int>(grid.size()), i = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < rounds; ++round) {
    b[i] = (a[(i + n - 1) % n] + a[(i + 1) % n]) / 2;
    grid.sync();
    float* const other = a;
    a = b;
    b = other;
  }
}

// Everybody arrives, does something else, and waits later.
__global__ void grid_barrier_in_two_halves(int* out, int* data, const int* in) {
  auto grid = cg::this_grid();
  const int n = static_cast<int>(grid.size()), i = static_cast<int>(grid.thread_rank());
  data[i] = in[i] * 3;
  auto token = grid.barrier_arrive();
  const int own = in[i] + 1;
  grid.barrier_wait(static_cast<cg::grid_group::arrival_token&&>(token));
  out[i] = data[n - 1 - i] + own;
}

// A state says how far a block is; the sums lie beside it.
__global__ void look_back_scan(int* out, int* sums, int* prefixes, int* states, const int* in) {
  __shared__ int before;
  const int t = threadIdx.x, b = blockIdx.x, i = b * 32 + t;
  int v = in[i];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, v, distance);
    if (t >= distance) v += other;
  }
  if (t == 31) {
    cuda::atomic_ref<int, cuda::thread_scope_device> own(states[b]);
    sums[b] = v;
    own.store(1, cuda::memory_order_release);
    int sum = 0;
    for (int at = b - 1; at >= 0; --at) {
      cuda::atomic_ref<int, cuda::thread_scope_device> state(states[at]);
      int seen;
      do {
        seen = state.load(cuda::memory_order_acquire);
      } while (seen == 0);
      sum += seen == 2 ? prefixes[at] : sums[at];
      if (seen == 2) break;
    }
    prefixes[b] = sum + v;
    own.store(2, cuda::memory_order_release);
    before = sum;
  }
  __syncthreads();
  out[i] = before + v;
}

// State and sum in one word: then there is nothing beside it to be ordered.
__global__ void look_back_in_one_word(int* out, unsigned long long* words, const int* in) {
  if (threadIdx.x != 0) return;
  const unsigned b = blockIdx.x;
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> own(words[b]);
  unsigned long long sum = static_cast<unsigned>(in[b]);
  if (b > 0) {
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> previous(words[b - 1]);
    unsigned long long seen;
    do {
      seen = previous.load(cuda::memory_order_relaxed);
    } while (seen >> 32 == 0);
    sum += seen & 0xffffffffu;
  }
  own.store(1ull << 32 | (sum & 0xffffffffu), cuda::memory_order_relaxed);
  out[b] = static_cast<int>(sum);
}

__global__ void queue_with_an_atomic_head(int* out, int* head, const int* in, int n) {
  __shared__ int place;
  for (;;) {
    if (threadIdx.x == 0) place = atomicAdd(head, 32);
    __syncthreads();
    const int i = place + static_cast<int>(threadIdx.x);
    if (place >= n) return;
    if (i < n) out[i] = in[i] * 2;
    __syncthreads();
  }
}

// Filled first, linked then; whoever sees it has acquired what is in it.
__global__ void stack_filled_before_linked(int* out, int* values, int* next, int* top,
                                           const int* in) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> first(*top);
  const int node = blockIdx.x + 1;
  values[node] = in[blockIdx.x];
  int below = first.load(cuda::memory_order_relaxed);
  do {
    next[node] = below;
  } while (!first.compare_exchange_weak(below, node, cuda::memory_order_acq_rel,
                                        cuda::memory_order_relaxed));
  int sum = 0;
  for (int at = node; at != 0; at = next[at]) sum += values[at];
  out[node] = sum;
}

// All blocks set what any of them finds: the same value.
__global__ void any_block_may_set_the_flag(int* found, const int* in) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] >= 0) *found = 1;
}

// Parts that touch, and do not overlap.
__global__ void stencil_into_another_buffer(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = i > 0 ? in[i - 1] : 0, right = i < n - 1 ? in[i + 1] : 0;
  out[i] = (left + right) / 2;
}

__global__ void bytes_beside_each_other(unsigned char* out, const unsigned char* in) {
  const int i = threadIdx.x * gridDim.x + blockIdx.x;
  out[i] = in[i] + 1;
}
