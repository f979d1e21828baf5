// SPDX-License-Identifier: MIT
// Locks, flags and queues between blocks that order less than they seem to.
// "!": has to be found, "?!": may be (README.md).
#include <cuda/atomic>
struct Counters {
  int lock, total, updates, head;
};

// Everything is ordered when the lock is taken; nothing when it is given back.
__global__ void lock_released_without_fence(Counters* shared, const int* in) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&shared->lock, 0, 1) != 0) {
  }
  __threadfence();
  shared->total += in[blockIdx.x];  // ! race between blocks
  atomicExch(&shared->lock, 0);
}

__global__ void lock_taken_without_fence(Counters* shared, const int* in) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&shared->lock, 0, 1) != 0) {
  }
  shared->total += in[blockIdx.x];  // ! race between blocks
  __threadfence();
  atomicExch(&shared->lock, 0);
}

// A store is no release.
__global__ void lock_given_back_by_a_plain_store(Counters* shared, const int* in) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&shared->lock, 0, 1) != 0) {  // ! race between blocks
  }
  __threadfence();
  shared->total += in[blockIdx.x];  // ?! race between blocks
  __threadfence();
  shared->lock = 0;  // ! race between blocks
}

// A value from before the lock is old when it is written back.
template <class Scope>
struct SpinLock {
  int& word;
  __device__ void take() {
    typename Scope::Reference lock(word);
    int expected = 0;
    while (!lock.compare_exchange_weak(expected, 1, cuda::memory_order_acquire)) expected = 0;
  }
  __device__ void give_back() {
    typename Scope::Reference(word).store(0, cuda::memory_order_release);
  }
};
struct Device {
  using Reference = cuda::atomic_ref<int, cuda::thread_scope_device>;
};
struct Block {
  using Reference = cuda::atomic_ref<int, cuda::thread_scope_block>;
};
__global__ void read_before_the_lock(Counters* shared, const int* in) {
  if (threadIdx.x != 0) return;
  SpinLock<Device> lock{shared->lock};
  const int old = shared->total;  // ! race between blocks
  lock.take();
  shared->total = old + in[blockIdx.x];  // ! race between blocks
  lock.give_back();
}

__global__ void written_after_the_lock(Counters* shared, const int* in) {
  if (threadIdx.x != 0) return;
  SpinLock<Device> lock{shared->lock};
  lock.take();
  shared->total += in[blockIdx.x];
  lock.give_back();
  shared->updates += 1;  // ! race between blocks
}

// The block that holds the lock is hidden from the others.
// model only
__global__ void lock_of_the_wrong_scope(Counters* shared, const int* in) {
  if (threadIdx.x != 0) return;
  SpinLock<Block> lock{shared->lock};
  lock.take();                      // ! race between blocks
  shared->total += in[blockIdx.x];  // ! race between blocks
  lock.give_back();                 // ! race between blocks
}

// Each block locks its own door to the same room.
__global__ void every_block_its_own_lock(int* locks, int* total, const int* in) {
  if (threadIdx.x != 0) return;
  SpinLock<Device> lock{locks[blockIdx.x]};
  lock.take();
  *total += in[blockIdx.x];  // ! race between blocks
  lock.give_back();
}

__global__ void reader_without_the_lock(int* out, Counters* shared, const int* in) {
  if (threadIdx.x != 0) return;
  SpinLock<Device> lock{shared->lock};
  if (blockIdx.x % 2 == 0) {
    lock.take();
    shared->total += in[blockIdx.x];  // ! race between blocks
    lock.give_back();
  } else {
    out[blockIdx.x] = shared->total;  // ! race between blocks
  }
}

// The release comes before the write.
__global__ void flag_before_data(int* out, int* data, int* ready, const int* in) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    flag.store(1, cuda::memory_order_release);
    *data = in[0] + 5;  // ! race between blocks
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[blockIdx.x] = *data;  // ! race between blocks ?! uninitialised read
  }
}

// The writer does it right; the reader looks too early, in the order of the machine.
__global__ void flag_read_without_acquire(int* out, int* data, volatile int* ready, const int* in) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = in[0] + 5;  // ! race between blocks
    __threadfence();
    *ready = 1;
  } else {
    while (*ready == 0) {
    }
    out[blockIdx.x] = *data;  // ! race between blocks ?! uninitialised read
  }
}

// All threads of the first block write, and one of them releases without a barrier before it.
__global__ void released_by_one_for_all(int* out, int* data, int* ready, const int* in) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = in[t];  // ! race between blocks
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    const int i = (blockIdx.x - 1) * blockDim.x + t;
    out[i] = data[t];  // ! race between blocks ?! uninitialised read
  }
}

// All threads of the second block read, and one of them has acquired without a barrier after it.
__global__ void acquired_by_one_for_all(int* out, int* data, int* ready, const int* in) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*ready);
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = in[t];  // ! race between blocks
    __syncthreads();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else {
    if (t == 0) {
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
    }
    const int i = (blockIdx.x - 1) * blockDim.x + t;
    out[i] = data[t];  // ! race between blocks ?! uninitialised read
  }
}

__global__ void queue_with_a_plain_head(int* out, int* head, const int* in, int n) {
  if (threadIdx.x != 0) return;
  for (int taken = 0; taken < 2; ++taken) {
    const int place = *head;                    // ! race between blocks
    *head = place + 1;                          // ! race between blocks
    if (place < n) out[place] = in[place] * 2;  // ?! race between blocks, equal writes
  }
}

// A node is linked before there is something in it.
__global__ void stack_linked_before_filled(int* out, int* values, int* top, const int* in) {
  if (threadIdx.x != 0) return;
  const int node = blockIdx.x + 1;
  __threadfence();
  const int below = atomicExch(top, node);
  __threadfence();
  values[node] = in[blockIdx.x];  // ! race between blocks
  __threadfence();
  if (below != 0) out[node] = values[below];  // ! race between blocks ?! uninitialised read
}

// Bytes of one word, rewritten whole by each block.
__global__ void bytes_of_a_word_rewritten_whole(unsigned* words) {
  if (threadIdx.x != 0) return;
  const unsigned shift = 8 * blockIdx.x;
  *words = (*words & ~(0xffu << shift)) | (blockIdx.x + 1) << shift;  // ! race between blocks
}

// Blocks' parts are no multiple of four floats, so the vectors at their edges overlap.
__global__ void vectors_that_reach_into_the_next_part(float4* out, const float4* in) {
  const int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
  float4 v = in[i];
  v.x *= blockIdx.x + 2;
  v.w += blockIdx.x + 1;
  out[i] = v;  // ! race between blocks
}

// The blocks add in turn. The fence stands behind the wait alone, not before the turn is passed on.
__global__ void turn_passed_on_without_fence(float* tile, volatile int* turn) {
  if (threadIdx.x == 0) {
    while (*turn != blockIdx.x) {
    }
    __threadfence();
  }
  __syncthreads();
  tile[threadIdx.x] += 1;  // ! race between blocks
  __syncthreads();
  if (threadIdx.x == 0) *turn = blockIdx.x + 1;
}

// All threads have fenced, and one passes the turn on before the others are done.
__global__ void turn_passed_on_without_barrier(float* tile, volatile int* turn) {
  if (threadIdx.x == 0) {
    while (*turn != blockIdx.x) {
    }
    __threadfence();
  }
  __syncthreads();
  tile[threadIdx.x] += 1;  // ! race between blocks
  __threadfence();
  if (threadIdx.x == 0) *turn = blockIdx.x + 1;
}

// The last warp of a block adds up what all have left.
__global__ void last_warp_without_fence(int* out, const int* in) {
  __shared__ int parts[4], done;
  const int t = threadIdx.x;
  if (t == 0) done = 0;
  __syncthreads();
  if (t % 32 != 0) return;
  parts[t / 32] = in[t];  // ! shared-memory race
  if (atomicAdd(&done, 1) != 3) return;
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += parts[i];  // ! shared-memory race ?! uninitialised read
  out[blockIdx.x] = sum;
}

// No flag tells of the count: it wants an atomic.
__global__ void count_beside_a_counter(int* counts) {
  if (threadIdx.x != 0) return;
  atomicAdd(&counts[0], 1);
  counts[1] += 1;  // ! race between blocks
}

// ---- counters that nobody asks: no fence makes an order of them

__global__ void counter_read_while_others_add(int* out, const int* in) {
  __shared__ int count;
  if (threadIdx.x == 0) count = in[0];
  __syncthreads();
  atomicAdd(&count, 1);      // ?! shared-memory race
  out[threadIdx.x] = count;  // ! shared-memory race
}

__global__ void counter_read_behind_a_fence(int* out, const int* in) {
  __shared__ int count;
  if (threadIdx.x == 0) count = in[0];
  __syncthreads();
  atomicAdd(&count, 1);  // ?! shared-memory race
  __threadfence_block();
  out[threadIdx.x] = count;  // ! shared-memory race
}

__global__ void total_read_while_others_add(int* out, int* total, const int* in) {
  atomicAdd(total, in[threadIdx.x]);  // ?! race between blocks, global-memory race
  out[blockIdx.x * blockDim.x + threadIdx.x] = *total;  // ! race between blocks, global-memory race
}
