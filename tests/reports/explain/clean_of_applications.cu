// SPDX-License-Identifier: MIT
// Kernels with nothing wrong.
#include <cuda_fp16.h>
#include <cstdint>
// 2-D stencil with a halo that edge threads load.
__global__ void jacobi(float* __restrict__ out, const float* __restrict__ in, int pitch) {
  __shared__ float t[18][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int x = blockIdx.x * 32 + tx, y = blockIdx.y * 16 + ty;
  const int at = y * pitch + x + 7;
  t[ty][tx] = in[at];
  if (threadIdx.x == 0) t[ty][0] = in[at - 1];
  if (threadIdx.x == 31) t[ty][33] = in[at + 1];
  if (threadIdx.y == 0) t[0][tx] = in[at - pitch];
  if (threadIdx.y == 15) t[17][tx] = in[at + pitch];
  __syncthreads();
  out[at] = 0.25f * (t[ty][tx - 1] + t[ty][tx + 1] + t[ty - 1][tx] + t[ty + 1][tx]);
}

// The classic: warp-per-row softmax with online maximum, 256 columns.
__global__ void softmax_rows(float* y, const float* x, int cols) {
  const int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float* from = x + row * cols;
  float v[8], m = -INFINITY;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    v[k] = from[k * 32 + lane];
    m = fmaxf(m, v[k]);
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  float s = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) s += v[k] = __expf(v[k] - m);
#pragma unroll
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  s = 1.f / s;
#pragma unroll
  for (int k = 0; k < 8; ++k) y[row * cols + k * 32 + lane] = v[k] * s;
}

// Sequential addressing, first add during load, last warp by shuffles.
template <unsigned B>
__global__ void reduce6(int* out, const int* in, unsigned n) {
  __shared__ int s[B];
  unsigned t = threadIdx.x, i = blockIdx.x * B * 2 + t;
  int sum = 0;
  for (; i < n; i += B * 2 * gridDim.x) sum += in[i] + in[i + B];
  s[t] = sum;
  __syncthreads();
  if (B >= 256) {
    if (t < 128) s[t] = sum = sum + s[t + 128];
    __syncthreads();
  }
  if (B >= 128) {
    if (t < 64) s[t] = sum = sum + s[t + 64];
    __syncthreads();
  }
  if (t < 32) {
    sum += s[t + 32];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

// Warp-aggregated atomic.
__global__ void count_positive(int* total, const float* v, int n) {
  int c = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c += v[i] > 0;
  c = __reduce_add_sync(~0u, c);
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(&s, c);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, s);
}

// Tiled product of halves, accumulating floats.
__global__ void hgemm_tile(float* C, const __half* A, const __half* B, int N, int K) {
  __shared__ __half2 As[32][17];
  __shared__ __half2 Bs[32][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  float2 acc[2] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int r = ty; r < 32; r += 16) {
      As[r][tx] = reinterpret_cast<const __half2*>(A + (blockIdx.y * 32 + r) * K + k0)[tx];
      Bs[r][tx] = reinterpret_cast<const __half2*>(B + (k0 + r) * N + blockIdx.x * 32)[tx];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float2 a0 = __half22float2(As[ty][k]), a1 = __half22float2(As[ty + 16][k]);
      float2 b0 = __half22float2(Bs[2 * k][tx]), b1 = __half22float2(Bs[2 * k + 1][tx]);
      acc[0].x += a0.x * b0.x + a0.y * b1.x;
      acc[0].y += a0.x * b0.y + a0.y * b1.y;
      acc[1].x += a1.x * b0.x + a1.y * b1.x;
      acc[1].y += a1.x * b0.y + a1.y * b1.y;
    }
    __syncthreads();
  }
  reinterpret_cast<float2*>(C + (blockIdx.y * 32 + ty) * N + blockIdx.x * 32)[tx] = acc[0];
  reinterpret_cast<float2*>(C + (blockIdx.y * 32 + ty + 16) * N + blockIdx.x * 32)[tx] = acc[1];
}

// Euler step of a structure of arrays with an if on the border.
__global__ void advect(float* x, float* vx, float dt, float wall, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = x[i], v = vx[i];
  p += v * dt;
  if (p > wall) {
    p = 2 * wall - p;
    v = -v;
  }
  x[i] = p;
  vx[i] = v;
}

// Copy of 16 bytes a thread.
__global__ void copy16(uint4* dst, const uint4* src, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x)
    dst[i] = src[i];
}

// Batched 3-vectors through shared memory: coalesced loads of an array of structures.
__global__ void normalise3(float* v) {
  __shared__ float s[256 * 3];
  const int base = blockIdx.x * 768, t = threadIdx.x;
  for (int k = 0; k < 3; ++k) s[k * 256 + t] = v[base + k * 256 + t];
  __syncthreads();
  float x = s[3 * t], y = s[3 * t + 1], z = s[3 * t + 2];
  float inv = rsqrtf(x * x + y * y + z * z);
  s[3 * t] = x * inv;
  s[3 * t + 1] = y * inv;
  s[3 * t + 2] = z * inv;
  __syncthreads();
  for (int k = 0; k < 3; ++k) v[base + k * 256 + t] = s[k * 256 + t];
}

// Monte Carlo with a generator in registers.
__global__ void pi_mc(int* hits, unsigned seed, int rounds) {
  unsigned s = seed ^ (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  int c = 0;
  for (int k = 0; k < rounds; ++k) {
    s = s * 1664525u + 1013904223u;
    float x = (s >> 8) * (1.0f / 16777216.0f);
    s = s * 1664525u + 1013904223u;
    float y = (s >> 8) * (1.0f / 16777216.0f);
    c += x * x + y * y < 1.0f;
  }
  c = __reduce_add_sync(~0u, c);
  if ((threadIdx.x & 31) == 0) hits[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = c;
}

// Exclusive prefix of flags by ballots.
__global__ void ranks(int* rank, const int* flag) {
  __shared__ int warps[8];
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x / 32;
  unsigned m = __ballot_sync(~0u, flag[i] != 0);
  if (lane == 0) warps[w] = __popc(m);
  __syncthreads();
  int before = __popc(m & ((1u << lane) - 1));
  for (int k = 0; k < w; ++k) before += warps[k];
  rank[i] = before;
}

// Texture-like bilinear resampling by two, neighbours mostly in cache.
__global__ void downsample(float* out, const float2* in, int w2) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float2 a = in[(2 * y) * w2 + x], b = in[(2 * y + 1) * w2 + x];
  out[y * w2 + x] = 0.25f * (a.x + a.y + b.x + b.y);
}

__global__ void gelu(__half2* y, const __half2* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 v = __half22float2(x[i]);
  v.x = 0.5f * v.x * (1.0f + tanhf(0.79788456f * (v.x + 0.044715f * v.x * v.x * v.x)));
  v.y = 0.5f * v.y * (1.0f + tanhf(0.79788456f * (v.y + 0.044715f * v.y * v.y * v.y)));
  y[i] = __float22half2_rn(v);
}
