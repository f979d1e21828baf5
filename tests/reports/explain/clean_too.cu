// SPDX-License-Identifier: MIT
// Kernels with nothing wrong, written before anybody saw what is found in them.
#include <cuda_fp16.h>
__global__ void k_axpby4(float4* y, const float4* x, float a, float b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 u = x[i], v = y[i];
  y[i] = make_float4(a * u.x + b * v.x, a * u.y + b * v.y, a * u.z + b * v.z, a * u.w + b * v.w);
}

// A warp a row of 128.
__global__ void k_segmented_warp(float* o, const float* x) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float s = 0;
  for (int k = lane; k < 128; k += 32) s += x[row * 128 + k];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (lane == 0) o[row] = s;
}

// Five points through a tile with a halo.
__global__ void k_stencil7(float* o, const float* in, int n) {
  __shared__ float t[10][34];
  int bx = blockIdx.x * 32, by = blockIdx.y * 8;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 340; k += 256) {
    int y = k / 34, x = k % 34;
    t[y][x] = in[(by + y) * (n + 2) + bx + x];
  }
  __syncthreads();
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  o[(by + threadIdx.y) * n + bx + threadIdx.x] =
      t[y][x] + t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1];
}

__global__ void k_transpose_swz(float* o, const float* in, int n) {
  __shared__ float t[32][32];
  int bx = blockIdx.x * 32, by = blockIdx.y * 32, x = threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) t[r][x ^ r] = in[(by + r) * n + bx + x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) o[(bx + r) * n + by + x] = t[x][r ^ x];
}

// A histogram of many bins in shared memory, then merged.
__global__ void k_hist_warp(int* h, const int* k, int n) {
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&own[k[i]], 1);
  __syncthreads();
  atomicAdd(&h[threadIdx.x], own[threadIdx.x]);
}

__global__ void k_early_out(float* o, const float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  o[i] = fmaxf(a[i], 0.f) * 0.5f;
}

__global__ void k_poly_double(double* o, const double* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = a[i];
  o[i] = ((0.5 * x + 1.25) * x - 3) * x + 7;
}

__global__ void k_warp_scan(int* o, const int* a) {
  __shared__ int sums[8];
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = a[i];
  for (int d = 1; d < 32; d *= 2) {
    int w = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += w;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < 8; ++w) before += w < warp ? sums[w] : 0;
  o[i] = v + before;
}

// Whole rows in another order.
__global__ void k_gather_blocks(float* o, const int* order, const float* a) {
  o[blockIdx.x * 128 + threadIdx.x] = a[order[blockIdx.x] * 128 + threadIdx.x];
}

// A tile that one thread loads as a whole, and all wait for.
__global__ void k_bulk_tile(float* o, const float* a) {
  __shared__ alignas(128) float tile[1024];
  __shared__ alignas(8) unsigned long long object;
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(bar) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, "
        "[%2];" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))),
        "l"(a + blockIdx.x * 1024), "r"(bar)
        : "memory");
  }
  asm volatile(
      "{ .reg .pred P;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 P, [%0], 0;\n"
      "@!P bra AGAIN; }" ::"r"(bar)
      : "memory");
  for (int i = threadIdx.x; i < 1024; i += 256) o[blockIdx.x * 1024 + i] = 2 * tile[i];
}
