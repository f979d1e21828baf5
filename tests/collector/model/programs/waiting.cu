// SPDX-License-Identifier: MIT
// Blocks that wait for each other, and memory that a thread takes from its stack.
#include <cooperative_groups.h>

#include <cuda/atomic>
namespace cg = cooperative_groups;

extern "C" {
// Every block needs what all others have added up.
__global__ void grid_rounds(int* out, int* sums, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  int value = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < rounds; ++round) {
    atomicAdd(&sums[round], value);
    grid.sync();
    value = sums[round] % 1000 + static_cast<int>(grid.block_rank());
  }
  out[grid.thread_rank()] = value;
}

// Nothing but barriers.
__global__ void grid_meets(int* out, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) grid.sync();
  if (grid.thread_rank() == 0) *out = rounds;
}

// Two blocks hand a token to and fro.
__global__ void token(volatile int* token, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    while (*token != 2 * round + static_cast<int>(blockIdx.x)) {
    }
    *token = 2 * round + blockIdx.x + 1;
  }
}

// Each block goes on when the one after it has: the last one begins.
__global__ void from_last_to_first(int* out, volatile int* flags) {
  const int block = blockIdx.x, last = gridDim.x - 1;
  if (threadIdx.x == 0) {
    if (block != last) {
      while (flags[block + 1] == 0) {
      }
    }
    out[block] = block == last ? 1 : out[block + 1] + block;
    __threadfence();
    flags[block] = 1;
  }
}

// Each block goes on when the one before it has.
__global__ void from_first_to_last(int* out, volatile int* flags) {
  const int block = blockIdx.x;
  if (threadIdx.x == 0) {
    if (block != 0) {
      while (flags[block - 1] == 0) {
      }
    }
    out[block] = block;
    __threadfence();
    flags[block] = 1;
  }
}

// A scan that looks back over its predecessors' sums, as in "Single-pass Parallel Prefix Scan with
// Decoupled Look-back" (Merrill and Garland): 1 in the upper half is a block's own sum, 2 all
// before.
__global__ void look_back(int* out, const int* in, unsigned long long* states, int* ticket) {
  __shared__ int block, before, partial[128];
  const int t = threadIdx.x;
  if (t == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  const int i = block * 128 + t;
  partial[t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < 128; distance *= 2) {
    const int other = t >= distance ? partial[t - distance] : 0;
    __syncthreads();
    partial[t] += other;
    __syncthreads();
  }
  if (t == 0) {
    const int sum = partial[127];
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> own(states[block]);
    own.store(1ull << 32 | static_cast<unsigned>(sum), cuda::memory_order_release);
    before = 0;
    for (int at = block - 1; at >= 0; --at) {
      cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> state(states[at]);
      unsigned long long seen;
      do {
        seen = state.load(cuda::memory_order_acquire);
      } while (seen == 0);
      before += static_cast<int>(seen);
      if (seen >> 32 == 2) break;
    }
    own.store(2ull << 32 | static_cast<unsigned>(before + sum), cuda::memory_order_release);
  }
  __syncthreads();
  out[i] = before + partial[t];
}

// Each lane takes the lock for itself.
__global__ void lock_each(int* out, int* lock) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      out[0] = out[0] * 3 % 1009 + 1;
      out[1] += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// Who finds the box empty fills it: how often one has to try is not told by the lock's own answer.
__global__ void fill_box(int* box, int* lock, int* tries) {
  int mine = 0;
  for (bool filled = false; !filled;) {
    ++mine;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    filled = box[0] % gridDim.x == blockIdx.x;
    if (filled) box[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
  tries[blockIdx.x] = mine;
}

// Each takes the next free place: what lanes store side by side depends on who came first.
__global__ void keep_odd(int* kept, const int* in, int* count) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (value % 2 != 0) kept[atomicAdd(count, 1)] = value;
}

// The block that comes last adds up what the others left.
__global__ void last_block(int* out, int* partial, unsigned* count) {
  __shared__ bool is_last;
  const int t = threadIdx.x;
  atomicAdd(&partial[blockIdx.x], t);
  __threadfence();
  if (t == 0) is_last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (is_last && t == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    out[0] = sum;
  }
}

// One thread of each block asks for all; the last block answers.
__global__ void ask_for_all(volatile int* flag, int* out) {
  __shared__ int seen;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *flag = 1;
  do {
    __syncthreads();
    if (threadIdx.x == 0) seen = *flag;
    __syncthreads();
  } while (seen == 0);
  atomicAdd(out, 1);
}
__global__ void ask_in_vain(volatile int* flag, int* out) {
  __shared__ int seen;
  do {
    __syncthreads();
    if (threadIdx.x == 0) seen = *flag;
    __syncthreads();
  } while (seen == 0);
  *out = 1;
}

// It waits where the loop around begins.
__global__ void asks_first(volatile int* flag, int* out, int rounds) {
  for (int i = 1; i <= rounds; ++i) {
    while (*flag != 1) {
    }
    out[i - 1] = i;
  }
}

// Nobody ever answers.
__global__ void no_answer(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void no_answer_in_turn(int* flag, int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
  *flag = 1;
}

__device__ __noinline__ int reversed_digits(int n, int base) {
  int* digits = static_cast<int*>(alloca(static_cast<size_t>(16 + n % 7) * sizeof(int)));
  int count = 0, value = 0;
  for (; n > 0; n /= base) digits[count++] = n % base;
  for (int i = 0; i < count; ++i) value = value * base + digits[i];
  return value;
}
__global__ void takes_from_stack(int* out, int rounds) {
  const int n = static_cast<int>(threadIdx.x) % 5 + 3;
  int* own = static_cast<int*>(alloca(static_cast<size_t>(n) * sizeof(int)));
  for (int i = 0; i < n; ++i) own[i] = i * i;
  int sum = 0;
  for (int i = 0; i < rounds; ++i) sum += reversed_digits(i + n, 3);
  for (int i = 0; i < n; ++i) sum += own[n - 1 - i];
  out[threadIdx.x] = sum;
}
}
