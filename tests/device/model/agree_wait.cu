// SPDX-License-Identifier: MIT
// Blocks and lanes that wait for each other, in grids small enough to be on the device at once.
// Their results do not depend on who comes first.
#include <cuda/atomic>
#include <cuda/barrier>
#define AT                                    \
  [[maybe_unused]] const int t = threadIdx.x; \
  const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void own_grid_barrier(const int* in, int* out, int n) {
  AT;
  volatile int* const count = &out[0];
  int value = in[i];
  for (int round = 1; round <= n; ++round) {
    atomicAdd(&out[8 + round], value);
    __syncthreads();
    if (t == 0) {
      __threadfence();
      atomicAdd(&out[0], 1);
      while (*count < round * static_cast<int>(gridDim.x)) {
      }
      __threadfence();
    }
    __syncthreads();
    value = (__ldcg(&out[8 + round]) + value) % 100;
  }
  out[1024 + i] = value;
}

extern "C" __global__ void scan_looking_back(const int* in, int* out, int n) {
  __shared__ int before, partial[128];
  AT;
  partial[t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < 128; distance *= 2) {
    const int other = t >= distance ? partial[t - distance] : 0;
    __syncthreads();
    partial[t] += other;
    __syncthreads();
  }
  if (t == 0) {
    auto* states = reinterpret_cast<unsigned long long*>(out + n);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> own(states[blockIdx.x]);
    before = 0;
    if (blockIdx.x > 0) {
      cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> last(states[blockIdx.x - 1]);
      unsigned long long seen;
      while ((seen = last.load(cuda::memory_order_acquire)) == 0) {
      }
      before = static_cast<int>(seen);
    }
    own.store(1ull << 32 | static_cast<unsigned>(before + partial[127]),
              cuda::memory_order_release);
  }
  __syncthreads();
  out[i] = before + partial[t];
}

extern "C" __global__ void lock_of_blocks(const int* in, int* out, int n) {
  __shared__ int sum;
  AT;
  if (t == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[i]);
  __syncthreads();
  if (t == 0) {
    while (atomicCAS(&out[0], 0, 1) != 0) __nanosleep(50);
    __threadfence();
    for (int k = 0; k < n; ++k) *reinterpret_cast<volatile int*>(&out[8 + k]) += sum + k;
    __threadfence();
    atomicExch(&out[0], 0);
  }
}

extern "C" __global__ void last_block_adds(const int* in, int* out, int n) {
  __shared__ int partial[128];
  __shared__ bool is_last;
  AT;
  partial[t] = in[i];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) {
    out[16 + blockIdx.x] = partial[0];
    __threadfence();
    is_last = atomicInc(reinterpret_cast<unsigned*>(&out[0]), gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    int sum = 0;
    for (int k = t; k < static_cast<int>(gridDim.x); k += 128) {
      sum += *reinterpret_cast<volatile int*>(&out[16 + k]) * n;
    }
    atomicAdd(&out[1], sum);
  }
}

// A double's sum and a byte's maximum, by comparing and swapping.
extern "C" __global__ void swapped_until_done(const int* in, unsigned long long* out, int n) {
  AT;
  unsigned long long* to = &out[i % n];
  unsigned long long seen = *to, before;
  do {
    before = seen;
    seen = atomicCAS(to, before,
                     static_cast<unsigned long long>(__double_as_longlong(
                         __longlong_as_double(static_cast<long long>(before)) + in[i])));
  } while (seen != before);
}

extern "C" __global__ void flag_between_warps(const int* in, int* out, int n) {
  __shared__ volatile int ready;
  __shared__ int data[64];
  AT;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 32) {
    data[t] = in[i] * n;
    data[t + 32] = in[i] + t;
    __threadfence_block();
    __syncwarp();
    if (t == 0) ready = 1;
  } else {
    while (ready == 0) {
    }
    __threadfence_block();
    out[blockIdx.x * 64 + t - 32] = data[(t * 7) % 64];
    out[blockIdx.x * 64 + t] = data[(t * 5 + 1) % 64];
  }
}

extern "C" __global__ void split_barrier(const int* in, int* out, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[2][128];
  AT;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    tile[k & 1][t] = in[(i + k * 128) % 1024];
    auto token = barrier.arrive();
    sum = sum * 3 + k;
    barrier.wait(std::move(token));
    sum += tile[k & 1][(t * 9 + k) % 128];
  }
  out[i] = sum;
}

// Scopes and orders of the language's own atomics.
extern "C" __global__ void ordered_atomics(const int* in, int* out, int n) {
  AT;
  cuda::atomic_ref<int, cuda::thread_scope_system> all(out[0]);
  cuda::atomic_ref<int, cuda::thread_scope_block> block(out[16 + blockIdx.x]);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> bits(
      reinterpret_cast<unsigned&>(out[32 + i % n]));
  all.fetch_add(in[i], cuda::memory_order_relaxed);
  block.fetch_max(in[i], cuda::memory_order_acq_rel);
  bits.fetch_or(1u << (t & 31), cuda::memory_order_release);
  atomicAdd_system(&out[1], 2);
  atomicMin_block(&out[64 + blockIdx.x], in[i]);
  cuda::atomic_ref<int, cuda::thread_scope_device> own(out[128 + i]);
  own.store(in[i] + own.load(cuda::memory_order_acquire), cuda::memory_order_seq_cst);
}
