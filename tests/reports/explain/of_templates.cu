// SPDX-License-Identifier: MIT
// Kernels as libraries have them, each with one fault, and two whose arrays ptxas keeps in
// registers after all.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
using u32 = unsigned int;

constexpr u32 kFull = 0xffffffffu;

template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(kFull, v, d);
  return v;
}

// Fragments as mma.m16n8k16 takes them, of a tile without swizzle.
template <int kRows, int kWords>
__global__ void fragment_products(float* __restrict__ out, const __half2* __restrict__ a) {
  __shared__ __half2 a_tile[kRows * kWords];
  const u32 t = threadIdx.x, lane = t & 31, warp = t >> 5;
#pragma unroll
  for (u32 k = 0; k < kRows * kWords; k += 128)
    a_tile[k + t] = a[blockIdx.x * (kRows * kWords) + k + t];
  __syncthreads();
  const u32 row = warp * 16 + (lane >> 2), column = lane & 3;
  __half2 sum = __float2half2_rn(0.0f);
#pragma unroll
  for (u32 k = 0; k < kWords; k += 8) {
    const __half2 f0 = a_tile[row * kWords + k + column];            // cause: fragment_products
    const __half2 f1 = a_tile[(row + 8) * kWords + k + column];      // cause: fragment_products
    const __half2 f2 = a_tile[row * kWords + k + column + 4];        // cause: fragment_products
    const __half2 f3 = a_tile[(row + 8) * kWords + k + column + 4];  // cause: fragment_products
    sum = __hfma2(f0, f3, __hfma2(f1, f2, sum));
  }
  out[blockIdx.x * 128 + t] = __low2float(sum) + __high2float(sum);
}

// A matrix of 4 x 4 for each thread.
template <int kThreads>
__global__ void batched_trace_of_square(float* __restrict__ out, const float4* __restrict__ in) {
  extern __shared__ float4 matrices[];
  const u32 t = threadIdx.x;
#pragma unroll
  for (u32 k = 0; k < 4; k++) matrices[k * kThreads + t] = in[(blockIdx.x * 4 + k) * kThreads + t];
  __syncthreads();
  const float4* m = matrices + t * 4;
  const float4 a = m[0], b = m[1], c = m[2], d = m[3];  // cause: batched_trace_of_square
  out[blockIdx.x * kThreads + t] =
      a.x * a.x + b.y * b.y + c.z * c.z + d.w * d.w +
      2.0f * (a.y * b.x + a.z * c.x + a.w * d.x + b.z * c.y + b.w * d.y + c.w * d.z);
}

// Gradient of a bias: 32 columns a block, a share of the rows each warp.
template <int kWarps, int kRows>
__global__ void bias_gradient(float* __restrict__ out, const float* __restrict__ gradient,
                              u32 columns) {
  __shared__ float partial[32 * kWarps];
  const u32 lane = threadIdx.x, warp = threadIdx.y, column = blockIdx.x * 32 + lane;
  float s = 0.0f;
#pragma unroll
  for (u32 r = 0; r < kRows; r++)
    s += gradient[((blockIdx.y * kWarps + warp) * kRows + r) * columns + column];
  partial[lane * kWarps + warp] = s;  // cause: bias_gradient
  __syncthreads();
  if (warp == 0) {
    s = 0.0f;
#pragma unroll 1
    for (u32 w = 0; w < kWarps; w++) s += partial[lane * kWarps + w];  // cause: bias_gradient
    out[blockIdx.y * columns + column] = s;
  }
}

// A thread for each key: its vector lies in one piece.
template <int kDim>
__global__ void scores_of_keys(float* __restrict__ scores, const float4* __restrict__ keys,
                               const float4* __restrict__ query) {
  __shared__ float4 q[kDim / 4];
  if (threadIdx.x < kDim / 4) q[threadIdx.x] = query[threadIdx.x];
  __syncthreads();
  const u32 key = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
#pragma unroll
  for (int d = 0; d < kDim / 4; d++) {
    const float4 k = keys[key * (kDim / 4) + d];  // cause: scores_of_keys
    s += k.x * q[d].x + k.y * q[d].y + k.z * q[d].z + k.w * q[d].w;
  }
  scores[key] = s;
}

template <typename T, int kChannels, int kPixels>
__global__ void nchw_to_nhwc(T* __restrict__ out, const T* __restrict__ in) {
  const u32 o = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 c = o % kChannels, p = (o / kChannels) % kPixels, b = o / (kChannels * kPixels);
  out[o] = in[(b * kChannels + c) * kPixels + p];  // cause: nchw_to_nhwc
}

// Seven items in a row for each thread.
template <typename T, int kItems>
__global__ void segment_max(T* __restrict__ out, const T* __restrict__ in) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  T best = in[i * kItems];  // cause: segment_max
#pragma unroll
  for (int k = 1; k < kItems; k++) best = max(best, in[i * kItems + k]);  // cause: segment_max
  out[i] = best;
}

struct alignas(16) Bucket {
  u32 tag[2];
  u32 value[2];
};

template <int kBits>
__global__ void bucket_lookup(u32* __restrict__ out, const u32* __restrict__ keys,
                              const Bucket* __restrict__ buckets) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 key = keys[i];
  const u32 hash = (key ^ (key >> 15)) * 2654435761u >> (32 - kBits);
  const uint4 b = *reinterpret_cast<const uint4*>(buckets + hash);  // cause: bucket_lookup
  u32 found = kFull;
  found = b.x == key ? b.z : found;
  found = b.y == key ? b.w : found;
  out[i] = found;
}

__global__ void relax_edges(u32* distance, const u32* __restrict__ from, const u32* __restrict__ to,
                            const u32* __restrict__ weight) {
  const u32 e = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 reached = distance[from[e]] + weight[e];  // cause: relax_edges
  atomicMin(distance + to[e], reached);               // cause: relax_edges
}

// Rows of an odd pitch, the first of each a flag.
template <typename T, int kRows>
__global__ void mean_of_payload(T* __restrict__ out, const T* __restrict__ records, u32 pitch) {
  const u32 c = blockIdx.x * blockDim.x + threadIdx.x;
  const T* p = records + blockIdx.y * kRows * pitch + 1 + c;
  T s = T(0);
#pragma unroll
  for (int r = 0; r < kRows; r++) s += p[r * pitch];  // cause: mean_of_payload
  out[blockIdx.y * (gridDim.x * blockDim.x) + c] = s * (T(1) / T(kRows));
}

template <typename T, int kWindow>
__global__ void max_pool_row(T* __restrict__ out, const T* __restrict__ in, u32 pitch) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x, width = gridDim.x * blockDim.x;
  T best = in[blockIdx.y * pitch + x];
#pragma unroll
  for (int k = 1; k < kWindow; k++)
    best = max(best, in[blockIdx.y * pitch + x + k]);  // cause: max_pool_row
  out[blockIdx.y * width + x] = best;
}

// Each warp a query, all warps of the block the same references.
template <int kDim>
__global__ void squared_distances(float* __restrict__ out, const float* __restrict__ queries,
                                  const float* __restrict__ references) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const u32 lane = tile.thread_rank(), query = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const float mine = queries[query * 32 + lane];
  const float* r = references + (blockIdx.x & 63) * (kDim * 32);
  float s = 0.0f;
#pragma unroll
  for (int d = 0; d < kDim; d++) {
    const float difference = tile.shfl(mine, d) - r[d * 32 + lane];  // cause: squared_distances
    s = fmaf(difference, difference, s);
  }
  out[query * 32 + lane] = s;
}

// Keys lie by dimension; the query is read by every thread.
template <int kDim>
__global__ void scores_by_dimension(float* __restrict__ scores, const float* __restrict__ keys,
                                    const float* query, u32 tokens) {
  const u32 token = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0.0f;
#pragma unroll 8
  for (u32 d = 0; d < kDim; d++) {
    s = fmaf(keys[d * tokens + token],
             query[d],  // cause: scores_by_dimension
             s);
  }
  scores[token] = s;
}

template <typename T, int kRows>
__global__ void scale_columns(T* out, const T* in, const T* gamma, u32 columns, float norm) {
  const u32 c = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    const u32 i = (blockIdx.y * kRows + r) * columns + c;
    out[i] = in[i] * norm * gamma[c];  // cause: scale_columns
  }
}

// The largest and the sum so far, as online softmax has them.
template <int kSteps>
__global__ void online_softmax_state(float2* state, const float* logits, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  float m = -1e30f, s = 0.0f;
#pragma unroll 4
  for (u32 k = 0; k < kSteps; k++) {
    const float x = logits[k * n + i];
    const float larger = fmaxf(m, x);
    s = s * __expf(m - larger) + __expf(x - larger);
    m = larger;
    state[i] = make_float2(m, s);  // cause: online_softmax_state
  }
}

template <typename T, int kColumns>
__global__ void row_sums_of(float* __restrict__ out, const T* __restrict__ x) {
  const u32 lane = threadIdx.x & 31, row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  float s = 0.0f;
#pragma unroll
  for (u32 c = 0; c < kColumns; c += 32)
    s += static_cast<float>(x[row * kColumns + c + lane]);  // cause: row_sums_of
  s = warp_sum(s);
  if (lane == 0) out[row] = s;
}

template <int kColumns>
__global__ void gemv_int8(float* __restrict__ y, const signed char* __restrict__ weights,
                          const float* __restrict__ x, float scale) {
  __shared__ float activations[kColumns];
  const u32 t = threadIdx.x, lane = t & 31, row = blockIdx.x * 8 + (t >> 5);
  for (u32 c = t; c < kColumns; c += 256) activations[c] = x[c];
  __syncthreads();
  float s = 0.0f;
#pragma unroll 8
  for (u32 c = lane; c < kColumns; c += 32) {
    const float w = weights[row * kColumns + c];  // cause: gemv_int8
    s = fmaf(w, activations[c], s);
  }
  s = warp_sum(s) * scale;
  if (lane == 0) y[row] = s;
}

struct Xorshift {
  u32 s;
  __device__ float next() {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return static_cast<float>(s >> 8) * (2.0f / 16777216.0f) - 1.0f;
  }
};

// Marsaglia's polar method: again until a point is in the circle.
template <int kSamples>
__global__ void polar_normals(float* __restrict__ out, u32 seed) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  Xorshift random{(i + 1) * 2654435761u ^ seed};
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < kSamples; k++) {
    float u, r;
    do {                                // cause: polar_normals
      u = random.next();                // cause: polar_normals
      const float v = random.next();    // cause: polar_normals
      r = u * u + v * v;                // cause: polar_normals
    } while (r >= 1.0f || r < 1e-12f);  // cause: polar_normals
    sum += u * sqrtf(-2.0f * __logf(r) / r);
  }
  out[i] = sum;
}

// A quarter of the elements, at random, have to be refined.
template <typename T, int kSteps>
__global__ void refine_marked(T* __restrict__ values, const u32* __restrict__ marks) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const T target = values[i];
  T x = target;
  if (marks[i] == 0) {  // cause: refine_marked
#pragma unroll
    for (int k = 0; k < kSteps; k++)             // cause: refine_marked
      x = T(0.5) * (x + __fdividef(target, x));  // cause: refine_marked
  }
  values[i] = x;
}

// Tokens to experts: each gets the next place of its expert.
template <int kExperts>
__global__ void expert_slots(u32* __restrict__ slots, u32* counts, const u32* __restrict__ expert) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 e = expert[i] % kExperts;
  slots[i] = atomicAdd(&counts[e], 1u);  // cause: expert_slots
}

template <typename V>
__global__ void squared_error(float* total, const V* __restrict__ a, const V* __restrict__ b) {
  __shared__ float block_total;
  if (threadIdx.x == 0) block_total = 0.0f;
  __syncthreads();
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const V u = a[i], v = b[i];
  const float x = u.x - v.x, y = u.y - v.y;
  atomicAdd(&block_total, x * x + y * y);  // cause: squared_error
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, block_total);
}

template <int K, int kItems>
__global__ void top_k(float* __restrict__ out, const float* __restrict__ scores, u32 n) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  float best[K];
#pragma unroll
  for (int k = 0; k < K; k++) best[k] = -1e30f;
  int weakest = 0;
#pragma unroll 1
  for (u32 item = 0; item < kItems; item++) {
    const float s = scores[item * n + i];
    best[weakest] = fmaxf(best[weakest], s);
    float least = best[0];
    weakest = 0;
#pragma unroll
    for (int k = 1; k < K; k++) {
      const float b = best[k];
      weakest = b < least ? k : weakest;
      least = fminf(b, least);
    }
  }
  out[i] = best[weakest];
}

template <typename T, int N>
__global__ void permute_planes(T* __restrict__ out, const T* __restrict__ in, u32 order,
                               u32 plane) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  T v[N];
#pragma unroll
  for (int k = 0; k < N; k++) v[k] = in[k * plane + i];
#pragma unroll
  for (int k = 0; k < N; k++) out[k * plane + i] = v[(order >> (4 * k)) & (N - 1)];
}

// All rows of a panel in shared memory, to go through them twice.
template <int kThreads, int kRows>
__global__ void panel_softmax_denominators(float* __restrict__ out, const float* __restrict__ in) {
  extern __shared__ float panel[];
  const u32 t = threadIdx.x;
  float m = -1e30f;
#pragma unroll 8
  for (u32 r = 0; r < kRows; r++) {
    const float x = in[(blockIdx.x * kRows + r) * kThreads + t];
    panel[r * kThreads + t] = x;
    m = fmaxf(m, x);
  }
  float s = 0.0f;
#pragma unroll 8
  for (u32 r = 0; r < kRows; r++) s += __expf(panel[r * kThreads + t] - m);
  out[blockIdx.x * kThreads + t] = s;
}

// A block for each of few long rows.
template <int kThreads, int kColumns>
__global__ void normalise_rows(float4* __restrict__ out, const float4* __restrict__ in) {
  __shared__ float2 of_warp[kThreads / 32];
  const u32 t = threadIdx.x, lane = t & 31, warp = t >> 5;
  constexpr int kEach = kColumns / (4 * kThreads);
  float4 v[kEach];
  float s = 0.0f, q = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    v[k] = in[blockIdx.x * (kColumns / 4) + k * kThreads + t];
    s += v[k].x + v[k].y + v[k].z + v[k].w;
    q += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
  }
  s = warp_sum(s);
  q = warp_sum(q);
  if (lane == 0) of_warp[warp] = make_float2(s, q);
  __syncthreads();
  const float2 p = of_warp[lane];
  const float mean = warp_sum(p.x) * (1.0f / kColumns);
  const float inverse = rsqrtf(warp_sum(p.y) * (1.0f / kColumns) - mean * mean + 1e-5f);
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    float4 w = v[k];
    w.x = (w.x - mean) * inverse;
    w.y = (w.y - mean) * inverse;
    w.z = (w.z - mean) * inverse;
    w.w = (w.w - mean) * inverse;
    out[blockIdx.x * (kColumns / 4) + k * kThreads + t] = w;
  }
}

// A thread for each pair of a head of 96: blocks of 48.
template <int kPairs, int kTokens>
__global__ void rotary(float* __restrict__ x, float base) {
  const u32 t = threadIdx.x;
  const float frequency = exp2f(-base * static_cast<float>(t));
#pragma unroll
  for (u32 k = 0; k < kTokens; k++) {
    const u32 token = blockIdx.x * kTokens + k;
    float s, c;
    __sincosf(static_cast<float>(token & 1023) * frequency, &s, &c);
    float* p = x + token * (2 * kPairs) + t;
    const float a = p[0], b = p[kPairs];
    p[0] = a * c - b * s;
    p[kPairs] = a * s + b * c;
  }
}

// 264 blocks of 768 are on the device at a time, the launch has 300.
template <int kSteps>
__global__ void __launch_bounds__(768, 2) relax_fixed_point(float* __restrict__ values, float a) {
  const u32 i = blockIdx.x * 768 + threadIdx.x;
  const float target = values[i];
  float x = target;
#pragma unroll 8
  for (int k = 0; k < kSteps; k++) x = fmaf(a, x * x, target * 0.25f) - fabsf(x) * 0.125f;
  values[i] = x;
}

template <typename T>
__global__ void gated_sigmoid(T* __restrict__ out, const T* __restrict__ gate,
                              const T* __restrict__ up) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  const T g = gate[i];
  out[i] = up[i] * g / (1.0 + __expf(-g));  // cause: gated_sigmoid
}

template <typename T, int kRows>
__global__ void batch_norm(T* __restrict__ out, const T* __restrict__ in,
                           const T* __restrict__ mean, const T* __restrict__ variance,
                           u32 channels) {
  const u32 c = blockIdx.x * blockDim.x + threadIdx.x;
  const T m = mean[c], v = variance[c];
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    const u32 i = (blockIdx.y * kRows + r) * channels + c;
    out[i] = (in[i] - m) / sqrt(v + 1e-5);  // cause: batch_norm
  }
}
