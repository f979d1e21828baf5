// SPDX-License-Identifier: MIT
// Kernels as libraries have them without a fault worth mending, and one whose vectors nvcc stores
// element by element.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
using u32 = unsigned int;

constexpr u32 kFull = 0xffffffffu;

template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(kFull, v, d);
  return v;
}

// Fragments of mma, of a swizzled tile: rows a whole turn of the banks apart.
template <int kRows, int kWords>
__global__ void fragments_swizzled(float* __restrict__ out, const __half2* __restrict__ a) {
  __shared__ __half2 a_tile[kRows * kWords];
  const u32 t = threadIdx.x, lane = t & 31, warp = t >> 5;
#pragma unroll
  for (u32 k = 0; k < kRows * kWords; k += 128) {
    const u32 i = k + t, row = i / kWords, word = i % kWords;
    a_tile[row * kWords + (word ^ ((row & 7) << 2))] = a[blockIdx.x * (kRows * kWords) + i];
  }
  __syncthreads();
  const u32 row = warp * 16 + (lane >> 2), column = lane & 3, turn = (row & 7) << 2;
  __half2 sum = __float2half2_rn(0.0f);
#pragma unroll
  for (u32 k = 0; k < kWords; k += 8) {
    const __half2 f0 = a_tile[row * kWords + ((k + column) ^ turn)];
    const __half2 f1 = a_tile[(row + 8) * kWords + ((k + column) ^ turn)];
    const __half2 f2 = a_tile[row * kWords + ((k + column + 4) ^ turn)];
    const __half2 f3 = a_tile[(row + 8) * kWords + ((k + column + 4) ^ turn)];
    sum = __hfma2(f0, f3, __hfma2(f1, f2, sum));
  }
  out[blockIdx.x * 128 + t] = __low2float(sum) + __high2float(sum);
}

// Matrices of 4 x 4 by rows: a plane for each row.
__global__ void trace_of_planes(float* __restrict__ out, const float4* __restrict__ rows, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 a = rows[i], b = rows[n + i], c = rows[2 * n + i], d = rows[3 * n + i];
  out[i] = a.x * a.x + b.y * b.y + c.z * c.z + d.w * d.w +
           2.0f * (a.y * b.x + a.z * c.x + a.w * d.x + b.z * c.y + b.w * d.y + c.w * d.z);
}

// Four lanes a matrix, a row each.
__global__ void quad_products(float4* __restrict__ c, const float4* __restrict__ a,
                              const float4* __restrict__ b) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 u = a[i], v = b[i];
  float4 s = make_float4(0, 0, 0, 0);
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const float f = k == 0 ? u.x : k == 1 ? u.y : k == 2 ? u.z : u.w;
    s.x = fmaf(f, __shfl_sync(kFull, v.x, k, 4), s.x);
    s.y = fmaf(f, __shfl_sync(kFull, v.y, k, 4), s.y);
    s.z = fmaf(f, __shfl_sync(kFull, v.z, k, 4), s.z);
    s.w = fmaf(f, __shfl_sync(kFull, v.w, k, 4), s.w);
  }
  c[i] = s;
}

template <typename T, int kChannels, int kPixels>
__global__ void nhwc_tiled(T* __restrict__ out, const T* __restrict__ in) {
  __shared__ T tile[32][33];
  const u32 tx = threadIdx.x, ty = threadIdx.y, p0 = blockIdx.x * 32, c0 = blockIdx.y * 32,
            b = blockIdx.z;
#pragma unroll
  for (u32 k = 0; k < 32; k += 8)
    tile[ty + k][tx] = in[(b * kChannels + c0 + ty + k) * kPixels + p0 + tx];
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < 32; k += 8)
    out[(b * kPixels + p0 + ty + k) * kChannels + c0 + tx] = tile[tx][ty + k];
}

// A warp for each row of 256.
__global__ void softmax_rows(float4* __restrict__ out, const float4* __restrict__ in) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const u32 lane = warp.thread_rank(), row = blockIdx.x * 8 + threadIdx.x / 32;
  float4 v[2];
  float m = -1e30f, s = 0.0f;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    v[k] = in[row * 64 + k * 32 + lane];
    m = fmaxf(m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, warp.shfl_xor(m, d));
#pragma unroll
  for (int k = 0; k < 2; k++) {
    v[k].x = __expf(v[k].x - m);
    v[k].y = __expf(v[k].y - m);
    v[k].z = __expf(v[k].z - m);
    v[k].w = __expf(v[k].w - m);
    s += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  s = 1.0f / warp_sum(s);
#pragma unroll
  for (int k = 0; k < 2; k++)
    out[row * 64 + k * 32 + lane] = make_float4(v[k].x * s, v[k].y * s, v[k].z * s, v[k].w * s);
}

// Gains and shifts are read by every warp; the rows are what takes the time.
__global__ void layer_norm_rows(float4* __restrict__ out, const float4* __restrict__ in,
                                const float4* __restrict__ gamma) {
  const u32 lane = threadIdx.x & 31, row = blockIdx.x * 8 + (threadIdx.x >> 5);
  const float4 v = in[row * 32 + lane], g = gamma[lane];
  const float mean = warp_sum(v.x + v.y + v.z + v.w) * (1.0f / 128);
  const float4 d = make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
  const float inverse =
      rsqrtf(warp_sum(d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w) * (1.0f / 128) + 1e-5f);
  out[row * 32 + lane] = make_float4(d.x * inverse * g.x, d.y * inverse * g.y, d.z * inverse * g.z,
                                     d.w * inverse * g.w);
}

// A histogram for each warp, summed at the end.
template <int kBins, int kWarps>
__global__ void warp_histograms(u32* __restrict__ out, const u32* __restrict__ keys, u32 n) {
  __shared__ u32 bins[kWarps][kBins];
  const u32 t = threadIdx.x, warp = t >> 5;
  for (u32 k = t; k < kWarps * kBins; k += kWarps * 32) (&bins[0][0])[k] = 0;
  __syncthreads();
  const u32 i = blockIdx.x * blockDim.x + t;
#pragma unroll
  for (u32 k = 0; k < 8; k++) atomicAdd(&bins[warp][keys[k * n + i] % kBins], 1u);
  __syncthreads();
  for (u32 b = t; b < kBins; b += kWarps * 32) {
    u32 s = 0;
#pragma unroll
    for (int w = 0; w < kWarps; w++) s += bins[w][b];
    out[blockIdx.x * kBins + b] = s;
  }
}

// Copies ahead of the arithmetic.
template <int kStages, int kSteps>
__global__ void pipelined_scale(float4* __restrict__ out, const float4* __restrict__ in, float a) {
  __shared__ float4 stage[kStages][128];
  const u32 t = threadIdx.x, first = blockIdx.x * kSteps * 128 + t;
#pragma unroll
  for (int k = 0; k < kStages - 1; k++) {
    __pipeline_memcpy_async(&stage[k][t], in + first + k * 128, 16);
    __pipeline_commit();
  }
#pragma unroll
  for (int k = 0; k < kSteps; k++) {
    const int next = k + kStages - 1;
    if (next < kSteps)
      __pipeline_memcpy_async(&stage[next % kStages][t], in + first + next * 128, 16);
    __pipeline_commit();
    __pipeline_wait_prior(kStages - 1);
    float4 v = stage[k % kStages][t];
    v.x *= a;
    v.y *= a;
    v.z *= a;
    v.w *= a;
    out[first + k * 128] = v;
  }
}

__global__ void axpy_half8(uint4* __restrict__ y, const uint4* __restrict__ x, float a) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2 f = __float2half2_rn(a);
  uint4 u = x[i], v = y[i];
  const __half2* p = reinterpret_cast<const __half2*>(&u);
  __half2* q = reinterpret_cast<__half2*>(&v);
#pragma unroll
  for (int k = 0; k < 4; k++) q[k] = __hfma2(f, p[k], q[k]);
  y[i] = v;
}

// Bytes out, but four of a lane at a time.
__global__ void quantise_pack(u32* __restrict__ out, const float4* __restrict__ in, float scale) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = in[i];
  auto code = [scale](float x) {
    return static_cast<u32>(__float2int_rn(fminf(fmaxf(x * scale, -127.0f), 127.0f))) & 255u;
  };
  out[i] = code(v.x) | code(v.y) << 8 | code(v.z) << 16 | code(v.w) << 24;
}

// Eight lanes a row.
__global__ void dots_of_eight(float* __restrict__ out, const float4* __restrict__ a,
                              const float4* __restrict__ b) {
  auto eight = cg::tiled_partition<8>(cg::this_thread_block());
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 u = a[i], v = b[i];
  float s = u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
#pragma unroll
  for (int d = 4; d > 0; d >>= 1) s += eight.shfl_xor(s, d);
  if (eight.thread_rank() == 0) out[i / 8] = s;
}

__global__ void sum_of_blocks(float* total, const float4* __restrict__ in, u32 n) {
  __shared__ float of_warp[8];
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  float s = 0.0f;
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    const float4 v = in[k * n + i];
    s += v.x + v.y + v.z + v.w;
  }
  s = warp_sum(s);
  if (lane == 0) of_warp[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = warp_sum(lane < 8 ? of_warp[lane] : 0.0f);
    if (lane == 0) atomicAdd(total, s);
  }
}

__device__ __forceinline__ u32 mix(u32 h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

__global__ void hash_keys(uint4* __restrict__ out, const uint4* __restrict__ in, u32 n) {
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint4 k = in[i];
    out[i] = make_uint4(mix(k.x), mix(k.y), mix(k.z), mix(k.w));
  }
}

// The matrix of the left is given transposed; four by four results a thread.
template <int kDepth>
__global__ void gemm_tn(float* __restrict__ c, const float* __restrict__ a,
                        const float* __restrict__ b, u32 m, u32 n) {
  __shared__ float4 as[16][16], bs[16][16];
  const u32 t = threadIdx.x, tx = t % 16, ty = t / 16;
  float sum[4][4] = {};
#pragma unroll 1
  for (u32 k0 = 0; k0 < kDepth; k0 += 16) {
    as[ty][tx] = *reinterpret_cast<const float4*>(a + (k0 + ty) * m + blockIdx.y * 64 + tx * 4);
    bs[ty][tx] = *reinterpret_cast<const float4*>(b + (k0 + ty) * n + blockIdx.x * 64 + tx * 4);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const float4 u = as[k][ty], v = bs[k][tx];
      const float x[4] = {u.x, u.y, u.z, u.w}, y[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    *reinterpret_cast<float4*>(c + (blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 +
                               tx * 4) =  // cause: gemm_tn
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

// Rows at random places, but each in one piece.
__global__ void embedding_rows(float4* __restrict__ out, const float4* __restrict__ table,
                               const u32* __restrict__ tokens) {
  const u32 lane = threadIdx.x & 31, i = blockIdx.x * 8 + (threadIdx.x >> 5);
  const float4* row = table + tokens[i] * 64;
  out[i * 64 + lane] = row[lane];
  out[i * 64 + 32 + lane] = row[32 + lane];
}

__global__ void horner_double(double2* __restrict__ y, const double2* __restrict__ x) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  double2 v = x[i];
  v.x = fma(fma(v.x, 0.1, 0.2), v.x, 0.3);
  v.y = fma(fma(v.y, 0.1, 0.2), v.y, 0.3);
  y[i] = v;
}

// The list is kept in order in registers: no index that is computed.
template <int K, int kItems>
__global__ void top_k_sorted(float* __restrict__ out, const float* __restrict__ scores, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  float best[K];
#pragma unroll
  for (int k = 0; k < K; k++) best[k] = -1e30f;
#pragma unroll 2
  for (u32 item = 0; item < kItems; item++) {
    float s = scores[item * n + i];
#pragma unroll
    for (int k = 0; k < K; k++) {
      const float larger = fmaxf(best[k], s);
      s = fminf(best[k], s);
      best[k] = larger;
    }
  }
#pragma unroll
  for (int k = 0; k < K; k++) out[k * n + i] = best[k];
}

template <int kDim>
__global__ void distances_staged(float* __restrict__ out, const float* __restrict__ queries,
                                 const float* __restrict__ references) {
  extern __shared__ float staged[];
  const u32 lane = threadIdx.x & 31, query = blockIdx.x * 8 + (threadIdx.x >> 5);
  for (u32 k = threadIdx.x; k < kDim * 32; k += 256)
    staged[k] = references[(blockIdx.x & 63) * (kDim * 32) + k];
  __syncthreads();
  const float mine = queries[query * 32 + lane];
  float s = 0.0f;
#pragma unroll
  for (int d = 0; d < kDim; d++) {
    const float difference = __shfl_sync(kFull, mine, d) - staged[d * 32 + lane];
    s = fmaf(difference, difference, s);
  }
  out[query * 32 + lane] = s;
}

// One atomic for all lanes of the warp that go to the same expert, found by ballots.
template <int kExperts>
__global__ void expert_counts(u32* counts, const u32* __restrict__ expert, u32 n) {
  __shared__ u32 of_block[kExperts];
  const u32 t = threadIdx.x, lane = t & 31, i = blockIdx.x * blockDim.x + t;
  if (t < kExperts) of_block[t] = 0;
  __syncthreads();
  u32 mine = 0;
#pragma unroll
  for (u32 k = 0; k < 8; k++) {
    const u32 e = expert[k * n + i];
#pragma unroll
    for (u32 x = 0; x < kExperts; x++) {
      const u32 votes = __popc(__ballot_sync(kFull, e == x));
      mine += lane == x ? votes : 0;
    }
  }
  if (lane < kExperts) atomicAdd(&of_block[lane], mine);
  __syncthreads();
  if (t < kExperts) atomicAdd(&counts[t], of_block[t]);
}

template <typename T, int kRows>
__global__ void scale_columns(T* __restrict__ out, const T* __restrict__ in,
                              const T* __restrict__ gamma, u32 columns) {
  const u32 c = blockIdx.x * blockDim.x + threadIdx.x;
  const T g = gamma[c];
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    const u32 i = (blockIdx.y * kRows + r) * columns + c;
    out[i] = in[i] * g;
  }
}

// Every warp its own function: no lanes wait.
__global__ void functions_by_warp(float* __restrict__ out, const float* __restrict__ in) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  switch ((threadIdx.x >> 5) & 3) {
    case 0:
      for (int k = 0; k < 8; k++) x = __expf(-x);
      break;
    case 1:
      for (int k = 0; k < 8; k++) x = __logf(2.0f + x * x);
      break;
    case 2:
      for (int k = 0; k < 8; k++) x = rsqrtf(1.0f + x * x);
      break;
    default:
      for (int k = 0; k < 8; k++) x = __sinf(x) + 0.5f;
  }
  out[i] = x;
}
