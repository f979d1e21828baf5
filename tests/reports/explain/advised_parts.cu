// SPDX-License-Identifier: MIT
// Kernels, each followed by itself rewritten as explain advises, as in advised.cu: structures of
// which the compiler loads parts, tiles that are no power of two, sums and maxima by atomics.
#include <cuda_fp16.h>
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

// ---- structures of vectors, of which parts are used

struct Mixed {
  double2 d;
  float4 f;
};

/// ptxas loads one vector whole and two words of the other.
__global__ void blend(float* out, const Mixed* in) {
  const Mixed m = in[HERE];
  out[HERE] = float(m.d.x + m.d.y) + m.f.x + m.f.w;
}
__global__ void blend_of_arrays(float* out, const double2* d, const float* x, const float* w) {
  out[HERE] = float(d[HERE].x + d[HERE].y) + x[HERE] + w[HERE];
}

__global__ void turned_round(float* out, const Mixed* in) {
  __shared__ Mixed s[128];
  s[threadIdx.x] = in[HERE];
  __syncthreads();
  const Mixed m = s[127 - threadIdx.x];
  out[HERE] = float(m.d.x) + m.f.y;
}
__global__ void turned_round_split(float* out, const uint4* in) {
  __shared__ unsigned s[8][128];
  const int t = threadIdx.x;
  const uint4 a = in[2 * HERE], b = in[2 * HERE + 1];
  s[0][t] = a.x, s[1][t] = a.y, s[2][t] = a.z, s[3][t] = a.w;
  s[4][t] = b.x, s[5][t] = b.y, s[6][t] = b.z, s[7][t] = b.w;
  __syncthreads();
  const double d = __hiloint2double(s[1][127 - t], s[0][127 - t]);
  out[HERE] = float(d) + __uint_as_float(s[5][127 - t]);
}
__global__ void turned_round_apart(float* out, const Mixed* in) {
  __shared__ double2 d[128];
  __shared__ float4 f[128];
  d[threadIdx.x] = in[HERE].d;
  f[threadIdx.x] = in[HERE].f;
  __syncthreads();
  const double2 m = d[127 - threadIdx.x];
  const float4 g = f[127 - threadIdx.x];
  out[HERE] = float(m.x) + g.y;
}
struct Padded {
  double2 d;
  float4 f, unused;
};
__global__ void turned_round_padded(float* out, const Mixed* in) {
  __shared__ Padded s[128];
  s[threadIdx.x].d = in[HERE].d;
  s[threadIdx.x].f = in[HERE].f;
  __syncthreads();
  const Padded& m = s[127 - threadIdx.x];
  out[HERE] = float(m.d.x) + m.f.y;
}

__global__ void every_17th(double* out, const double2* in) {
  __shared__ double2 s[256];
  s[threadIdx.x] = in[HERE];
  __syncthreads();
  double sum = 0;
  for (int k = 0; k < 16; k++) sum += s[(threadIdx.x * 17 + k) & 255].x;
  out[HERE] = sum;
}
__global__ void every_17th_apart(double* out, const double2* in) {
  __shared__ double x[256], y[256];
  const double2 v = in[HERE];
  x[threadIdx.x] = v.x;
  y[threadIdx.x] = v.y;
  __syncthreads();
  double sum = 0;
  for (int k = 0; k < 16; k++) sum += x[(threadIdx.x * 17 + k) & 255];
  out[HERE] = sum;
  if (sum == 1e300) out[HERE] = y[threadIdx.x];
}

struct Counted {
  double a;
  int b;
};
__global__ void weighted(double* out, const double* in) {
  __shared__ Counted s[256];
  s[threadIdx.x].a = in[HERE];
  s[threadIdx.x].b = threadIdx.x;
  __syncthreads();
  double sum = 0;
  for (int k = 0; k < 8; k++) sum += s[(threadIdx.x + k) & 255].a * s[(threadIdx.x + k) & 255].b;
  out[HERE] = sum;
}
__global__ void weighted_apart(double* out, const double* in) {
  __shared__ double a[256];
  __shared__ int b[256];
  a[threadIdx.x] = in[HERE];
  b[threadIdx.x] = threadIdx.x;
  __syncthreads();
  double sum = 0;
  for (int k = 0; k < 8; k++) sum += a[(threadIdx.x + k) & 255] * b[(threadIdx.x + k) & 255];
  out[HERE] = sum;
}

struct Point {
  float x, y, z, weight;
};
__global__ void norms(float* out, const Point* p) {
  out[HERE] = p[HERE].x * p[HERE].x + p[HERE].y * p[HERE].y + p[HERE].z * p[HERE].z;
}
__global__ void norms_by_vector(float* out, const float4* p) {
  const float4 q = p[HERE];
  out[HERE] = q.x * q.x + q.y * q.y + q.z * q.z;
}

struct Cell {
  double a;
  float b;
};
__global__ void cells(float* out, const Cell* c) { out[HERE] = float(c[HERE].a) * c[HERE].b; }
__global__ void cells_by_vector(float* out, const float4* c) {
  const float4 v = c[HERE];
  out[HERE] = float(__hiloint2double(__float_as_int(v.y), __float_as_int(v.x))) * v.z;
}

struct Five {
  float a, b, c, d, e;
};
__global__ void energies(float* out, const Five* p) {
  out[HERE] = p[HERE].a * p[HERE].b + p[HERE].e;
}
__global__ void energies_of_arrays(float* out, const float* a, const float* b, const float* e) {
  out[HERE] = a[HERE] * b[HERE] + e[HERE];
}

__global__ void neighbours(float* out, const float3* in) {
  __shared__ float3 s[256];
  s[threadIdx.x] = in[HERE];
  __syncthreads();
  const float3 a = s[threadIdx.x ^ 1];
  out[HERE] = a.x + a.y * a.z;
}
__global__ void neighbours_of_arrays(float* out, const float* x, const float* y, const float* z) {
  __shared__ float3 s[256];
  s[threadIdx.x] = make_float3(x[HERE], y[HERE], z[HERE]);
  __syncthreads();
  const float3 a = s[threadIdx.x ^ 1];
  out[HERE] = a.x + a.y * a.z;
}

// ---- rows and tiles

__global__ void sums_of_seven(float* out, const float* in) {
  float sum = 0;
  for (int k = 0; k < 7; k++) sum += in[HERE * 7 + k];
  out[HERE] = sum;
}
__global__ void sums_of_seven_turned(float* out, const float* in, int n) {
  float sum = 0;
  for (int k = 0; k < 7; k++) sum += in[k * n + HERE];
  out[HERE] = sum;
}

__global__ void tiles_of_24(float* out, const float* in) {
  __shared__ float t[24][24];
  const int first = blockIdx.x * 576, x = threadIdx.x, y = threadIdx.y;
  t[y][x] = in[first + y * 24 + x];
  __syncthreads();
  out[first + y * 24 + x] = t[x][y];
}
__global__ void tiles_of_24_padded(float* out, const float* in) {
  __shared__ float t[24][26];
  const int first = blockIdx.x * 576, x = threadIdx.x, y = threadIdx.y;
  t[y][x] = in[first + y * 24 + x];
  __syncthreads();
  out[first + y * 24 + x] = t[x][y];
}

/// ptxas joins four loads of a row into one, which it cannot do with rows of 17.
__global__ void product_with_rows(float* c, const float* a, const float* b) {
  __shared__ float as[16][16], bs[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  as[y][x] = a[y * 16 + x];
  bs[y][x] = b[y * 16 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += as[y][k] * bs[x][k];
  c[blockIdx.x * 256 + y * 16 + x] = sum;
}
__global__ void product_with_rows_padded(float* c, const float* a, const float* b) {
  __shared__ float as[16][16], bs[16][20];
  const int x = threadIdx.x, y = threadIdx.y;
  as[y][x] = a[y * 16 + x];
  bs[y][x] = b[y * 16 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += as[y][k] * bs[x][k];
  c[blockIdx.x * 256 + y * 16 + x] = sum;
}

__global__ void turned_box(float* out, const float* in) {
  __shared__ float t[16][16][16];
  for (int k = threadIdx.x; k < 4096; k += 256) t[k / 256][k / 16 % 16][k % 16] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) out[k] = t[k % 16][k / 16 % 16][k / 256];
}
__global__ void turned_box_padded(float* out, const float* in) {
  __shared__ float t[4096 + 16];
  for (int k = threadIdx.x; k < 4096; k += 256) t[k + k / 256] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) {
    const int i = k % 16 * 256 + k / 16 % 16 * 16 + k / 256;
    out[k] = t[i + i / 256];
  }
}
__global__ void turned_box_swizzled(float* out, const float* in) {
  __shared__ float t[4096];
  for (int k = threadIdx.x; k < 4096; k += 256) t[k ^ (k / 256)] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) {
    const int i = k % 16 * 256 + k / 16 % 16 * 16 + k / 256;
    out[k] = t[i ^ (i / 256)];
  }
}

__global__ void every_eighth(int4* out, const int4* in) {
  __shared__ int4 s[256];
  s[threadIdx.x] = in[HERE];
  __syncthreads();
  out[HERE] = s[(threadIdx.x * 8 + threadIdx.x / 32) & 255];
}
__global__ void every_eighth_padded(int4* out, const int4* in) {
  __shared__ int4 s[256 + 32];
  s[threadIdx.x + threadIdx.x / 8] = in[HERE];
  __syncthreads();
  const int i = (threadIdx.x * 8 + threadIdx.x / 32) & 255;
  out[HERE] = s[i + i / 8];
}
__global__ void every_eighth_swizzled(int4* out, const int4* in) {
  __shared__ int4 s[256];
  s[threadIdx.x ^ (threadIdx.x / 8 % 8)] = in[HERE];
  __syncthreads();
  const int i = (threadIdx.x * 8 + threadIdx.x / 32) & 255;
  out[HERE] = s[i ^ (i / 8 % 8)];
}

__global__ void sum_of_tree(float* out, const float* in) {
  __shared__ float s[512];
  s[threadIdx.x] = in[HERE];
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    const int k = 2 * d * threadIdx.x;
    if (k < 512) s[k] += s[k + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
#define PADDED(i) ((i) + (i) / 32)
__global__ void sum_of_tree_padded(float* out, const float* in) {
  __shared__ float s[512 + 16];
  s[PADDED(threadIdx.x)] = in[HERE];
  __syncthreads();
  for (int d = 1; d < 512; d *= 2) {
    const int k = 2 * d * threadIdx.x;
    if (k < 512) s[PADDED(k)] += s[PADDED(k + d)];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

/// Two halves of a word stay together.
__global__ void turned_halves(__half* out, const __half* in) {
  __shared__ __half t[64][64];
  for (int k = threadIdx.x; k < 4096; k += 256) t[k / 64][k % 64] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) out[k] = t[k % 64][k / 64];
}
__global__ void turned_halves_padded(__half* out, const __half* in) {
  __shared__ __half t[64][66];
  for (int k = threadIdx.x; k < 4096; k += 256) t[k / 64][k % 64] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) out[k] = t[k % 64][k / 64];
}
__global__ void turned_halves_swizzled(__half* out, const __half* in) {
  __shared__ __half t[64][64];
  for (int k = threadIdx.x; k < 4096; k += 256) t[k / 64][(k % 64) ^ (k / 64 % 32) * 2] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) {
    out[k] = t[k % 64][(k / 64) ^ (k % 64 % 32) * 2];
  }
}
__global__ void turned_bytes(unsigned char* out, const unsigned char* in) {
  __shared__ unsigned char t[64][64];
  for (int k = threadIdx.x; k < 4096; k += 256) t[k / 64][k % 64] = in[k];
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) out[k] = t[k % 64][k / 64];
}
__global__ void turned_bytes_swizzled(unsigned char* out, const unsigned char* in) {
  __shared__ unsigned char t[64][64];
  for (int k = threadIdx.x; k < 4096; k += 256) {
    t[k / 64][(k % 64) ^ ((k / 64 >> 1) % 16) * 4] = in[k];
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 4096; k += 256) {
    out[k] = t[k % 64][(k / 64) ^ ((k % 64 >> 1) % 16) * 4];
  }
}

// ---- atomics

__device__ float sum_of_warp(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  return v;
}

/// The sum is one variable in shared memory, which the machine code adds to in a loop.
__global__ void sum_in_block(float* out, const float* in) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, in[HERE]);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
__global__ void sum_in_block_by_warps(float* out, const float* in) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  const float v = sum_of_warp(in[HERE]);
  if (threadIdx.x % 32 == 0) atomicAdd(&s, v);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

__global__ void sum_of_rounds(float* out, const float* in, int n) {
  for (int i = HERE; i < n; i += gridDim.x * blockDim.x) atomicAdd(out, in[i]);
}
__global__ void sum_of_rounds_by_blocks(float* out, const float* in, int n) {
  __shared__ float part[8];
  float sum = 0;
  for (int i = HERE; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; k++) sum += part[k];
    atomicAdd(out, sum);
  }
}

__global__ void greatest(int* out, const int* in) { atomicMax(out, in[HERE]); }
__global__ void greatest_by_blocks(int* out, const int* in) {
  __shared__ int part[8];
  const int v = __reduce_max_sync(~0u, in[HERE]);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    int most = v;
    for (int k = 1; k < 8; k++) most = max(most, part[k]);
    atomicMax(out, most);
  }
}
