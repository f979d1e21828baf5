// SPDX-License-Identifier: MIT
// More kernels with nothing wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cstdint>
// 3-D stencil in a tile, edges loaded by edge threads in a loop over planes.
__global__ void wave(float* __restrict__ next, const float* __restrict__ now,
                     const float* __restrict__ before, int nx, int ny, int nz, float c) {
  __shared__ float t[16 + 2][32 + 2];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx + 1,
      y = blockIdx.y * 16 + ty + 1;
  int plane = nx * ny, i = y * nx + x + plane;
  for (int z = 1; z < nz - 1; ++z, i += plane) {
    float here = now[i];
    t[ty + 1][tx + 1] = here;
    if (ty < 1) {
      t[0][tx + 1] = now[i - nx];
      t[17][tx + 1] = now[i + 16 * nx];
    }
    if (tx < 1) {
      t[ty + 1][0] = now[i - 1];
      t[ty + 1][33] = now[i + 32];
    }
    __syncthreads();
    float lap = t[ty + 1][tx] + t[ty + 1][tx + 2] + t[ty][tx + 1] + t[ty + 2][tx + 1] - 4 * here;
    next[i] = 2 * here - before[i] + c * lap;
    __syncthreads();
  }
}

// Exclusive scan of a block by warps.
template <int T>
__global__ void exclusive(int* out, const int* in) {
  __shared__ int w[T / 32];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * T + t, v = in[i], s = v;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    int o = __shfl_up_sync(~0u, s, d);
    s += lane >= d ? o : 0;
  }
  if (lane == 31) w[t / 32] = s;
  __syncthreads();
  if (t < T / 32) {
    int a = w[t], b = a;
    for (int d = 1; d < T / 32; d *= 2) {
      int o = __shfl_up_sync((1u << (T / 32)) - 1, b, d);
      b += t >= d ? o : 0;
    }
    w[t] = b - a;
  }
  __syncthreads();
  out[i] = s - v + w[t / 32];
}

// Cross-correlation with weights in shared memory that all lanes read at once.
__global__ void correlate(float* out, const float* in, const float* w, int n) {
  __shared__ float s[256 + 32], k[32];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = in[i];
  if (t < 32) {
    s[256 + t] = in[i + 256];
    k[t] = w[t];
  }
  __syncthreads();
  float a = 0;
#pragma unroll
  for (int j = 0; j < 32; ++j) a = fmaf(k[j], s[t + j], a);
  out[i] = a;
}

// Sums in doubles on purpose, of doubles.
__global__ void variance(double* out, const double* v, double mean, int n) {
  double s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double d = v[i] - mean;
    if (d > 0.5 || d < -0.5) s += d * d;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

// A hash of 16 bytes a thread.
__global__ void fnv(uint32_t* h, const uint4* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 a = v[i];
  uint32_t x = 2166136261u;
  x = (x ^ a.x) * 16777619u;
  x = (x ^ a.y) * 16777619u;
  x = (x ^ a.z) * 16777619u;
  h[i] = (x ^ a.w) * 16777619u;
}

// A persistent loop over tiles with a ticket a block.
__global__ void tickets(float* v, int* ticket, int tiles) {
  __shared__ int tile;
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    int mine = tile;
    __syncthreads();
    if (mine >= tiles) return;
    float4* p = reinterpret_cast<float4*>(v) + mine * 256 + threadIdx.x;
    float4 a = *p;
    *p = make_float4(a.x + 1, a.y + 1, a.z + 1, a.w + 1);
  }
}

// Seven points, marching along z: the plane in shared memory, its edges by a few lanes.
__global__ void __launch_bounds__(512, 4)
    march7(float* __restrict__ out, const float* __restrict__ u, int pitch, int plane, int depth,
           float k) {
  __shared__ float s[18][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int c0 = (blockIdx.y * 16 + ty) * pitch + blockIdx.x * 32 + 32 + threadIdx.x;
  float below = u[c0], here = u[c0 + plane];
  for (int z = 1; z <= depth; z++) {
    const int c = c0 + z * plane;
    const float above = u[c + plane];
    s[ty][tx] = here;
    if (threadIdx.y == 0) s[0][tx] = u[c - pitch];
    if (threadIdx.y == 15) s[17][tx] = u[c + pitch];
    if (threadIdx.x < 2) s[ty][threadIdx.x * 33] = u[c + (threadIdx.x == 0 ? -1 : 31)];
    __syncthreads();
    out[c] = here + k * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + below +
                         above - 6.f * here);
    __syncthreads();
    below = here;
    here = above;
  }
}

// Box around every 32 points.
__global__ void boxes_of_32(float* __restrict__ lo, float* __restrict__ hi,
                            const float* __restrict__ x, int n) {
  auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x, axis = blockIdx.y;
  const float v = x[axis * n + i];
  const float a = cooperative_groups::reduce(warp, v, cooperative_groups::less<float>());
  const float b = cooperative_groups::reduce(warp, v, cooperative_groups::greater<float>());
  if (warp.thread_rank() == 0) {
    lo[axis * (n / 32) + i / 32] = a;
    hi[axis * (n / 32) + i / 32] = b;
  }
}
