// SPDX-License-Identifier: MIT
// Well-written kernels of games, maps, sensors and text.
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>
__global__ void triad(const float4* __restrict__ a, const float4* __restrict__ b,
                      float4* __restrict__ c, float s, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 x = a[i], y = b[i];
  c[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
}

template <class T, int N>
__global__ void transposed(const T* __restrict__ in, T* __restrict__ out, int w, int h) {
  __shared__ T tile[N][N + 1];
  const int x0 = blockIdx.x * N, y0 = blockIdx.y * N;
  for (int j = threadIdx.y; j < N; j += blockDim.y)
    tile[j][threadIdx.x] = in[(y0 + j) * w + x0 + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < N; j += blockDim.y)
    out[(x0 + j) * h + y0 + threadIdx.x] = tile[threadIdx.x][j];
}

__global__ void energy(const float* __restrict__ x, float* __restrict__ sums) {
  __shared__ float of_warp[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0.0f;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float one = x[i + k * gridDim.x * blockDim.x];
    v += one * one;
  }
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < 8 ? of_warp[threadIdx.x] : 0.0f;
    for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) sums[blockIdx.x] = v;
  }
}

__global__ void log_softmax(const float* __restrict__ in, float* __restrict__ out) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const float4* from = (const float4*)(in + row * 128);
  const float4 v = from[threadIdx.x];
  float top = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  float sum = __expf(v.x - top) + __expf(v.y - top) + __expf(v.z - top) + __expf(v.w - top);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  const float off = top + __logf(sum);
  ((float4*)(out + row * 128))[threadIdx.x] =
      make_float4(v.x - off, v.y - off, v.z - off, v.w - off);
}

__global__ void heat_rows(const float* __restrict__ in, float* __restrict__ out, int pitch,
                          float k) {
  __shared__ float row[256 + 2];
  const int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
  row[threadIdx.x + 1] = in[y * pitch + x];
  if (threadIdx.x == 0) row[0] = in[y * pitch + (x > 0 ? x - 1 : 0)];
  if (threadIdx.x == 255) row[257] = in[y * pitch + (x + 1 < pitch ? x + 1 : x)];
  __syncthreads();
  const float m = row[threadIdx.x + 1];
  out[y * pitch + x] = m + k * (row[threadIdx.x] - 2.0f * m + row[threadIdx.x + 2]);
}

template <int T>
__global__ void product(const float* __restrict__ a, const float* __restrict__ b,
                        float* __restrict__ c, int n) {
  __shared__ float as[T][T], bs[T][T];
  const int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  float sum = 0.0f;
  for (int t = 0; t < n; t += T) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

__global__ void drift(float* __restrict__ x, float* __restrict__ y, const float* __restrict__ vx,
                      const float* __restrict__ vy, float dt, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] += dt * vx[i];
    y[i] += dt * vy[i];
  }
}

__global__ void haxpy_wide(__half2* __restrict__ y, const __half2* __restrict__ x, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}

__global__ void running_sum(const int* __restrict__ in, int* __restrict__ out) {
  __shared__ int ends[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  int v = in[i];
  for (int d = 1; d < 32; d <<= 1) {
    const int before = __shfl_up_sync(~0u, v, d);
    v += lane >= d ? before : 0;
  }
  if (lane == 31) ends[threadIdx.x >> 5] = v;
  __syncthreads();
  int base = 0;
  for (int w = 0; w < 8; ++w) base += w < (int)(threadIdx.x >> 5) ? ends[w] : 0;
  out[i] = base + v;
}

__global__ void row_dot(const float4* __restrict__ m, const float4* __restrict__ v,
                        float* __restrict__ out, int vectors) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float sum = 0.0f;
  for (int k = lane; k < vectors; k += 32) {
    const float4 a = m[row * vectors + k], b = v[k];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) out[row] = sum;
}

__global__ void negative(const uchar4* __restrict__ in, uchar4* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uchar4 p = in[i];
  out[i] = make_uchar4(255 - p.x, 255 - p.y, 255 - p.z, p.w);
}

__global__ void integrate(double* __restrict__ s, const double* __restrict__ f, double dt, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    s[i] += 0.5 * dt * f[i];
}

__global__ void smallest(const int* __restrict__ in, int* __restrict__ best) {
  __shared__ int of_warp[8];
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) v = min(v, __shfl_xor_sync(~0u, v, d));
  if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) v = min(v, of_warp[w]);
    atomicMin(best, v);
  }
}

__global__ void pick_rows(const float* __restrict__ table, const int* __restrict__ rows,
                          float* __restrict__ out) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const int from = rows[row];
  for (int k = threadIdx.x; k < 64; k += 32) out[row * 64 + k] = table[from * 64 + k];
}

__global__ void escape_rows(float* __restrict__ out, int rounds, float c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float z = 0.001f * (float)i;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) z = z * z * 0.25f + c;
  out[i] = z;
}

__global__ void letters_by_warp(const uchar4* __restrict__ text, int* __restrict__ counts) {
  __shared__ int of_warp[8][33];
  for (int k = threadIdx.x; k < 8 * 33; k += blockDim.x) (&of_warp[0][0])[k] = 0;
  __syncthreads();
  const int warp = threadIdx.x >> 5;
  for (int k = 0; k < 4; ++k) {
    const uchar4 four = text[(blockIdx.x * 4 + k) * blockDim.x + threadIdx.x];
    atomicAdd(&of_warp[warp][four.x & 31], 1);
    atomicAdd(&of_warp[warp][four.y & 31], 1);
    atomicAdd(&of_warp[warp][four.z & 31], 1);
    atomicAdd(&of_warp[warp][four.w & 31], 1);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    int sum = 0;
    for (int w = 0; w < 8; ++w) sum += of_warp[w][threadIdx.x];
    counts[blockIdx.x * 32 + threadIdx.x] = sum;
  }
}

// Every other entry in the mean, in order, with holes that differ: what lies between is fetched
// with them.
__global__ void taken_in_order(const long long* __restrict__ table, long long* __restrict__ out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, group = i / 4;
  const unsigned places[4] = {0x7410, 0x6430, 0x6521, 0x7520};
  const unsigned place = places[(group * 2654435761u) >> 30] >> (i % 4 * 4) & 7;
  out[i] = table[group * 8 + place];
}

// Systems of three diagonals, one a thread, down and up again: what the way down stores is too much
// for registers.
__global__ void three_diagonals(const double* __restrict__ lower,
                                const double* __restrict__ diagonal,
                                const double* __restrict__ upper, double* __restrict__ right,
                                double* __restrict__ work, int systems, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double c = 0, d = 0;
  for (int k = 0; k < rows; ++k) {
    const int at = k * systems + i;
    const double factor = 1 / (diagonal[at] + 4 - lower[at] * c);
    c = upper[at] * factor;
    d = (right[at] - lower[at] * d) * factor;
    work[at] = c;
    right[at] = d;
  }
  for (int k = rows - 2; k >= 0; --k) {
    const int at = k * systems + i;
    d = right[at] - work[at] * d;
    right[at] = d;
  }
}

// A wave and a third of blocks that do nothing but wait for memory: those of the last share its
// speed among fewer, and take less time each.
__global__ void copy_in_steps(const float4* __restrict__ in, float4* __restrict__ out, int count) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) out[i] = in[i];
}
