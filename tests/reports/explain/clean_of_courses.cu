// SPDX-License-Identifier: MIT
// Kernels with nothing wrong, but for two that turned out to have a fault (marked).
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cstdint>
namespace cg = cooperative_groups;
// Register-tiled product: 64 x 64 of a block, 4 x 4 of a thread.
__global__ void __launch_bounds__(256) sgemm64(float* __restrict__ C, const float* __restrict__ A,
                                               const float* __restrict__ B, int N, int K) {
  __shared__ float As[16][64 + 4];
  __shared__ float Bs[16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  float acc[4][4] = {};
  const int ar = t / 4, ac = (t % 4) * 4, br = t / 16, bc = (t % 16) * 4;
  for (int k0 = 0; k0 < K; k0 += 16) {
    float4 a = *reinterpret_cast<const float4*>(A + (row0 + ar) * K + k0 + ac);
    As[ac][ar] = a.x;
    As[ac + 1][ar] = a.y;
    As[ac + 2][ar] = a.z;
    As[ac + 3][ar] = a.w;
    *reinterpret_cast<float4*>(&Bs[br][bc]) =
        *reinterpret_cast<const float4*>(B + (k0 + br) * N + col0 + bc);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4 av = *reinterpret_cast<float4*>(&As[k][ty * 4]);
      float4 bv = *reinterpret_cast<float4*>(&Bs[k][tx * 4]);
      const float ax[4] = {av.x, av.y, av.z, av.w}, bx[4] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(ax[i], bx[j], acc[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(C + (row0 + ty * 4 + i) * N + col0 + tx * 4) =
        make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

// n-body through a shared tile.
__global__ void nbody(float4* acc, const float4* pos, int n) {
  __shared__ float4 tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float4 me = pos[i];
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < n; base += 256) {
    tile[threadIdx.x] = pos[base + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 256; ++j) {
      float4 o = tile[j];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float f = o.w * inv * inv * inv;
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    __syncthreads();
  }
  acc[i] = make_float4(ax, ay, az, 0);
}

// Bitonic sort of 512 keys in shared memory: below 32 two lanes meet in a bank.
__global__ void bitonic(unsigned* keys) {
  __shared__ unsigned s[512];
  int t = threadIdx.x;
  unsigned* base = keys + blockIdx.x * 512;
  s[t] = base[t];
  s[t + 256] = base[t + 256];
  for (int k = 2; k <= 512; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      int lo = (t / j) * 2 * j + t % j, hi = lo + j;
      bool up = (lo & k) == 0;
      unsigned a = s[lo], b = s[hi];  // cause: bitonic
      s[lo] = up ? min(a, b) : max(a, b);
      s[hi] = up ? max(a, b) : min(a, b);
    }
  __syncthreads();
  base[t] = s[t];
  base[t + 256] = s[t + 256];
}

// Pixels of four channels, four bytes at once.
__global__ void invert4(uchar4* px, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    uchar4 p = px[i];
    px[i] = make_uchar4(255 - p.x, 255 - p.y, 255 - p.z, p.w);
  }
}

__global__ void half2_relu(__half2* y, const __half2* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hmax2(x[i], __float2half2_rn(0.f));
}

// Separable blur, columns through shared memory.
template <int R>
__global__ void blur_columns(float* __restrict__ out, const float* __restrict__ in, int pitch) {
  __shared__ float s[32 + 2 * R][32];
  int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32 + 2 * R; r += 8) s[r][threadIdx.x] = in[(y0 + r) * pitch + x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8) {
    float a = 0;
#pragma unroll
    for (int k = 0; k <= 2 * R; ++k) a += s[r + k][threadIdx.x];
    out[(y0 + r) * pitch + x] = a * (1.0f / (2 * R + 1));
  }
}

// The kernel walks along z with the neighbours in registers; xy through a tile.
__global__ void laplace3d(float* __restrict__ out, const float* __restrict__ in, int nx, int ny,
                          int nz) {
  __shared__ float t[10][34];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  int plane = nx * ny, at = y * nx + x;
  float below = in[at], here = in[at + plane];
  for (int z = 1; z < nz - 1; ++z) {
    float above = in[(z + 1) * plane + at];
    t[ty + 1][tx + 1] = here;
    if (tx == 0) t[ty + 1][0] = x > 0 ? in[z * plane + at - 1] : 0.f;
    if (tx == 31) t[ty + 1][33] = x < nx - 1 ? in[z * plane + at + 1] : 0.f;
    if (ty == 0) t[0][tx + 1] = y > 0 ? in[z * plane + at - nx] : 0.f;
    if (ty == 7) t[9][tx + 1] = y < ny - 1 ? in[z * plane + at + nx] : 0.f;
    __syncthreads();
    out[z * plane + at] = above + below + t[ty][tx + 1] + t[ty + 2][tx + 1] + t[ty + 1][tx] +
                          t[ty + 1][tx + 2] - 6 * here;
    below = here;
    here = above;
    __syncthreads();
  }
}

// Stream compaction with one atomic a warp; what it keeps it loads once more.
__global__ void filter_warp(int* out, int* count, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] > 0;
  unsigned mask = __ballot_sync(~0u, keep);
  int lane = threadIdx.x & 31, base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];  // cause: filter_warp
}

__global__ void cg_sum(float* out, const float* in) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ float part[8];
  float v = in[blockIdx.x * 256 + threadIdx.x];
  for (int d = warp.size() / 2; d > 0; d /= 2) v += warp.shfl_down(v, d);
  if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v;
  block.sync();
  if (block.thread_rank() == 0) {
    float s = 0;
    for (int w = 0; w < 8; ++w) s += part[w];
    out[blockIdx.x] = s;
  }
}

// A mean and variance of rows of 1024, float4 loads.
__global__ void layer_norm(float4* y, const float4* x, float eps) {
  __shared__ float2 part[8];
  int t = threadIdx.x;
  float4 v = x[blockIdx.x * 256 + t];
  float s = v.x + v.y + v.z + v.w, q = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  for (int d = 16; d; d /= 2) {
    s += __shfl_xor_sync(~0u, s, d);
    q += __shfl_xor_sync(~0u, q, d);
  }
  if (t % 32 == 0) part[t / 32] = make_float2(s, q);
  __syncthreads();
  s = q = 0;
  for (int w = 0; w < 8; ++w) {
    s += part[w].x;
    q += part[w].y;
  }
  float mean = s / 1024, inv = rsqrtf(q / 1024 - mean * mean + eps);
  y[blockIdx.x * 256 + t] =
      make_float4((v.x - mean) * inv, (v.y - mean) * inv, (v.z - mean) * inv, (v.w - mean) * inv);
}

__global__ void daxpy(double* y, const double* x, double a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] += a * x[i];
}

__global__ void rotate_soa(float* x, float* y, const float* z, float c, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float u = x[i], v = y[i], w = z[i];
  x[i] = c * u - s * v + w;
  y[i] = s * u + c * v - w;
}

// A histogram of 256 bins with a copy for each warp.
__global__ void hist_copies(unsigned* hist, const uchar4* img, int n4) {
  __shared__ unsigned h[4][256];
  for (int i = threadIdx.x; i < 1024; i += 128) (&h[0][0])[i] = 0;
  __syncthreads();
  unsigned* mine = h[threadIdx.x / 32];
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n4; i += gridDim.x * 128) {
    uchar4 p = img[i];
    atomicAdd(&mine[p.x], 1u);
    atomicAdd(&mine[p.y], 1u);
    atomicAdd(&mine[p.z], 1u);
    atomicAdd(&mine[p.w], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += 128)
    atomicAdd(&hist[b], h[0][b] + h[1][b] + h[2][b] + h[3][b]);
}

// Scan of 1024 by 256 threads, four each.
__global__ void scan4(int4* out, const int4* in) {
  __shared__ int sums[8];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  int4 v = in[blockIdx.x * 256 + t];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  int total = v.w, incl = total;
  for (int d = 1; d < 32; d *= 2) {
    int o = __shfl_up_sync(~0u, incl, d);
    if (lane >= d) incl += o;
  }
  if (lane == 31) sums[warp] = incl;
  __syncthreads();
  if (warp == 0) {
    int w = lane < 8 ? sums[lane] : 0;
    for (int d = 1; d < 8; d *= 2) {
      int o = __shfl_up_sync(~0u, w, d);
      if (lane >= d) w += o;
    }
    if (lane < 8) sums[lane] = w;
  }
  __syncthreads();
  int before = incl - total + (warp ? sums[warp - 1] : 0);
  out[blockIdx.x * 256 + t] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
}

// Rotation of an image by a quarter turn, padded tile.
__global__ void turn(float* dst, const float* src, int n) {
  __shared__ float t[32][33];
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    t[r][threadIdx.x] = src[(by + r) * n + bx + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8)
    dst[(bx + r) * n + n - 32 - by + threadIdx.x] = t[31 - threadIdx.x][r];
}

// Batched 4 x 4 inverse-free transform: a matrix in registers.
__global__ void transform_points(float4* p, const float* __restrict__ m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = p[i], r;
  r.x = m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3];
  r.y = m[4] * v.x + m[5] * v.y + m[6] * v.z + m[7];
  r.z = m[8] * v.x + m[9] * v.y + m[10] * v.z + m[11];
  r.w = 1.f;
  p[i] = r;
}

// Philox-like generator, all arithmetic.
__global__ void random_floats(float* out, unsigned seed) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = i, b = seed;
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    unsigned hi = __umulhi(a, 0xD2511F53u), lo = a * 0xD2511F53u;
    a = hi ^ b ^ r;
    b = lo;
  }
  out[i] = (a >> 8) * (1.0f / 16777216.0f);
}

// A cheap ternary in each lane.
__global__ void leaky(float* x, float slope, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i];
    if (v < 0) v *= slope;
    x[i] = v;
  }
}

// Rows of a matrix added to a bias, 2-D.
__global__ void add_bias(float* m, const float* bias, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) m[y * w + x] += bias[y];
}

// Through shared memory, 16 bytes a thread without a register.
__global__ void clamp_copy_async(float* out, const float* in, float lo, float hi) {
  __shared__ __align__(16) float s[1024];
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&s[threadIdx.x * 4]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
               "l"(in + blockIdx.x * 1024 + threadIdx.x * 4));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    int i = k * 256 + threadIdx.x;
    out[blockIdx.x * 1024 + i] = fminf(fmaxf(s[i], lo), hi);
  }
}

// Count of a byte value in a text, 16 bytes a load, one atomic a block.
__global__ void count_char(int* total, const uint4* text, unsigned pattern) {
  uint4 v = text[blockIdx.x * blockDim.x + threadIdx.x];
  int c = __popc(__vcmpeq4(v.x, pattern)) + __popc(__vcmpeq4(v.y, pattern)) +
          __popc(__vcmpeq4(v.z, pattern)) + __popc(__vcmpeq4(v.w, pattern));
  int all = __syncthreads_count(c > 0);
  if (threadIdx.x == 0) atomicAdd(total, all);
}

// Jacobi in a tile with a loop of steps in shared memory, two buffers.
__global__ void heat_steps(float* u, int steps) {
  __shared__ float a[2][258];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, now = 0;
  a[0][t + 1] = u[i];
  if (t == 0) a[0][0] = a[1][0] = 0, a[0][257] = a[1][257] = 0;
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    a[1 - now][t + 1] = 0.25f * a[now][t] + 0.5f * a[now][t + 1] + 0.25f * a[now][t + 2];
    now = 1 - now;
    __syncthreads();
  }
  u[i] = a[now][t + 1];
}
