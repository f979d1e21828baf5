// SPDX-License-Identifier: MIT
// Audio, search, cryptography, finance, networks: one fault each.
#include <cuda_bf16.h>
#include <math.h>
#include <stdint.h>
// Each thread sums its eight neighbouring items.
__global__ void thread_sums(const float* __restrict__ in, float* __restrict__ out) {
  extern __shared__ float items[];
  for (int k = 0; k < 8; ++k)
    items[k * blockDim.x + threadIdx.x] = in[(blockIdx.x * 8 + k) * blockDim.x + threadIdx.x];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) sum += items[threadIdx.x * 8 + k];  // cause: thread_sums
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void blelloch_scan(const int* in, int* out, int n) {
  __shared__ int temp[512];
  int t = threadIdx.x;
  int offset = 1;
  temp[t] = in[blockIdx.x * n + t];
  temp[t + 256] = in[blockIdx.x * n + t + 256];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1;
      int bi = offset * (2 * t + 2) - 1;
      temp[bi] += temp[ai];  // cause: blelloch_scan
    }
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1;
      int bi = offset * (2 * t + 2) - 1;
      int v = temp[ai];     // cause: blelloch_scan
      temp[ai] = temp[bi];  // cause: blelloch_scan
      temp[bi] += v;        // cause: blelloch_scan
    }
  }
  __syncthreads();
  out[blockIdx.x * n + t] = temp[t];
  out[blockIdx.x * n + t + 256] = temp[t + 256];
}

// The cache of keys lies with the positions next to each other, and the lanes are features.
__global__ void key_norms(const float* __restrict__ keys, float* __restrict__ norms, int features,
                          int positions) {
  const int position = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int f = threadIdx.x; f < features; f += 32) {
    const float v = keys[f * positions + position];  // cause: key_norms
    sum += v * v;
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) norms[position] = sum;
}

struct Option {
  float spot, strike, rate, volatility, years;
};

__global__ void intrinsic_values(const Option* __restrict__ options, float* __restrict__ value,
                                 int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    value[i] = fmaxf(0.0f, options[i].spot - options[i].strike);  // cause: intrinsic_values
}

// A warp a page: 32 links each.
__global__ void page_rank(const int* __restrict__ links, const float* __restrict__ rank,
                          float* __restrict__ next, float damping) {
  const int page = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = rank[links[page * 32 + threadIdx.x]];  // cause: page_rank
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) next[page] = 1.0f - damping + damping * sum;
}

// Frames of a recording, 441 samples each: they begin anywhere.
__global__ void window_frames(const float* __restrict__ samples, const float* __restrict__ window,
                              float* __restrict__ frames, int hop, int length) {
  const int frame = blockIdx.x;
  for (int t = threadIdx.x; t < length; t += blockDim.x)
    frames[frame * length + t] = window[t] * samples[frame * hop + t];  // cause: window_frames
}

__global__ void autocorrelation(const float* __restrict__ x, float* __restrict__ r, int lags,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float best = 0.0f;
  for (int lag = 1; lag <= lags; ++lag)
    best = fmaxf(best, fabsf(x[i + lag]));  // cause: autocorrelation
  r[i] = best;
}

__global__ void nearest(const float* __restrict__ qx, const float* __restrict__ qy,
                        const float* __restrict__ rx, const float* __restrict__ ry,
                        int* __restrict__ best, int references) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = qx[i], y = qy[i];
  float least = 1e30f;
  int who = 0;
  for (int j = 0; j < references; ++j) {
    const float dx = x - rx[j], dy = y - ry[j];  // cause: nearest
    const float d = dx * dx + dy * dy;
    if (d < least) {
      least = d;
      who = j;
    }
  }
  best[i] = who;
}

// The gains of the channels are loaded in each round, since the output may be the same memory.
__global__ void mix(float* out, const float* in, const float* gain, int channels, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int c = 0; c < channels; c++) {
    out[c * n + i] = in[c * n + i] * gain[i];  // cause: mix
  }
}

__constant__ float coefficients[16];

// The compiler leaves one of the loop's stores, behind it.
__global__ void horner(float* y, const float* x, int terms, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = 0.0f;  // cause: horner
  for (int k = 0; k < terms; k++) y[i] = y[i] * v + coefficients[k];
}

__global__ void unpack_int4(const uint8_t* __restrict__ packed, float2* __restrict__ out,
                            float scale, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int both = packed[i];  // cause: unpack_int4
  out[i] = make_float2(scale * ((both & 15) - 8), scale * ((both >> 4) - 8));
}

__global__ void scale_bf16(__nv_bfloat16* x, float scale, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = __float2bfloat16(__bfloat162float(x[i]) * scale);  // cause: scale_bf16
}

__global__ void march_rays(const float* __restrict__ speed, float* __restrict__ depth, float far,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float step = speed[i];
  float t = 0.0f;
  while (t < far) t += step + 0.01f * __sinf(t);  // cause: march_rays
  depth[i] = t;
}

// Every fourth thread does what is left to do for its group.
__global__ void group_leaders(const float* __restrict__ in, float* __restrict__ out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  v += __shfl_xor_sync(0xffffffffu, v, 2);
  if (threadIdx.x % 4 == 0) {  // cause: group_leaders
    for (int k = 0; k < rounds; ++k) v = v * 0.5f + __expf(-v);
  }
  out[i] = __shfl_sync(0xffffffffu, v, threadIdx.x & 28);
}

__global__ void energy_bins(const float* __restrict__ energy, double* __restrict__ bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[i % 8], (double)energy[i]);  // cause: energy_bins
}

// The schedule of a hash, in a ring that the round number indexes.
__global__ void hash_rounds(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, int rounds,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t w[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) w[k] = in[k * n + i];
  uint32_t a = 0x67452301u, b = 0xefcdab89u;
#pragma unroll 1
  for (int t = 0; t < rounds; ++t) {
    const uint32_t next = w[t & 15] + (w[(t + 9) & 15] ^ w[(t + 14) & 15]);  // cause: hash_rounds
    w[t & 15] = next;                                                        // cause: hash_rounds
    a = (a << 5 | a >> 27) + (b ^ next);
    b = (b << 30 | b >> 2) + a;
  }
  out[i] = a ^ b;
}

// A hundred and sixty sums in registers.
__global__ void many_sums(const float* __restrict__ x, float* __restrict__ y, int rounds, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sums[160];
#pragma unroll
  for (int k = 0; k < 160; ++k) sums[k] = 0.001f * k;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    const float v = x[r * n + i];
#pragma unroll
    for (int k = 0; k < 160; ++k) sums[k] = sums[k] * v + 0.25f;
  }
  float all = 0.0f;
#pragma unroll
  for (int k = 0; k < 160; ++k) all += sums[k] * sums[k];
  y[i] = all;
}

__global__ void sharpen(const float* __restrict__ in, float* __restrict__ out, float amount,
                        int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = in[i];
    for (int k = 0; k < 8; ++k) v += amount * (v - v * v);
    out[i] = v;
  }
}

__global__ void tile_offsets(int* out, const int* in, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * width + x] = in[y * width + x] + 7;
}

__global__ void twiddles(float2* __restrict__ table, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const float angle = -2.0 * M_PI * k / n;  // cause: twiddles
  table[k] = make_float2(__cosf(angle), __sinf(angle));
}

__global__ void celsius(float* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = (t[i] - 32.0) * 5.0 / 9.0;  // cause: celsius
}
