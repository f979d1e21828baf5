// SPDX-License-Identifier: MIT
// Atomics of every type on shared and global memory, on the same place and on many. Their answers
// depend on the order, so that only sums of it are kept.
#include <cuda_fp16.h>
#define AT                                    \
  [[maybe_unused]] const int t = threadIdx.x; \
  const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void red_one_place(const int* in, int* out, int n) {
  AT;
  atomicAdd(&out[0], 1);
  atomicAdd(&out[8], in[i]);
  if (i < n) atomicAdd(&out[16], 2);
}

extern "C" __global__ void red_places(const int* in, int* out, int n) {
  AT;
  atomicAdd(&out[i % n], in[i]);
  atomicMax(&out[64 + (i * 3) % n], in[i]);
  atomicOr(&out[128 + i % 4], 1 << (in[i] + 8));
}

extern "C" __global__ void red_float(const float* in, float* out, int n) {
  AT;
  atomicAdd(&out[0], in[i]);
  atomicAdd(&out[16 + i % n], in[i]);
  atomicAdd(&out[128 + i], in[i]);
}

extern "C" __global__ void red_double(const double* in, double* out, int n) {
  AT;
  atomicAdd(&out[0], in[i]);
  atomicAdd(&out[16 + i % n], in[i]);
  atomicAdd(&out[128 + i], in[i]);
}

extern "C" __global__ void red_long(const unsigned long long* in, unsigned long long* out, int n) {
  AT;
  atomicAdd(&out[0], in[i]);
  atomicAdd(&out[16 + i % n], in[i]);
  atomicMax(&out[128 + i % n], in[i]);
}

extern "C" __global__ void red_half2(const __half2* in, __half2* out, int n) {
  AT;
  atomicAdd(&out[0], in[0]);
  atomicAdd(&out[16 + i], in[i]);
}

extern "C" __global__ void atom_returns(const int* in, int* out, int n) {
  AT;
  int sum = atomicAdd(&out[i % n], 1);
  sum += atomicAdd(&out[64], 1);
  sum += atomicExch(&out[256 + i], in[i]);
  sum += atomicCAS(&out[1024 + i], 0, in[i]);
  atomicAdd(&out[80], sum & 0);
}

extern "C" __global__ void atom_tickets(const int* in, int* out, int n) {
  AT;
  if (in[i] > 0) {
    const int ticket = atomicAdd(&out[0], 1);
    if (ticket >= n) out[1] = 1;
  }
}

extern "C" __global__ void atom_long_returns(const unsigned long long* in, unsigned long long* out,
                                             int n) {
  AT;
  unsigned long long sum = atomicAdd(&out[i % n], in[i]);
  sum += atomicExch(&out[256 + i], in[i]);
  atomicAdd(&out[80], sum & 0);
}

// Maximum of floats by hand.
extern "C" __global__ void compare_and_swap(const float* in, int* out, int n) {
  AT;
  int* to = &out[i % n];
  int seen = *to;
  while (__int_as_float(seen) < in[i]) {
    const int before = atomicCAS(to, seen, __float_as_int(in[i]));
    if (before == seen) break;
    seen = before;
  }
}

extern "C" __global__ void shared_adds(const int* in, int* out, int n) {
  __shared__ int bins[64];
  AT;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[i] + 8], 1);
  atomicAdd(&bins[(i * n) % 64], in[i]);
  atomicAdd(&bins[3], 2);
  __syncthreads();
  if (t < 64) out[blockIdx.x * 64 + t] = bins[t];
}

extern "C" __global__ void shared_others(const int* in, int* out, int n) {
  __shared__ int bins[64];
  AT;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicMax(&bins[t % 16], in[i]);
  atomicXor(&bins[16 + (t * n) % 16], in[i]);
  atomicInc(reinterpret_cast<unsigned*>(&bins[40]), 1000);
  const int before = atomicAdd(&bins[41 + t % 2], in[i] & 1);
  atomicAnd(&bins[50], before);
  __syncthreads();
  if (t < 64) out[blockIdx.x * 64 + t] = bins[t];
}

extern "C" __global__ void shared_float(const float* in, float* out, int n) {
  __shared__ float bins[64];
  AT;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[t % n], in[i]);
  __syncthreads();
  if (t < 64) out[blockIdx.x * 64 + t] = bins[t];
}

extern "C" __global__ void shared_long(const unsigned long long* in, unsigned long long* out,
                                       int n) {
  __shared__ unsigned long long bins[64];
  AT;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[t % n], in[i]);
  atomicExch(&bins[32 + t % 32], 5ULL);
  __syncthreads();
  if (t < 64) out[blockIdx.x * 64 + t] = bins[t];
}

extern "C" __global__ void atom_generic(const int* in, int* out, int n) {
  __shared__ int bins[32];
  AT;
  if (t < 32) bins[t] = 0;
  __syncthreads();
  int* to = in[i] > 0 ? bins + t % 32 : out + 64 + i % n;
  atomicAdd(to, in[i]);
  __syncthreads();
  if (t < 32) atomicAdd(&out[t], bins[t]);
}

// Threads count in bins that share a bank.
extern "C" __global__ void shared_counts(const int* in, int* out, int n) {
  __shared__ int bins[1024];
  AT;
  for (int k = t; k < 1024; k += 128) bins[k] = 0;
  __syncthreads();
  atomicAdd(&bins[(in[i] + 8) * 32], 1);
  atomicAdd(&bins[(t * n) % 1024], 1);
  atomicAdd(&bins[(in[i] + 8) * 16 + t % 2], 1);
  if (t % 3 == 0) atomicAdd(&bins[t * 8 % 1024], 1);
  __syncthreads();
  for (int k = t; k < 1024; k += 128) out[blockIdx.x * 1024 + k] = bins[k];
}

extern "C" __global__ void atom_float_returns(const float* in, float* out, int n) {
  AT;
  float sum = atomicAdd(&out[i % n], in[i]);
  sum += atomicAdd(&out[64], in[i]);
  sum += atomicExch(&out[256 + i], in[i]);
  atomicAdd(&out[80], sum > 1e9f ? 1.0f : 0.0f);
}

extern "C" __global__ void atom_double_returns(const double* in, double* out, int n) {
  AT;
  double sum = atomicAdd(&out[i % n], in[i]);
  sum += atomicAdd(&out[64], in[i]);
  atomicAdd(&out[80], sum > 1e9 ? 1.0 : 0.0);
}

extern "C" __global__ void atom_half2_returns(const __half2* in, __half2* out, int n) {
  AT;
  __half2 sum = atomicAdd(&out[i % n], in[i]);
  sum = sum + atomicAdd(&out[64 + i % 2], in[0]);
  if (__low2float(sum) > 60000.0f) out[100] = sum;
}

extern "C" __global__ void atom_generic_same(const int* in, int* out, int n) {
  __shared__ int bins[32];
  AT;
  bins[t % 32] = 0;
  __syncthreads();
  int* to = in[i] > 50 ? bins + t % 32 : out + 64 + i % n;
  atomicAdd(to, in[i]);
  __syncthreads();
  if (t == 0) atomicAdd(&out[0], bins[0]);
}
