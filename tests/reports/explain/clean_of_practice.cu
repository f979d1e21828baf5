// SPDX-License-Identifier: MIT
// Well-written kernels of many kinds: nothing is to be found in them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <stdint.h>
namespace cg = cooperative_groups;

__global__ void transpose_swizzled(float* __restrict__ out, const float* __restrict__ in, int width,
                                   int height) {
  __shared__ float tile[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  for (int j = ty; j < 32; j += 8)
    tile[j][tx ^ j] = in[(blockIdx.y * 32 + j) * width + blockIdx.x * 32 + tx];
  __syncthreads();
  for (int j = ty; j < 32; j += 8)
    out[(blockIdx.x * 32 + j) * height + blockIdx.y * 32 + tx] = tile[tx][j ^ tx];
}

template <int THREADS>
__global__ void reduce_groups(const float* __restrict__ in, float* __restrict__ total, int n) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  float sum = 0.0f;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += in[i];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  __shared__ float partial[THREADS / 32];
  if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    sum = warp.thread_rank() < THREADS / 32 ? partial[warp.thread_rank()] : 0.0f;
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(total, sum);
  }
}

__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

// A block a row, the row in registers.
template <int PER>
__global__ void softmax_block(const float4* __restrict__ in, float4* __restrict__ out) {
  __shared__ float shared[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float4 v[PER];
  float top = -1e30f;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    v[k] = in[(blockIdx.x * PER + k) * 256 + threadIdx.x];
    top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
  }
  top = warp_max(top);
  if (lane == 0) shared[warp] = top;
  __syncthreads();
  top = warp_max(shared[lane & 7]);
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    v[k].x = __expf(v[k].x - top);
    v[k].y = __expf(v[k].y - top);
    v[k].z = __expf(v[k].z - top);
    v[k].w = __expf(v[k].w - top);
    sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  sum = warp_sum(sum);
  if (lane == 0) shared[warp] = sum;
  __syncthreads();
  sum = 0.0f;
#pragma unroll
  for (int w = 0; w < 8; ++w) sum += shared[w];
  const float scale = 1.0f / sum;
#pragma unroll
  for (int k = 0; k < PER; ++k)
    out[(blockIdx.x * PER + k) * 256 + threadIdx.x] =
        make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
}

// A warp a row of 512.
__global__ void layer_norm(const float4* __restrict__ x, const float4* __restrict__ gain,
                           const float4* __restrict__ bias, float4* __restrict__ y) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float4 v[4];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k] = x[row * 128 + k * 32 + threadIdx.x];
    sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  const float mean = warp_sum(sum) * (1.0f / 512.0f);
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k].x -= mean;
    v[k].y -= mean;
    v[k].z -= mean;
    v[k].w -= mean;
    squares += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
  }
  const float inv = rsqrtf(warp_sum(squares) * (1.0f / 512.0f) + 1e-5f);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float4 g = gain[k * 32 + threadIdx.x], b = bias[k * 32 + threadIdx.x];
    y[row * 128 + k * 32 + threadIdx.x] =
        make_float4(v[k].x * inv * g.x + b.x, v[k].y * inv * g.y + b.y, v[k].z * inv * g.z + b.z,
                    v[k].w * inv * g.w + b.w);
  }
}

struct Particles {
  float *x, *y, *z, *vx, *vy, *vz;
};

__global__ void integrate(float* base, int n, float dt) {
  const Particles p{base, base + n, base + 2 * n, base + 3 * n, base + 4 * n, base + 5 * n};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p.x[i] += p.vx[i] * dt;
  p.y[i] += p.vy[i] * dt;
  p.z[i] += p.vz[i] * dt;
}

__global__ void stencil_1d(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float temp[256 + 2 * 4];
  const int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 4;
  temp[l] = in[g];
  if (threadIdx.x < 4) {
    temp[l - 4] = g >= 4 ? in[g - 4] : 0.0f;
    temp[l + 256] = g + 256 < n ? in[g + 256] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int d = -4; d <= 4; ++d) sum += temp[l + d];
  out[g] = sum;
}

__constant__ float taps[17];

// Rows of a separable filter: 256 pixels and 8 on each side in shared memory.
__global__ void filter_rows(const float* __restrict__ in, float* __restrict__ out, int pitch,
                            int width) {
  __shared__ float line[256 + 16];
  const float* row = in + blockIdx.y * pitch;
  const int x = blockIdx.x * 256;
  for (int k = threadIdx.x; k < 272; k += 256) line[k] = row[x + k];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum = fmaf(taps[k], line[threadIdx.x + k], sum);
  out[blockIdx.y * width + x + threadIdx.x] = sum;
}

__global__ void histogram_private(const uint32_t* __restrict__ data, unsigned* __restrict__ bins,
                                  int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const uint32_t v = data[i];
    atomicAdd(&own[v & 255], 1u);
    atomicAdd(&own[(v >> 8) & 255], 1u);
    atomicAdd(&own[(v >> 16) & 255], 1u);
    atomicAdd(&own[v >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void scan_block(const int* __restrict__ in, int* __restrict__ out,
                           int* __restrict__ sums) {
  __shared__ int totals[32];
  const int i = blockIdx.x * 1024 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = in[i];
#pragma unroll
  for (int d = 1; d < 32; d <<= 1) {
    const int below = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += below;
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int t = totals[lane];
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
      const int below = __shfl_up_sync(0xffffffffu, t, d);
      if (lane >= d) t += below;
    }
    totals[lane] = t;
  }
  __syncthreads();
  if (warp > 0) v += totals[warp - 1];
  out[i] = v;
  if (threadIdx.x == 1023) sums[blockIdx.x] = v;
}

__global__ void quantise4(const float4* __restrict__ x, char4* __restrict__ q, float scale,
                          int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const float4 v = x[i];
  q[i] = make_char4(__float2int_rn(fminf(fmaxf(v.x * scale, -127.0f), 127.0f)),
                    __float2int_rn(fminf(fmaxf(v.y * scale, -127.0f), 127.0f)),
                    __float2int_rn(fminf(fmaxf(v.z * scale, -127.0f), 127.0f)),
                    __float2int_rn(fminf(fmaxf(v.w * scale, -127.0f), 127.0f)));
}

__device__ __forceinline__ float normal_cdf(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float p =
      0.39894228f * __expf(-0.5f * d * d) *
      (k * (0.31938153f +
            k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0.0f ? 1.0f - p : p;
}

__global__ void black_scholes(const float* __restrict__ spot, const float* __restrict__ strike,
                              const float* __restrict__ years, float* __restrict__ call,
                              float* __restrict__ put, float rate, float volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = spot[i], x = strike[i], t = years[i];
  const float root = sqrtf(t);
  const float d1 =
      (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float c1 = normal_cdf(d1), c2 = normal_cdf(d2), discount = __expf(-rate * t);
  call[i] = s * c1 - x * discount * c2;
  put[i] = x * discount * (1.0f - c2) - s * (1.0f - c1);
}

// A warp a row of the table.
__global__ void embedding(const int* __restrict__ tokens, const float4* __restrict__ table,
                          float4* __restrict__ out) {
  const int token = blockIdx.x * blockDim.y + threadIdx.y;
  out[token * 32 + threadIdx.x] = table[tokens[token] * 32 + threadIdx.x];
}

__global__ void adam(float* __restrict__ w, const float* __restrict__ g, float* __restrict__ m,
                     float* __restrict__ v, float rate, float b1, float b2, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float grad = g[i];
    const float mi = b1 * m[i] + (1.0f - b1) * grad;
    const float vi = b2 * v[i] + (1.0f - b2) * grad * grad;
    m[i] = mi;
    v[i] = vi;
    w[i] -= rate * mi / (sqrtf(vi) + 1e-8f);
  }
}

// A warp a row, the vector through the cache.
__global__ void gemv(const float4* __restrict__ a, const float4* __restrict__ x,
                     float* __restrict__ y, int cols4) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols4; c += 32) {
    const float4 u = a[row * cols4 + c], v = x[c];
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) y[row] = sum;
}

__global__ void batch_norm(const float4* __restrict__ x, const float* __restrict__ scale,
                           const float* __restrict__ shift, float4* __restrict__ y, int pixels4,
                           int channels) {
  const int plane = blockIdx.y;
  const float a = scale[plane % channels], b = shift[plane % channels];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = x[plane * pixels4 + i];
  y[plane * pixels4 + i] = make_float4(a * v.x + b, a * v.y + b, a * v.z + b, a * v.w + b);
}

// Keeps what is positive, in order within a block.
__global__ void compact(const int* __restrict__ in, int* __restrict__ out,
                        int* __restrict__ count) {
  __shared__ int offsets[8];
  __shared__ int base;
  const int v = in[blockIdx.x * 256 + threadIdx.x];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned keep = __ballot_sync(0xffffffffu, v > 0);
  if (lane == 0) offsets[warp] = __popc(keep);
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int w = 0; w < 8; ++w) {
      const int here = offsets[w];
      offsets[w] = sum;
      sum += here;
    }
    base = atomicAdd(count, sum);
  }
  __syncthreads();
  if (v > 0) out[base + offsets[warp] + __popc(keep & ((1u << lane) - 1))] = v;
}

__global__ void rotary(const float2* __restrict__ q, const float2* __restrict__ angles,
                       float2* __restrict__ out, int pairs, int heads) {
  const int position = blockIdx.x, pair = threadIdx.x;
  const float2 cs = angles[position * pairs + pair];
  for (int h = threadIdx.y; h < heads; h += blockDim.y) {
    const int i = (position * heads + h) * pairs + pair;
    const float2 v = q[i];
    out[i] = make_float2(v.x * cs.x - v.y * cs.y, v.x * cs.y + v.y * cs.x);
  }
}

// Two buffers, the next tile on its way while this one is worked on.
__global__ void pipelined_scale(const float4* __restrict__ in, float4* __restrict__ out,
                                float factor, int tiles) {
  __shared__ float4 buffer[2][256];
  const int first = blockIdx.x * tiles * 256 + threadIdx.x;
  __pipeline_memcpy_async(&buffer[0][threadIdx.x], &in[first], sizeof(float4));
  __pipeline_commit();
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles)
      __pipeline_memcpy_async(&buffer[(t + 1) & 1][threadIdx.x], &in[first + (t + 1) * 256],
                              sizeof(float4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    float4 v = buffer[t & 1][threadIdx.x];
    v.x *= factor;
    v.y *= factor;
    v.z *= factor;
    v.w *= factor;
    out[first + t * 256] = v;
  }
}

__global__ void grey4(const uchar4* __restrict__ rgba, unsigned* __restrict__ grey, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const uchar4 p = rgba[i];
  grey[i] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
}

__global__ void heat_2d(const float* __restrict__ now, float* __restrict__ next, int pitch,
                        float k) {
  __shared__ float tile[10][34];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int r = threadIdx.y; r < 10; r += 8)
    for (int c = threadIdx.x; c < 34; c += 32)
      tile[r][c] = now[(blockIdx.y * 8 + r) * pitch + blockIdx.x * 32 + c];
  __syncthreads();
  const int r = threadIdx.y + 1, c = threadIdx.x + 1;
  next[(y + 1) * pitch + x + 1] =
      tile[r][c] +
      k * (tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1] - 4.0f * tile[r][c]);
}

__global__ void fft_radix2_stage(float2* __restrict__ data, int half, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int k = t & (half - 1), i = 2 * t - k;
  if (i >= n) return;
  float s, c;
  __sincosf(-3.14159265f * k / half, &s, &c);
  const float2 a = data[i], b = data[i + half];
  const float2 w = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
  data[i] = make_float2(a.x + w.x, a.y + w.y);
  data[i + half] = make_float2(a.x - w.x, a.y - w.y);
}
