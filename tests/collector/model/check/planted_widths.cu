// SPDX-License-Identifier: MIT
// Accesses of several widths that overlap, and atomics beside accesses that are none.
// "!": has to be found, "?!": may be (README.md).
#include <cuda/atomic>
__global__ void byte_flags_read_as_words(unsigned* out, const unsigned char* in) {
  __shared__ unsigned words[32];
  const int t = threadIdx.x;
  reinterpret_cast<unsigned char*>(words)[t] = in[t];  // ! shared-memory race
  if (t < 32) out[t] = words[t];                       // ! shared-memory race ?! uninitialised read
}

__global__ void four_floats_read_at_once(float4* out, const float* in) {
  __shared__ __align__(16) float line[128];
  const int t = threadIdx.x;
  line[t] = in[blockIdx.x * 128 + t];  // ! shared-memory race
  if (t < 32) {
    const float4* quads = reinterpret_cast<float4*>(line);
    out[blockIdx.x * 32 + t] = quads[t];  // ! shared-memory race ?! uninitialised read
  }
}

// The second warp corrects the last of each four, the first writes all four.
__global__ void vector_store_over_a_scalar_one(float* out, const float4* in) {
  __shared__ float4 quads[32];
  const int t = threadIdx.x;
  if (t < 32) {
    quads[t] = in[t];  // ! shared-memory race
  } else {
    quads[t - 32].w = t;  // ! shared-memory race
  }
  __syncthreads();
  if (t < 32) out[blockIdx.x * 32 + t] = quads[31 - t].w;
}

__global__ void pairs_of_shorts_read_as_one(int* out, const short* in) {
  __shared__ __align__(4) short pairs[64];
  const int t = threadIdx.x;
  pairs[t] = in[t];                                                          // ! shared-memory race
  out[blockIdx.x * 64 + t] = *reinterpret_cast<const int*>(&pairs[t & ~1]);  // ! shared-memory race
}

// Neighbouring fields are neighbouring bits of one byte, and each write rewrites the byte.
struct Nibbles {
  unsigned char low : 4, high : 4;
};
__global__ void bit_fields_of_one_byte(unsigned char* out, const unsigned char* in) {
  __shared__ Nibbles cells[32];
  const int t = threadIdx.x;
  if (t < 32) reinterpret_cast<unsigned char*>(cells)[t] = 0;
  __syncthreads();
  if (t < 32) {
    cells[t].low = in[t] + t;  // ! shared-memory race
  } else {
    cells[t - 32].high = in[t] + t + 1;  // ! shared-memory race
  }
  __syncthreads();
  if (t < 32) out[t] = cells[t].low * cells[t].high;
}

__global__ void half_of_them_add_without_atomics(int* out, const int* in) {
  __shared__ int sum;
  const int t = threadIdx.x;
  if (t == 0) sum = 0;
  __syncthreads();
  if (t < 32) {
    atomicAdd(&sum, in[t]);  // ! shared-memory race
  } else if (t == 32) {
    sum += in[t];  // ! shared-memory race
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = sum;
}

__global__ void plain_look_at_an_atomic_counter(int* out, const int* in) {
  __shared__ int taken;
  const int t = threadIdx.x;
  if (t == 0) taken = 0;
  __syncthreads();
  if (in[t] >= 0) atomicAdd(&taken, 1);  // ! shared-memory race
  out[blockIdx.x * 64 + t] = taken;      // ! shared-memory race
}

// Only the atomics are ordered by the lock, not what it protects.
__global__ void block_lock_without_fences(int* out, const int* in) {
  __shared__ int lock, sum;
  const int t = threadIdx.x;
  if (t == 0) lock = sum = 0;
  __syncthreads();
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    sum += in[t];  // ! shared-memory race
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = sum;
}

// A volatile flag comes when it comes; what was written before it need not have.
__global__ void volatile_flag_between_warps(int* out, const int* in) {
  __shared__ int data[32];
  __shared__ volatile int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t < 32) {
    data[t] = in[t] * 2;  // ! shared-memory race
    __syncwarp();
    if (t == 0) ready = 1;
  } else {
    while (ready == 0) {
    }
    out[blockIdx.x * 32 + t - 32] = data[63 - t];  // ! shared-memory race ?! uninitialised read
  }
}

// Volatile on one side alone is no more than plain.
__global__ void volatile_sums_read_plainly(int* out, const int* in) {
  __shared__ int sums[64];
  const int t = threadIdx.x;
  *static_cast<volatile int*>(&sums[t]) = in[t] * 2;  // ! shared-memory race
  out[t] = sums[63 - t];                              // ! shared-memory race ?! uninitialised read
}

__global__ void plain_sums_read_as_volatile(int* out, int* sums, const int* in) {
  const int t = threadIdx.x;
  sums[t] = in[t] * 2;  // ! global-memory race
  out[t] =
      *static_cast<volatile int*>(&sums[63 - t]);  // ! global-memory race ?! uninitialised read
}

__global__ void relaxed_flag_between_warps(int* out, const int* in) {
  __shared__ int data[32];
  __shared__ int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(ready);
  if (t < 32) {
    data[t] = in[t] * 2;  // ! shared-memory race
    __syncwarp();
    if (t == 0) flag.store(1, cuda::memory_order_relaxed);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[blockIdx.x * 32 + t - 32] = data[63 - t];  // ! shared-memory race ?! uninitialised read
  }
}

// The rest of the warp has not waited for lane 0, which released what it alone had written.
__global__ void released_for_others_too_early(int* out, const int* in) {
  __shared__ int data[32];
  __shared__ int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(ready);
  if (t < 32) {
    data[t] = in[t] * 2;  // ! shared-memory race
    if (t == 0) flag.store(1, cuda::memory_order_release);
  } else {
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    out[blockIdx.x * 32 + t - 32] = data[63 - t];  // ! shared-memory race ?! uninitialised read
  }
}
