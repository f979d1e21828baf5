// SPDX-License-Identifier: MIT
// Barriers that not all threads come to, masks that name lanes which are not there, and kernels
// that end in the middle. "!": has to be found, "?!": may be (README.md).
#ifndef __CUDACC_RTC__
#include <cassert>
#endif
__global__ void barrier_for_half_of_the_warps(float* out, const float* in) {
  __shared__ float line[128];
  const int t = threadIdx.x;
  if (t < 64) {
    line[t] = in[t];
    __syncthreads();                   // ! divergent barrier
    line[t] = line[t] * line[63 - t];  // ?! shared-memory race
  } else {
    line[t] = 0;
  }
  out[blockIdx.x * 128 + t] = line[t];
}

// may hang
__global__ void barrier_for_every_other_lane(float* out, const float* in) {
  __shared__ float line[64];
  const int t = threadIdx.x;
  line[t] = in[t];  // ?! shared-memory race
  float v = 0;
  if (t % 2 == 0) {
    __syncthreads();   // ! divergent barrier
    v = line[62 - t];  // ?! shared-memory race, uninitialised read
  }
  out[blockIdx.x * 64 + t] = v;
}

__global__ void barrier_in_loop_of_different_length(float* out, const float* in) {
  __shared__ float sums[4];
  const int t = threadIdx.x, warp = t / 32;
  for (int k = 0; k <= warp; ++k) {
    if (t % 32 == 0) sums[warp] = in[k];  // ?! shared-memory race
    __syncthreads();                      // ! divergent barrier
  }
  out[blockIdx.x * 128 + t] = sums[warp];  // ?! shared-memory race
}

__global__ void two_barriers_for_one(float* out, const float* in) {
  __shared__ float line[64];
  const int t = threadIdx.x;
  if (t < 32) {
    line[t] = in[t];                          // ?! shared-memory race
    __syncthreads();                          // ! divergent barrier
    out[blockIdx.x * 64 + t] = line[63 - t];  // ?! shared-memory race, uninitialised read
  } else {
    line[t] = -in[t];                             // ?! shared-memory race
    __syncthreads();                              // ! divergent barrier
    out[blockIdx.x * 64 + t] = line[63 - t] + 1;  // ?! shared-memory race, uninitialised read
  }
}

// Those who have found what they look for go on to another barrier.
__global__ void some_leave_the_loop_early(int* out, const int* in) {
  __shared__ int found[4];
  const int t = threadIdx.x, warp = t / 32;
  if (t % 32 == 0) found[warp] = 0;
  for (int k = 0; k < 4; ++k) {
    if (warp == k && in[k] >= 0) break;
    __syncthreads();  // ! divergent barrier
  }
  if (t % 32 == 0) found[warp] = warp;      // ?! shared-memory race
  __syncthreads();                          // ! divergent barrier
  out[blockIdx.x * 128 + t] = found[warp];  // ?! shared-memory race
}

// The number decides, and within a warp they differ.
// fills: iota, random
// may hang
__global__ void barrier_where_numbers_are_odd(int* out, const int* in) {
  const int t = threadIdx.x;
  if (in[t] & 1) {
    __syncthreads();  // ! divergent barrier
    out[t] = 1;
  } else {
    out[t] = 0;
  }
}

// A barrier of 96 threads to which 64 come. They would wait for ever.
// model only
__global__ void named_barrier_for_too_many(int* out, const int* in) {
  __shared__ int line[64];
  const int t = threadIdx.x;
  line[t] = in[t];
  asm volatile("bar.sync 1, 96;" ::: "memory");  // ! divergent barrier, trap
  out[t] = line[63 - t];
}

// may hang
__global__ void shuffle_for_half_a_warp(int* out, const int* in) {
  const int lane = threadIdx.x % 32;
  int v = in[threadIdx.x];
  if (lane < 16) v += __shfl_xor_sync(0xffffffffu, v, 1);  // ! absent lanes
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// The last warp is not full.
// may hang
__global__ void whole_warps_ballot_in_the_tail(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned positive = 0;
  if (i < n) positive = __ballot_sync(0xffffffffu, in[i] >= 0);  // ! absent lanes
  out[i] = __popc(positive);
}

// may hang
__global__ void syncwarp_in_a_branch(int* out, const int* in) {
  const int lane = threadIdx.x;
  __shared__ int line[16];
  int v = in[lane];
  if (lane < 16) {
    line[lane] = v;        // ?! shared-memory race
    __syncwarp();          // ! absent lanes
    v += line[15 - lane];  // ?! shared-memory race
  }
  out[blockIdx.x * 32 + lane] = v;
}

__global__ void reads_from_a_lane_left_out(int* out, const int* in) {
  const int lane = threadIdx.x;
  int v = in[lane];
  if (lane < 16) v = __shfl_sync(0x0000ffffu, v, 20 + lane % 4);  // ! absent lanes
  out[blockIdx.x * 32 + lane] = v;
}

// may hang
__global__ void mask_without_the_lane_itself(int* out, const int* in) {
  const int lane = threadIdx.x;
  out[blockIdx.x * 32 + lane] = __shfl_sync(0x0000ffffu, in[lane], 0);  // ! absent lanes
}

// The mask was right before the first lanes left the loop.
// fills: iota, random
// may hang
__global__ void mask_from_before_the_loop(int* out, const int* in) {
  const int lane = threadIdx.x;
  const unsigned all = __activemask();
  int sum = 0;
  for (int k = in[lane] % 5; k > 0; --k) {
    sum += __any_sync(all, k == 3);  // ! absent lanes
  }
  out[blockIdx.x * 32 + lane] = sum;
}

__global__ void block_of_sixteen_reduces_as_thirty_two(int* out, const int* in) {
  int v = in[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, distance);  // ! absent lanes
  }
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

__global__ void asserts_what_does_not_hold(int* out, const int* in) {
  const int v = in[threadIdx.x];
  assert(v < 0);  // ! trap
  out[threadIdx.x] = v;
}

__global__ void gives_up_on_large_numbers(int* out, const int* in) {
  const int v = in[threadIdx.x];
  if (v >= 0) __trap();  // ! trap
  out[threadIdx.x] = v;
}

// Whoever comes second waits for ever.
// model only
__global__ void lock_never_given_back(int* out, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // ! trap
  }
  __threadfence();
  out[0] += 1;
}
