// SPDX-License-Identifier: MIT
// Well-written, with what may look like a fault.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cstdint>
// A grid-stride loop with a remainder.
__global__ void scale_rest(float* v, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v[i] *= a;
}

// Vectors and the rest one by one.
__global__ void sum_vec(float* out, const float* in, int n) {
  float s = 0;
  const float4* v = reinterpret_cast<const float4*>(in);
  int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = t; i < n / 4; i += threads) {
    float4 a = v[i];
    s += a.x + a.y + a.z + a.w;
  }
  if (t < n % 4) s += in[n - 1 - t];
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  __shared__ float w[8];
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 8) {
    s = w[threadIdx.x];
    for (int d = 4; d; d /= 2) s += __shfl_down_sync(0xff, s, d);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
  }
}

// Tiled product of 16 x 16 with padding.
template <int T>
__global__ void mm16(float* C, const float* A, const float* B, int n, int k) {
  __shared__ float a[T][T + 1], b[T][T + 1];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float s = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    a[ty][tx] = A[row * k + k0 + tx];
    b[ty][tx] = B[(k0 + ty) * n + col];
    __syncthreads();
    for (int i = 0; i < T; ++i) s += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  C[row * n + col] = s;
}

// Double precision that is meant.
__global__ void kahan_dot(double* out, const double* a, const double* b, int n) {
  double s = 0, c = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double y = a[i] * b[i] - c, t = s + y;
    c = (t - s) - y;
    s = t;
  }
  for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out + threadIdx.x / 32 % 8 + blockIdx.x * 8, s);
}

// Sums of floats kept as doubles in memory.
__global__ void moments(double* sum, double* sq, const float* v, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  double s = 0, q = 0;
  for (int i = t; i < n; i += gridDim.x * blockDim.x) {
    double x = v[i];
    s += x;
    q += x * x;
  }
  sum[t] = s;
  sq[t] = q;
}

// Two stages with cp.async.
__global__ void staged_scale(float* out, const float* in, float a, int tiles) {
  __shared__ __align__(16) float buf[2][1024];
  int t = threadIdx.x, base = blockIdx.x * tiles * 1024;
  __pipeline_memcpy_async(&buf[0][t * 4], in + base + t * 4, 16);
  __pipeline_commit();
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles)
      __pipeline_memcpy_async(&buf[(k + 1) & 1][t * 4], in + base + (k + 1) * 1024 + t * 4, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    float4 v = *reinterpret_cast<float4*>(&buf[k & 1][t * 4]);
    *reinterpret_cast<float4*>(out + base + k * 1024 + t * 4) =
        make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
    __syncthreads();
  }
}

// Radix pass: counts of four digits by ballots, one warp a row.
__global__ void digit_counts(int* counts, const unsigned* keys, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  unsigned d = keys[i] >> shift & 3;
  unsigned b0 = __ballot_sync(~0u, d & 1), b1 = __ballot_sync(~0u, d & 2);
  int c = __popc((lane & 1 ? b0 : ~b0) & (lane & 2 ? b1 : ~b1));
  if (lane < 4) counts[i / 32 * 4 + lane] = c;
}

// Marches along rows with a register window: no load twice.
__global__ void vertical_blur(float* out, const float* in, int w, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * rows;
  float a = in[y0 * w + x], b = in[(y0 + 1) * w + x];
  for (int y = y0; y < y0 + rows; ++y) {
    float c = in[(y + 2) * w + x];
    out[y * w + x] = 0.25f * a + 0.5f * b + 0.25f * c;
    a = b;
    b = c;
  }
}

// Warp shuffles for a stencil of three.
__global__ void shuffle_stencil(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float c = in[i];
  float l = __shfl_up_sync(~0u, c, 1), r = __shfl_down_sync(~0u, c, 1);
  if (lane == 0 && i > 0) l = in[i - 1];
  if (lane == 31 && i + 1 < n) r = in[i + 1];
  out[i] = 0.25f * l + 0.5f * c + 0.25f * r;
}

// Block-wide maximum with indices, structure in shared memory as two arrays.
__global__ void argmax(int* where, const float* v) {
  __shared__ float s[256];
  __shared__ int id[256];
  int t = threadIdx.x;
  s[t] = v[blockIdx.x * 256 + t];
  id[t] = t;
  for (int d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d && s[t + d] > s[t]) {
      s[t] = s[t + d];
      id[t] = id[t + d];
    }
  }
  if (t == 0) where[blockIdx.x] = id[0];
}

// Sigmoid in floats only.
__global__ void sigmoid_f(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 1.0f / (1.0f + __expf(-x[i]));
}
