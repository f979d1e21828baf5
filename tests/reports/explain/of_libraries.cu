// SPDX-License-Identifier: MIT
// Kernels as libraries have them (templates, functors, inlined functions, dynamic memory), one
// fault each, written before anybody saw what is found in them.
#include <cuda_fp16.h>
#include <cstdint>
template <class T, int N>
struct Tile {
  T v[N][N];
  __device__ T& at(int y, int x) { return v[y][x]; }
};

template <class T, int N>
__global__ void tile_outer(T* __restrict__ out, const T* __restrict__ in) {
  __shared__ Tile<T, N> tile;
  const T* src = in + blockIdx.x * N * N;
  for (int y = threadIdx.y; y < N; y += blockDim.y)
    tile.at(y, threadIdx.x) = src[y * N + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < N; y += blockDim.y) {
    T sum{};
#pragma unroll 4
    for (int k = 0; k < N; ++k)
      sum += tile.at(y, k) * tile.at(threadIdx.x, k);  // cause: tile_outer
    out[blockIdx.x * N * N + y * N + threadIdx.x] = sum;
  }
}

// One pool for keys with a header each: four words a thread.
struct Entry {
  int key, next, count, pad;
};
extern __shared__ Entry pool[];
__global__ void dyn_keys(int* out, const int* in) {
  pool[threadIdx.x].key = in[blockIdx.x * 256 + threadIdx.x];  // cause: dyn_keys
  __syncthreads();
  int sum = 0;
#pragma unroll 4
  for (int k = 0; k < 16; ++k) sum += pool[(threadIdx.x + k) % 256].key;  // cause: dyn_keys
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// A small triangular system a thread, matrices one after the other.
template <int N>
__device__ __forceinline__ float dot(const float* row, const float* x, int n) {
  float s = 0;
#pragma unroll
  for (int k = 0; k < N; ++k)
    if (k < n) s += row[k] * x[k];  // cause: batch_trsv
  return s;
}
template <int N>
__global__ void batch_trsv(float* x, const float* L) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  float r[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    r[i] = x[b * N + i] - dot<N>(L + (b * N + i) * N, r, i);
    r[i] /= L[(b * N + i) * N + i];  // cause: batch_trsv
  }
#pragma unroll
  for (int i = 0; i < N; ++i) x[b * N + i] = r[i];  // cause: batch_trsv
}

// A column of an embedding for each token.
template <class T>
__global__ void embedding(T* out, const int* ids, const T* weights, int dim) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = weights[ids[i] * dim + 5];  // cause: embedding
}

template <class T>
__global__ void pitch_copy(T* dst, const T* src, size_t src_pitch, size_t dst_pitch) {
  size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  dst[y * dst_pitch + x] = src[y * src_pitch + x];  // cause: pitch_copy
}

__device__ __forceinline__ float pixel(const float* img, int pitch, int x, int y) {
  return img[y * pitch + x];  // cause: sobel
}
__global__ void sobel(float* g, const float* img, int pitch, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float gx = 0, gy = 0;
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    const float w = j == 1 ? 2.f : 1.f;
    gx += w * (pixel(img, pitch, x + 2, y + j) - pixel(img, pitch, x, y + j));
    gy += w * (pixel(img, pitch, x + j, y + 2) - pixel(img, pitch, x + j, y));
  }
  g[y * width + x] = sqrtf(gx * gx + gy * gy);
}

template <class T>
__global__ void gemm_k_split(T* __restrict__ C, const T* __restrict__ A, const T* __restrict__ B,
                             int N, int K) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x,
            row = blockIdx.y * blockDim.y + threadIdx.y;
  T even{}, odd{};
  for (int k = 0; k < K; k += 2) {
    even += A[row * K + k] * B[k * N + col];           // cause: gemm_k_split
    odd += A[row * K + k + 1] * B[(k + 1) * N + col];  // cause: gemm_k_split
  }
  C[row * N + col] = even + odd;
}

template <class T>
struct Affine {
  const T* p;
  __device__ T operator()(T v) const { return v * p[0] + p[1]; }  // cause: policy_reload
};
template <class T>
__global__ void policy_reload(T* out, T* in, const T* cfg, int n) {
  Affine<T> f{cfg};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) in[k * n + i] = f(in[k * n + i]);
  out[i] = 0;
}

template <int THREADS>
__global__ void norm_all_lanes(float* norm, const float* x) {
  __shared__ float part[THREADS / 32];
  float v = x[blockIdx.x * THREADS + threadIdx.x];
  v *= v;
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int w = 0; w < THREADS / 32; ++w) v += part[w];
  norm[blockIdx.x] = sqrtf(v);  // cause: norm_all_lanes
}

template <class Q>
__global__ void quantise(Q* q, const float* x, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  q[i] = static_cast<Q>(__float2int_rn(x[i] * scale));  // cause: quantise
}

// A series of its own length a lane.
__global__ void ragged_softmax(float* out, const int* len, float base) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0, term = 1;
  for (int k = len[i]; k > 0; --k) {  // cause: ragged_softmax
    term *= base;                     // cause: ragged_softmax
    sum += __expf(term);              // cause: ragged_softmax
  }
  out[i] = sum;
}

template <int BUCKETS>
__global__ void bucket_count(int* count, const unsigned* key) {
  __shared__ int bucket[BUCKETS];
  if (threadIdx.x < BUCKETS) bucket[threadIdx.x] = 0;
  __syncthreads();
  const unsigned mine = key[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&bucket[mine % BUCKETS], 1);  // equal addresses add up: no fault
  __syncthreads();
  if (threadIdx.x < BUCKETS) atomicAdd(&count[threadIdx.x], bucket[threadIdx.x]);
}

template <class T>
__global__ void ring_filter(T* y, const T* x, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T ring[16];
  for (int k = 0; k < 16; ++k) ring[k] = 0;  // cause: ring_filter
  T sum = 0;
  for (int k = 0; k < 32; ++k) {
    T v = x[k * n + i];
    sum += v - ring[(k + 16 - taps) & 15];  // cause: ring_filter
    ring[k & 15] = v;                       // cause: ring_filter
  }
  y[i] = sum;
}

extern __shared__ float stage[];
__global__ void fat_stage(float* o, const float* i) {
  int t = blockIdx.x * 64 + threadIdx.x;
  stage[threadIdx.x] = i[t];
  __syncthreads();
  o[t] = stage[63 - threadIdx.x];
}

__global__ void lone_wave(float* o, const float* i) {
  int t = blockIdx.x * 256 + threadIdx.x;
  o[t] = i[t] + 1;
}

template <class T>
__device__ T wrapped(T a) {
  return a - 6.283185307179586 * floor(a / 6.283185307179586);  // cause: clamp_angle
}
template <class T>
__global__ void clamp_angle(T* o, const T* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = wrapped(a[i]);
}
