// SPDX-License-Identifier: MIT
// The code of ptxas for branches and loops: predicates instead of branches, rounds unrolled, copies
// of code on several paths, loads taken out of loops. The counts must follow.
#include <cassert>
#include <cstdio>

#define AT const int i = blockIdx.x * blockDim.x + threadIdx.x

// Loops whose number of rounds is the same in all threads, but is known only at run time.
extern "C" __global__ void rounds_of_launch(const int* in, int* out, int n) {
  AT;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += in[k * 64 + i % 64];
  out[i] = sum;
}

extern "C" __global__ void rounds_of_block(const int* in, int* out, int n) {
  AT;
  int sum = 0;
  for (int k = 0; k < static_cast<int>(blockIdx.x) * 3 + n; ++k) sum += in[k * 32 + i % 32] * k;
  out[i] = sum;
}

// The rounds of each warp, and then of each thread: lanes leave one after the other.
extern "C" __global__ void rounds_of_warp(const int* in, int* out, int n) {
  AT;
  int sum = n;
  for (int k = 0; k < i / 32 % 4 + 2; ++k) sum += in[k * 32 + i % 32];
  out[i] = sum;
}

extern "C" __global__ void rounds_of_thread(const int* in, int* out, int n) {
  AT;
  int sum = 0;
#pragma unroll 4
  for (int k = 0; k < (in[i] & 7); ++k) sum += in[(i + k) % n];
  out[i] = sum;
}

extern "C" __global__ void rounds_not_unrolled(const int* in, int* out, int n) {
  AT;
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < (in[i] & 7); ++k) sum += in[(i + k) % n];
  out[i] = sum;
}

extern "C" __global__ void store_in_loop(const int* in, int* out, int n) {
  AT;
  for (int k = 0; k < n; ++k) out[k * 512 + i] = in[i] * k;
}

extern "C" __global__ void store_some(const int* in, int* out, int n) {
  AT;
  const int value = in[i];
  if (value > 0) out[i] = value;
  if (value < -3 && i < n) out[i] = value * value;
}

extern "C" __global__ void store_either(const int* in, int* out, int n) {
  AT;
  const int value = in[i];
  if (value > 0) {
    out[i] = value;
  } else {
    out[n + i] = -value;
  }
}

extern "C" __global__ void store_same_place(const int* in, int* out, int n) {
  AT;
  const int value = in[i];
  if (value & 1) {
    out[i] = value * 3 + n;
  } else {
    out[i] = in[i ^ 1] - 7;
  }
}

extern "C" __global__ void load_either(const int* in, int* out, int n) {
  AT;
  out[i] = i % 3 == 0 ? in[i] : in[n + i];
}

extern "C" __global__ void load_by_chain(const int* in, int* out, int n) {
  AT;
  if (i < n && in[i] > 0 && in[in[i]] > -4) out[i] = in[in[i] * 16];
}

extern "C" __global__ void return_before_barrier(const int* in, int* out, int n) {
  __shared__ int tile[128];
  AT;
  if (i >= n) return;
  tile[threadIdx.x] = in[i];
  __syncthreads();
  const int end = min(128, n - static_cast<int>(blockIdx.x) * 128);
  out[i] = tile[(threadIdx.x + 1) % end];
}

extern "C" __global__ void return_in_loop(const int* in, int* out, int n) {
  AT;
  for (int k = 0; k < n; ++k) {
    if (in[(i + k * 5) % 512] == 3) {
      out[i] = k;
      return;
    }
  }
  out[i] = -1;
}

extern "C" __global__ void switch_of_data(const int* in, int* out, int n) {
  AT;
  switch (in[i] + 8) {
    case 0:
      out[i] = in[i + 1];
      break;
    case 1:
      out[i + n] = 3;
      break;
    case 2:
      out[i] = in[2 * i % n] * 3;  // falls through
    case 3:
      out[i + n] = in[3 * i % n];
      break;
    case 4:
      out[i] = 4;
      break;
    case 5:
      out[i] = in[5 * i % n] + 1;
      break;
    case 7:
      return;
    case 9:
      out[i] = in[n - 1];
      break;
    case 11:
      out[i + n] = 5;
      break;
    default:
      out[i] = 9;
  }
}

extern "C" __global__ void switch_of_block(const int* in, int* out, int n) {
  AT;
  int value = in[i];
  switch (blockIdx.x) {
    case 0:
      value += in[i + n];
      break;
    case 1:
      value -= in[(i * 3) % n];
      break;
    case 2:
      value *= in[(i * 5) % n];
      break;
    case 3:
      value = in[n];
      break;
    case 4:
      value ^= in[(i * 7) % n];
      break;
    default:
      return;
  }
  out[i] = value;
}

// A value that no round changes, and one that might be changed by the store.
extern "C" __global__ void load_again(const int* in, int* out, int n) {
  AT;
  int sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += in[i] * k + in[0];
    out[i] = sum;
  }
}

extern "C" __global__ void load_once(const int* __restrict__ in, int* __restrict__ out, int n) {
  AT;
  int sum = in[i] + in[i + 1];
  for (int k = 0; k < n; ++k) sum += in[i] * k + in[blockIdx.x];
  out[i] = sum + in[i + 1];
}

extern "C" __global__ void search_sorted(const int* in, int* out, int n) {
  AT;
  const int wanted = i * 7 % 640;
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (in[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[i] = low;
}

extern "C" __global__ void follow_links(const int* next, int* out, int n) {
  AT;
  int at = i, steps = 0;
  while (at >= i / 2 && steps < n) {
    at = next[at];
    ++steps;
  }
  out[i] = steps;
}

__device__ __noinline__ int sum_of(const int* from, int count) {
  int sum = 0;
  for (int k = 0; k < count; ++k) sum += from[k];
  return sum;
}

extern "C" __global__ void call_twice(const int* in, int* out, int n) {
  AT;
  int sum = sum_of(in + i, n);
  if (sum > 0) sum += sum_of(in + i + 32, 3);
  out[i] = sum;
}

__device__ __noinline__ int walk(const int* in, int at, int depth) {
  if (depth == 0) return in[at];
  return in[at] + walk(in, (at * 2 + 1) % 512, depth - 1);
}

extern "C" __global__ void call_itself(const int* in, int* out, int n) {
  AT;
  out[i] = walk(in, i, n + i % 3);
}

extern "C" __global__ void vote_to_stop(const int* in, int* out, int n) {
  AT;
  int value = in[i];
  for (int k = 0; k < n && __any_sync(~0u, value < 20); ++k) value += in[(i + k * 32) % 512] & 7;
  out[i] = value;
}

extern "C" __global__ void barrier_rounds(const int* in, int* out, int n) {
  __shared__ int tile[128];
  AT;
  int value = in[i];
  for (int k = 0; k < n; ++k) {
    tile[threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x & (1 << k)) value += tile[threadIdx.x ^ (1 << k)];
    __syncthreads();
  }
  out[i] = value;
}

extern "C" __global__ void nest_of_loops(const int* in, int* out, int n) {
  AT;
  int best = 0;
  for (int a = 0; a < n; ++a) {
    int sum = 0;
    for (int b = 0; b <= a; ++b) {
      if (in[(a * n + b + i) % 512] < -6) break;
      for (int c = 0; c < 3; ++c) sum += in[(a + b * c + i) % 512];
    }
    best = max(best, sum);
  }
  out[i] = best;
}

extern "C" __global__ void reverse_in_place(const int* in, int* out, int n) {
  AT;
  out[i] = in[i];
  __syncthreads();
  const int t = threadIdx.x, base = blockIdx.x * blockDim.x;
  for (int k = t; k < n / 2; k += 32) {
    if (t >= 32) break;
    const int left = out[base + k], right = out[base + n - 1 - k];
    out[base + k] = right;
    out[base + n - 1 - k] = left;
  }
}

// Nobody prints: the input is below 100. Then somebody does.
extern "C" __global__ void asserts(const int* in, int* out, int n) {
  AT;
  assert(in[i] < 100);
  if (in[i] > n) printf("%d\n", in[i]);
  out[i] = in[i] + n;
}

extern "C" __global__ void prints(const int* in, int* out, int n) {
  AT;
  if (i == n) printf("thread %d has %d\n", i, in[i]);
  out[i] = in[i];
}

extern "C" __global__ void allocates(const int* in, int* out, int n) {
  AT;
  int* mine = static_cast<int*>(malloc(n * sizeof(int)));
  if (mine == nullptr) return;
  for (int k = 0; k < n; ++k) mine[k] = in[i] + k;
  out[i] = mine[in[i] & (n - 1)];
  free(mine);
}
