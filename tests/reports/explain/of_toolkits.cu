// SPDX-License-Identifier: MIT
// As libraries write: templates, views, functors, grid-stride loops, __restrict__, cooperative
// groups.
#include <cooperative_groups.h>
#include <stdint.h>
namespace cg = cooperative_groups;

namespace toolkit {

using index_t = int;

__device__ __forceinline__ index_t global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ index_t global_stride() { return gridDim.x * blockDim.x; }

template <class T>
struct View2D {
  T* data;
  index_t pitch;
  __device__ __forceinline__ T& operator()(index_t row, index_t col) const {
    return data[row * pitch + col];
  }
};

template <class T, int Rows, int Cols>
struct SharedTile {
  T cells[Rows][Cols];
  __device__ __forceinline__ T& at(int r, int c) { return cells[r][c]; }
};

template <class T, int TILE, int PAD>
__global__ void transpose(T* __restrict__ out, const T* __restrict__ in, index_t width,
                          index_t height) {
  __shared__ T tile[TILE][TILE + PAD];
  const index_t x = blockIdx.x * TILE + threadIdx.x;
  const index_t y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
  for (int j = 0; j < TILE; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const index_t ox = blockIdx.y * TILE + threadIdx.x;
  const index_t oy = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
  for (int j = 0; j < TILE; j += 8)
    out[(oy + j) * height + ox] =
        tile[threadIdx.x]
            [threadIdx.y + j];  // cause: transpose_plain transpose_pad_two transpose_doubles
}

// Column sums of a tile held in a structure: a lane a row.
template <class T, int W>
__global__ void tile_row_sums(const T* __restrict__ in, T* __restrict__ out) {
  __shared__ SharedTile<T, 32, W> tile;
  auto block = cg::this_thread_block();
  const T* from = in + blockIdx.x * 32 * W;
  for (int i = block.thread_rank(); i < 32 * W; i += block.size()) tile.at(i / W, i % W) = from[i];
  block.sync();
  if (block.thread_rank() < 32) {
    T sum{};
#pragma unroll 1
    for (int c = 0; c < W; ++c) sum += tile.at(block.thread_rank(), c);  // cause: tile_row_sums
    out[blockIdx.x * 32 + block.thread_rank()] = sum;
  }
}

template <class T>
__global__ void copy_pitched(T* __restrict__ to, const T* __restrict__ from, index_t to_pitch,
                             index_t from_pitch, index_t width) {
  View2D<T> dst{to, to_pitch};
  View2D<const T> src{from, from_pitch};
  const index_t row = blockIdx.y;
  for (index_t col = global_thread(); col < width; col += global_stride())
    dst(row, col) = src(row, col);  // cause: odd_pitch
}

template <class T, class Op>
__global__ void transform_shifted(T* __restrict__ out, const T* __restrict__ in, index_t shift,
                                  index_t n, Op op) {
  for (index_t i = global_thread(); i < n; i += global_stride())
    out[i] = op(in[i + shift]);  // cause: shifted
}

struct Twice {
  float factor;
  __device__ float operator()(float v) const { return v * factor; }
};

struct Body {
  float3 position;
  float mass;
  float3 velocity;
  float charge;
};

template <float Body::*Member>
__global__ void sum_member(const Body* __restrict__ bodies, float* __restrict__ partial,
                           index_t n) {
  float sum = 0.0f;
  for (index_t i = global_thread(); i < n; i += global_stride())
    sum += bodies[i].*Member;  // cause: sum_mass
  partial[global_thread()] = sum;
}

template <class T>
__global__ void gather(T* __restrict__ out, const T* __restrict__ table,
                       const index_t* __restrict__ map, index_t n) {
  for (index_t i = global_thread(); i < n; i += global_stride()) {
    const index_t source = map[i];
    out[i] = table[source];  // cause: gather
  }
}

template <class T>
__global__ void scatter(T* __restrict__ out, const T* __restrict__ in,
                        const index_t* __restrict__ map, index_t n) {
  for (index_t i = global_thread(); i < n; i += global_stride()) {
    const index_t target = map[i];
    out[target] = in[i];  // cause: scatter
  }
}

// Lower bound of each query in a sorted table.
template <class T>
__global__ void lower_bounds(const T* __restrict__ sorted, index_t n, const T* __restrict__ queries,
                             index_t* __restrict__ out) {
  const T value = queries[global_thread()];
  index_t first = 0, count = n;
  while (count > 0) {
    const index_t step = count / 2;
    const T middle = sorted[first + step];  // cause: lower_bounds
    const bool less = middle < value;
    first = less ? first + step + 1 : first;
    count = less ? count - step - 1 : step;
  }
  out[global_thread()] = first;
}

template <class T, int BINS>
__global__ void block_histogram(const T* __restrict__ keys, int* __restrict__ counts, index_t n) {
  __shared__ int bins[BINS];
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (index_t i = global_thread(); i < n; i += global_stride())
    atomicAdd(&bins[keys[i] % BINS], 1);  // equal addresses add up: no fault
  __syncthreads();
  for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&counts[b], bins[b]);
}

// Pairs in tiles of a warp, with everything in shared memory at once.
template <int N>
__global__ void staged_scale(const float* __restrict__ in, float* __restrict__ out, float factor) {
  __shared__ float stage[N];
  const float* from = in + blockIdx.x * N;
  for (int i = threadIdx.x; i < N; i += blockDim.x) stage[i] = from[i];
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += blockDim.x)
    out[blockIdx.x * N + i] = factor * stage[N - 1 - i];
}

template <class F>
__device__ __forceinline__ float repeat(float v, int times, F f) {
  for (int k = 0; k < times; ++k) v = f(v);
  return v;
}

__global__ void interpret(const uint32_t* __restrict__ codes, const float* __restrict__ in,
                          float* __restrict__ out, index_t n) {
  for (index_t i = global_thread(); i < n; i += global_stride()) {
    float v = in[i];
    switch (codes[i]) {  // cause: interpret
      case 0:
        v = repeat(v, 16, [](float a) { return a * 1.5f + 0.25f; });
        break;
      case 1:
        v = repeat(v, 16, [](float a) { return __fdividef(a, 1.0f + a); });
        break;
      case 2:
        v = repeat(v, 16, [](float a) { return rsqrtf(a + 2.0f); });
        break;
      default:
        v = repeat(v, 16, [](float a) { return __expf(-a); });
        break;
    }
    out[i] = v;
  }
}

__global__ void copy_bytes(char* __restrict__ to, const char* __restrict__ from, size_t bytes) {
  for (size_t i = global_thread(); i < bytes; i += global_stride())
    to[i] = from[i];  // cause: copy_bytes
}

template <class T>
__global__ void iterate_map(T* __restrict__ data, index_t n, int rounds) {
  for (index_t i = global_thread(); i < n; i += global_stride()) {
    T v = data[i];
    for (int r = 0; r < rounds; ++r) v = T(3.7) * v * (T(1) - v);
    data[i] = v;
  }
}

template <class T>
__global__ void vertical_filter(T* __restrict__ out, const T* __restrict__ in,
                                const T* __restrict__ taps, index_t pitch, int radius) {
  const View2D<const T> src{in + radius * pitch, pitch};
  const index_t x = blockIdx.x * blockDim.x + threadIdx.x,
                y = blockIdx.y * blockDim.y + threadIdx.y;
  T sum{};
  for (int d = -radius; d <= radius; ++d)
    sum += taps[d + radius] * src(y + d, x);  // cause: vertical_filter
  out[y * pitch + x] = sum;
}

}  // namespace toolkit
