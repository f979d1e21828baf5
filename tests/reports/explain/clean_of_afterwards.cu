// SPDX-License-Identifier: MIT
// Well-written kernels.
#include <stdint.h>
__constant__ float weights[25];

// 5 × 5 convolution of a tile with its border in shared memory.
__global__ void convolve_tiled(const float* __restrict__ in, float* __restrict__ out, int pitch,
                               int width) {
  __shared__ float tile[20][36];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int y = threadIdx.y; y < 20; y += 16)
    for (int x = threadIdx.x; x < 36; x += 32) tile[y][x] = in[(y0 + y) * pitch + x0 + x];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int dy = 0; dy < 5; ++dy)
#pragma unroll
    for (int dx = 0; dx < 5; ++dx)
      sum = fmaf(weights[dy * 5 + dx], tile[threadIdx.y + dy][threadIdx.x + dx], sum);
  out[(y0 + threadIdx.y) * width + x0 + threadIdx.x] = sum;
}

// A warp a row.
__global__ void argmax_rows(const float4* __restrict__ scores, int* __restrict__ best, int cols4) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float top = -1e30f;
  int at = 0;
  for (int c = threadIdx.x; c < cols4; c += 32) {
    const float4 v = scores[row * cols4 + c];
    if (v.x > top) top = v.x, at = 4 * c;
    if (v.y > top) top = v.y, at = 4 * c + 1;
    if (v.z > top) top = v.z, at = 4 * c + 2;
    if (v.w > top) top = v.w, at = 4 * c + 3;
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) {
    const float other = __shfl_xor_sync(0xffffffffu, top, d);
    const int where = __shfl_xor_sync(0xffffffffu, at, d);
    if (other > top || (other == top && where < at)) top = other, at = where;
  }
  if (threadIdx.x == 0) best[row] = at;
}

__global__ void alpha_blend(const uchar4* __restrict__ over, uchar4* __restrict__ picture, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uchar4 o = over[i], p = picture[i];
  const unsigned a = o.w, b = 255 - a;
  picture[i] = make_uchar4((o.x * a + p.x * b) >> 8, (o.y * a + p.y * b) >> 8,
                           (o.z * a + p.z * b) >> 8, 255);
}

__global__ void random_fill(float4* __restrict__ out, uint32_t seed, int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    uint32_t c0 = i, c1 = seed, c2 = 0, c3 = 0, k0 = 0xa4093822u, k1 = 0x299f31d0u;
#pragma unroll
    for (int r = 0; r < 10; ++r) {
      const uint32_t h0 = __umulhi(0xd2511f53u, c0), l0 = 0xd2511f53u * c0;
      const uint32_t h1 = __umulhi(0xcd9e8d57u, c2), l1 = 0xcd9e8d57u * c2;
      c0 = h1 ^ c1 ^ k0;
      c1 = l1;
      c2 = h0 ^ c3 ^ k1;
      c3 = l0;
      k0 += 0x9e3779b9u;
      k1 += 0xbb67ae85u;
    }
    constexpr float unit = 2.3283064e-10f;
    out[i] = make_float4(c0 * unit, c1 * unit, c2 * unit, c3 * unit);
  }
}

// Collision of a lattice with five directions, an array each.
__global__ void collide(float* __restrict__ f, float omega, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[5], rho = 0.0f;
#pragma unroll
  for (int k = 0; k < 5; ++k) rho += v[k] = f[k * n + i];
#pragma unroll
  for (int k = 0; k < 5; ++k)
    f[k * n + i] = v[k] + omega * ((k == 0 ? 1.0f / 3.0f : 1.0f / 6.0f) * rho - v[k]);
}

// Sums of columns: a thread a column, a block some rows.
__global__ void column_sums(const float* __restrict__ in, float* __restrict__ partial, int width,
                            int rows) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
#pragma unroll 4
  for (int r = 0; r < rows; ++r) sum += in[(blockIdx.y * rows + r) * width + x];
  partial[blockIdx.y * width + x] = sum;
}

__global__ void dot_int8(const int4* __restrict__ a, const int4* __restrict__ b,
                         int* __restrict__ out) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  const int4 u = a[row * 32 + threadIdx.x], v = b[row * 32 + threadIdx.x];
  int sum = __dp4a(u.x, v.x, __dp4a(u.y, v.y, __dp4a(u.z, v.z, __dp4a(u.w, v.w, 0))));
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0) out[row] = sum;
}

__global__ void transpose_double(double* __restrict__ out, const double* __restrict__ in, int width,
                                 int height) {
  __shared__ double tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
