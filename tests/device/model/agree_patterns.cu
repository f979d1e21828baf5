// SPDX-License-Identifier: MIT
// Every width on many address patterns in one kernel: a stride, an offset and a set of lanes a
// round.
#include <cuda_fp16.h>

#include <cstdint>
__device__ unsigned mix(unsigned x) {
  x = (x ^ x >> 15) * 0x2C1B3C6DU;
  x = (x ^ x >> 12) * 0x297A2D39U;
  return x ^ x >> 15;
}

/// Which lanes take part in a round: all, halves, quarters, every second one, any.
__device__ bool takes_part(int round, unsigned lane) {
  const unsigned masks[8] = {~0U,         0xFFFFU,     0xFFFF0000U, 0x00FF00FFU,
                             0x55555555U, 0x80000001U, 0x33333333U, 0};
  const unsigned mask = round % 8 < 7 ? masks[round % 8] : mix(round * 77 + blockIdx.x);
  return mask >> lane & 1;
}

__device__ unsigned place(int round, unsigned lane, unsigned size) {
  switch (round / 8 % 8) {
    case 0:
      return (lane * (round / 64 + 1)) % size;
    case 1:
      return (lane * 2 + round) % size;
    case 2:
      return lane / 2 % size;
    case 3:
      return lane / 4 * 5 % size;
    case 4:
      return (lane ^ 5) * 3 % size;
    case 5:
      return lane * (size / 32 - 1) % size;
    case 6:
      return round % size;
    default:
      return mix(lane + round * 32) % size;
  }
}

template <class T, int size>
__device__ void shared_patterns(const T* in, T* out, int rounds) {
  __shared__ T tile[size];
  const unsigned lane = threadIdx.x;
  for (int k = lane; k < size; k += 32) tile[k] = in[k];
  __syncwarp();
  T value = in[lane];
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const unsigned at = place(round, lane, size);
    if (takes_part(round, lane)) value = tile[at];
    __syncwarp();
    // Only the highest of those who store to one place does, so that the result is certain.
    const unsigned peers = __match_any_sync(~0U, at);
    const unsigned first = 31 - __clz(peers);
    const unsigned to = first == lane ? at : (at + 1) % size;
    const unsigned rivals = __match_any_sync(~0U, to);
    if (takes_part(round + 3, lane) && rivals == 1U << lane) tile[to] = value;
    __syncwarp();
  }
  out[blockIdx.x * 32 + lane] = value;
  for (int k = lane; k < size; k += 32)
    out[(gridDim.x + blockIdx.x * (size / 32)) * 32 + k] = tile[k];
}

template <class T, int size>
__device__ void global_patterns(const T* in, T* out, int rounds) {
  const unsigned lane = threadIdx.x;
  T value = in[lane];
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const unsigned at = place(round, lane, size);
    if (takes_part(round, lane)) value = in[at];
    const unsigned rivals = __match_any_sync(~0U, at);
    if (takes_part(round + 3, lane) && 31 - __clz(rivals) == lane)
      out[blockIdx.x * size + at] = value;
  }
}

// Loads and stores of the same place by several lanes: who wins is not said, so all store the same.
template <class T, int size>
__device__ void equal_patterns(const T* in, T* out, int rounds) {
  __shared__ T tile[size];
  const unsigned lane = threadIdx.x;
  for (int k = lane; k < size; k += 32) tile[k] = in[k];
  __syncwarp();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const unsigned at = place(round, lane, size);
    const T value = in[at];
    if (takes_part(round, lane)) tile[at] = value;
    if (takes_part(round + 5, lane)) out[at] = value;
    __syncwarp();
  }
  for (int k = lane; k < size; k += 32) out[k] = tile[k];
}

#define PATTERNS(name, type, size)                                                  \
  extern "C" __global__ void shared_##name(const type* in, type* out, int rounds) { \
    shared_patterns<type, size>(in, out, rounds);                                   \
  }                                                                                 \
  extern "C" __global__ void global_##name(const type* in, type* out, int rounds) { \
    global_patterns<type, size>(in, out, rounds);                                   \
  }                                                                                 \
  extern "C" __global__ void equal_##name(const type* in, type* out, int rounds) {  \
    equal_patterns<type, size>(in, out, rounds);                                    \
  }

PATTERNS(patterns_8, uint8_t, 512)
PATTERNS(patterns_16, uint16_t, 512)
PATTERNS(patterns_32, uint32_t, 512)
PATTERNS(patterns_64, uint2, 512)
PATTERNS(patterns_128, uint4, 512)

// Copies past the registers, and matrices from shared memory to registers.
extern "C" __global__ void copy_async(const int* in, int* out, int n) {
  __shared__ __align__(16) int tile[512];
  const int t = threadIdx.x, base = blockIdx.x * 512;
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to + 4 * t), "l"(in + base + t));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to + 512 + 8 * (t & 63)),
               "l"(in + base + 128 + 2 * (t & 63)));
  if (t < n) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 1024 + 16 * (t & 63)),
                 "l"(in + base + 256 + 4 * (t & 63)));
  }
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
  out[base / 4 + t] = tile[t] + tile[511 - t];
}

extern "C" __global__ void load_matrices(const int* in, int* out, int pitch) {
  __shared__ __align__(16) int tile[32 * 8];
  const int lane = threadIdx.x;
  for (int k = lane; k < 256; k += 32) tile[k] = in[k];
  __syncwarp();
  const auto from =
      static_cast<unsigned>(__cvta_generic_to_shared(tile)) + (lane * pitch % 64) * 16;
  int a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(from));
  out[lane] = a ^ b * 3 ^ c * 5 ^ d * 7;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(a), "=r"(b)
               : "r"(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(c) : "r"(from));
  out[32 + lane] = a ^ b * 3 ^ c * 5;
}
