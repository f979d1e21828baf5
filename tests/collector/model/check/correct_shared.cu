// SPDX-License-Identifier: MIT
// Threads of a block that share memory and wait where they must: nothing is to be found here.
#include <cuda/atomic>
template <typename T, int side>
__global__ void transpose_through_a_tile(T* out, const T* in, int n) {
  __shared__ T tile[side][side + 1];
  int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * side + threadIdx.x, y = blockIdx.x * side + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
template __global__ void transpose_through_a_tile<float, 8>(float*, const float*, int);

__global__ void sum_as_a_tree(float* out, const float* in) {
  __shared__ float sums[128];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * 128 + t];
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[t] += sums[t + half];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// Two buffers, one barrier a step.
__global__ void scan_with_two_buffers(int* out, const int* in) {
  __shared__ int sums[2][128];
  const int t = threadIdx.x;
  int from = 0;
  sums[0][t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int distance = 1; distance < 128; distance *= 2) {
    sums[1 - from][t] = sums[from][t] + (t >= distance ? sums[from][t - distance] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sums[from][t];
}

// One buffer, two barriers a step.
__global__ void scan_with_two_barriers(int* out, const int* in) {
  __shared__ int sums[128];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  for (int distance = 1; distance < 128; distance *= 2) {
    const int other = t >= distance ? sums[t - distance] : 0;
    __syncthreads();
    sums[t] += other;
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sums[t];
}

template <int side>
__global__ void product_of_tiles(float* c, const float* a, const float* b, int n) {
  __shared__ float tile_a[side][side], tile_b[side][side];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (int tile = 0; tile < n; tile += side) {
    tile_a[y][x] = a[y * n + tile + x];
    tile_b[y][x] = b[(tile + y) * side + x];
    __syncthreads();
    for (int k = 0; k < side; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[y * side + x] = sum;
}
template __global__ void product_of_tiles<16>(float*, const float*, const float*, int);

// Those who return are not waited for.
__global__ void some_return_before_the_barrier(float* out, const float* in, int n) {
  __shared__ float line[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i >= n) return;
  line[t] = in[i];
  __syncthreads();
  out[i] = line[t / 2];
}

// Whole warps leave one after the other; the barriers of the others go on.
__global__ void warps_leave_one_after_the_other(float* out, const float* in) {
  __shared__ float line[128];
  const int t = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (t / 32 < k) return;
    line[t] = in[t + k];
    __syncthreads();
    sum += line[t ^ 1];
    out[blockIdx.x * 128 + t] = sum;
    __syncthreads();
  }
}

__global__ void histogram_of_a_block(unsigned* out, const unsigned* in) {
  __shared__ unsigned bins[64];
  const int t = threadIdx.x;
  for (int bin = t; bin < 64; bin += blockDim.x) bins[bin] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * blockDim.x + t] % 64], 1u);
  __syncthreads();
  for (int bin = t; bin < 64; bin += blockDim.x) atomicAdd(&out[bin], bins[bin]);
}

// All that write, write the same.
__global__ void flag_that_many_set(int* out, const int* in) {
  __shared__ int found;
  const int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (in[blockIdx.x * 128 + t] % 3 == 0) found = 1;
  __syncthreads();
  out[blockIdx.x * 128 + t] = found;
}

extern __shared__ float dynamic[];
__global__ void bitonic_sort(float* out, const float* in) {
  const unsigned t = threadIdx.x;
  dynamic[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned size = 2; size <= blockDim.x; size *= 2) {
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      const unsigned partner = t ^ distance;
      const float mine = dynamic[t], other = dynamic[partner];
      const bool keeps_smaller = (t < partner) == ((t & size) == 0);
      __syncthreads();
      dynamic[t] = keeps_smaller ? fminf(mine, other) : fmaxf(mine, other);
      __syncthreads();
    }
  }
  out[blockIdx.x * blockDim.x + t] = dynamic[t];
}

// Diagonal after diagonal of a table of distances.
__global__ void edit_distance(int* out, const int* a, const int* b) {
  __shared__ int table[33][33];
  const int t = threadIdx.x;
  table[t + 1][0] = t + 1;
  table[0][t + 1] = t + 1;
  if (t == 0) table[0][0] = 0;
  __syncthreads();
  for (int diagonal = 0; diagonal < 63; ++diagonal) {
    const int column = diagonal - t;
    if (column >= 0 && column < 32) {
      const int change = table[t][column] + (a[t] == b[column] ? 0 : 1);
      const int gap = min(table[t][column + 1], table[t + 1][column]) + 1;
      table[t + 1][column + 1] = min(change, gap);
    }
    __syncthreads();
  }
  out[blockIdx.x * 32 + t] = table[t + 1][32];
}

// Written byte by byte, read as words of four after a barrier.
__global__ void bytes_turned_round_in_words(unsigned* out, const unsigned char* in) {
  __shared__ __align__(4) unsigned char bytes[128];
  const int t = threadIdx.x;
  bytes[t ^ 3] = in[t];
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = reinterpret_cast<const unsigned*>(bytes)[31 - t];
}

// Neighbouring bytes of a word belong to different threads, and need no barrier for that.
__global__ void each_thread_its_own_byte(unsigned char* out, const unsigned char* in) {
  __shared__ unsigned char bytes[128];
  const int t = threadIdx.x;
  bytes[t] = in[t];
  for (int k = 0; k < 3; ++k) bytes[t] = bytes[t] * 3 + k + in[(t + k) % 128];
  out[blockIdx.x * 128 + t] = bytes[t];
}

__device__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void tell(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
// One warp fills while the other reads: a named barrier says full, another empty.
__global__ void producer_and_consumer_warps(int* out, const int* in, int rounds) {
  __shared__ int slots[2][32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; ++round) {
      const int slot = round & 1;
      if (round >= 2) meet(3 + slot, 64);
      slots[slot][lane] = in[round * 32 + lane];
      tell(1 + slot, 64);
    }
  } else {
    int sum = 0;
    for (int round = 0; round < rounds; ++round) {
      const int slot = round & 1;
      meet(1 + slot, 64);
      sum += slots[slot][31 - lane];
      if (round + 2 < rounds) tell(3 + slot, 64);
    }
    out[blockIdx.x * 32 + lane] = sum;
  }
}

__global__ void lock_of_a_block(int* out, const int* in) {
  __shared__ int lock, sum;
  const int t = threadIdx.x;
  if (t == 0) lock = sum = 0;
  __syncthreads();
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    sum = sum * 3 % 1009 + in[t];
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = sum;
}

__global__ void flag_between_warps(int* out, const int* in) {
  __shared__ int data[32];
  __shared__ int ready;
  const int t = threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(ready);
  if (t == 0) flag.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (t < 32) {
    data[t] = in[t] * 2;
    __syncwarp();
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[blockIdx.x * 32 + t - 32] = data[63 - t];
  }
}

// One thread reads a counter of all, atomically, while it is still being counted.
__global__ void looks_at_a_counter_under_way(int* out, const int* in) {
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  if (in[t] >= 0) atomicAdd(&count, 1);
  out[blockIdx.x * 64 + t] = atomicAdd(&count, 0) > 0;
}

// Threads vote at the barrier, and each may go on differently after it.
__global__ void barrier_that_counts(int* out, const int* in) {
  __shared__ int kept[128];
  const int t = threadIdx.x;
  kept[t] = in[blockIdx.x * 128 + t];
  const int positive = __syncthreads_count(kept[t] > 0);
  if (positive > 64) {
    out[blockIdx.x * 128 + t] = kept[127 - t];
  } else {
    out[blockIdx.x * 128 + t] = positive;
  }
}

// Global memory between the threads of a block: a barrier orders that as well.
__global__ void scratch_of_a_block(float* out, float* scratch, const float* in) {
  float* const own = scratch + blockIdx.x * 64;
  const int t = threadIdx.x;
  own[t] = in[blockIdx.x * 64 + t] * 2;
  __syncthreads();
  const float other = own[63 - t];
  __syncthreads();
  own[t] = other + 1;
  __syncthreads();
  out[blockIdx.x * 64 + t] = own[(t + 32) % 64];
}

struct Complex {
  double re;
  float weight;
};
__global__ void records_with_padding(Complex* out, const Complex* in) {
  __shared__ Complex kept[64];
  const int t = threadIdx.x;
  kept[t].re = in[t].re;
  kept[t].weight = 2;
  __syncthreads();
  out[blockIdx.x * 64 + t] = kept[63 - t];
}

// Indices that depend on numbers, inside an array of the thread's own.
__global__ void counts_in_a_local_array(int* out, const int* in) {
  int counts[8] = {};
  for (int i = 0; i < 32; ++i) counts[in[(i + threadIdx.x) % 64] & 7] += i;
  int largest = 0;
  for (int i = 1; i < 8; ++i) {
    if (counts[(i * 3) & 7] > counts[largest]) largest = (i * 3) & 7;
  }
  out[blockIdx.x * 64 + threadIdx.x] = largest;
}

// Four floats at once as long as there are four, then one by one.
__global__ void vectors_and_a_tail(float* out, const float* in, int n) {
  const int t = threadIdx.x;
  for (int i = t; i < n / 4; i += blockDim.x) {
    float4 v = reinterpret_cast<const float4*>(in)[i];
    v.x += v.w;
    reinterpret_cast<float4*>(out)[i] = v;
  }
  for (int i = n / 4 * 4 + t; i < n; i += blockDim.x) out[i] = in[i];
}

// The last warp of the block goes on, and sets the count back for the next round.
__global__ void last_warp_resets_the_count(int* out, const int* in, int rounds) {
  __shared__ volatile int sums[4];
  __shared__ unsigned done;
  const int t = threadIdx.x;
  if (t == 0) done = 0;
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    const int sum = __reduce_add_sync(0xffffffffu, in[t] + round);
    if (t % 32 == 0) {
      sums[t / 32] = sum;
      __threadfence_block();
      if (atomicAdd(&done, 1u) == blockDim.x / 32 - 1) {
        __threadfence_block();
        int total = 0;
        for (unsigned i = 0; i < blockDim.x / 32; ++i) total += sums[i];
        out[round] = total;
        done = 0;
      }
    }
    __syncthreads();
  }
}
