// SPDX-License-Identifier: MIT
// Shared memory: bank conflicts, and what else goes wrong there.
#include <cuda_fp16.h>
#include <cstdint>
// Sum of the columns of a 64 x 64 tile, one warp a pair of columns.
__global__ void column_norms(float* norms, const float* m) {
  __shared__ float tile[64][64];
  const float* from = m + blockIdx.x * 4096;
  for (int i = threadIdx.x; i < 4096; i += 256) tile[i / 64][i % 64] = from[i];
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int c = warp; c < 64; c += 8) {
    float a = tile[lane][c];       // cause: column_norms
    float b = tile[lane + 32][c];  // cause: column_norms
    float s = a * a + b * b;
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(0xffffffff, s, d);
    if (lane == 0) norms[blockIdx.x * 64 + c] = sqrtf(s);
  }
}

// Transpose of halves through a square tile.
__global__ void half_transpose(__half* __restrict__ out, const __half* __restrict__ in, int n) {
  __shared__ __half2 tile[32][32];
  const __half2* in2 = reinterpret_cast<const __half2*>(in);
  __half2* out2 = reinterpret_cast<__half2*>(out);
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    tile[r][threadIdx.x] = in2[(by + r) * n + bx + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8)
    out2[(bx + r) * n + by + threadIdx.x] = tile[threadIdx.x][r];  // cause: half_transpose
}

// Bodies of 32 bytes, each thread its own in shared memory.
struct __align__(16) Body {
  float4 pos;
  float4 vel;
};
__global__ void step_bodies(float4* pos, const float4* vel, float dt, int steps) {
  __shared__ Body s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x].pos = pos[i];
  s[threadIdx.x].vel = vel[i];
  __syncthreads();
  float4 a = make_float4(0, 0, 0, 0);
  for (int k = 0; k < steps; ++k) {
    float4 p = s[(threadIdx.x + k) & 127].pos;  // cause: step_bodies
    a.x += p.x * dt;
    a.y += p.y * dt;
    a.z += p.z * dt;
    a.w += p.w;
  }
  pos[i] = a;
}

// 16 x 16 doubles, read along the columns.
template <int BS>
__global__ void transpose_d(double* dst, const double* src, int ld) {
  __shared__ double buf[BS][BS];
  int x = blockIdx.x * BS + threadIdx.x, y = blockIdx.y * BS + threadIdx.y;
  buf[threadIdx.y][threadIdx.x] = src[y * ld + x];
  __syncthreads();
  x = blockIdx.y * BS + threadIdx.x;
  y = blockIdx.x * BS + threadIdx.y;
  dst[y * ld + x] = buf[threadIdx.x][threadIdx.y];  // cause: transpose_d
}

// A cube of 8 x 8 x 8: x and z change places.
__global__ void swap_xz(float* out, const float* in) {
  __shared__ float cube[8][8][8];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  int base = blockIdx.x * 512, at = (z * 8 + y) * 8 + x;
  cube[z][y][x] = in[base + at];
  __syncthreads();
  out[base + at] = cube[x][y][z];  // cause: swap_xz
}

// Reduction with interleaved addressing, second version of the slides.
__global__ void reduce_interleaved(int* out, const int* in) {
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned index = 2 * s * tid;
    if (index < blockDim.x) {
      sdata[index] += sdata[index + s];  // cause: reduce_interleaved
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

// Counters of each thread in its own row.
#define BINS 32
__global__ void own_rows(unsigned* hist, const unsigned char* data, int per) {
  __shared__ unsigned counts[64][BINS];
  for (int b = 0; b < BINS; ++b) counts[threadIdx.x][b] = 0;  // cause: own_rows
  const uchar4* d = reinterpret_cast<const uchar4*>(data);
  for (int k = 0; k < per; ++k) {
    uchar4 v = d[(blockIdx.x * per + k) * 64 + threadIdx.x];
    counts[threadIdx.x][v.x >> 3]++;
    counts[threadIdx.x][v.y >> 3]++;
    counts[threadIdx.x][v.z >> 3]++;
    counts[threadIdx.x][v.w >> 3]++;
  }
  __syncthreads();
  if (threadIdx.x < BINS) {
    unsigned s = 0;
    for (int t = 0; t < 64; ++t) s += counts[t][threadIdx.x];
    atomicAdd(&hist[threadIdx.x], s);
  }
}

// Forward substitution with a factor in shared memory; a row a lane.
__global__ void lower_solve(float* x, const float* l) {
  __shared__ float L[32 * 32];
  __shared__ float b[32];
  int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) L[i * 32 + t] = l[blockIdx.x * 1024 + i * 32 + t];
  float v = x[blockIdx.x * 32 + t];
  __syncwarp();
  for (int k = 0; k < 32; ++k) {
    if (t == k) b[k] = v;
    __syncwarp();
    v -= L[t * 32 + k] * b[k];  // cause: lower_solve
  }
  x[blockIdx.x * 32 + t] = v;
}

// C = A B^T, B's tile is read by its rows.
template <typename T, int TILE>
__global__ void gemm_nt(T* __restrict__ C, const T* __restrict__ A, const T* __restrict__ B, int n,
                        int k) {
  __shared__ T As[TILE][TILE];
  __shared__ T Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col0 = blockIdx.x * TILE;
  T acc = 0;
  for (int k0 = 0; k0 < k; k0 += TILE) {
    As[ty][tx] = A[row * k + k0 + tx];
    Bs[ty][tx] = B[(col0 + ty) * k + k0 + tx];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) acc += As[ty][i] * Bs[tx][i];  // cause: gemm_nt
    __syncthreads();
  }
  C[row * n + col0 + tx] = acc;
}

// Complex numbers of FFT butterflies with a stride that doubles.
__global__ void fft_stages(float2* data) {
  __shared__ float2 s[512];
  int t = threadIdx.x, base = blockIdx.x * 512;
  s[t] = data[base + t];
  s[t + 256] = data[base + t + 256];
  __syncthreads();
  for (int m = 1; m < 512; m *= 2) {
    int group = t / m, k = t % m;
    int i = group * 2 * m + k;
    float2 a = s[i];      // cause: fft_stages
    float2 b = s[i + m];  // cause: fft_stages
    float2 u = make_float2(a.x + b.x, a.y + b.y);
    float2 v = make_float2(a.x - b.x, a.y - b.y);
    s[i] = u;      // cause: fft_stages
    s[i + m] = v;  // cause: fft_stages
    __syncthreads();
  }
  data[base + t] = s[t];
  data[base + t + 256] = s[t + 256];
}

// A third of a multiprocessor's warps: not few enough to be reported.
template <int ENTRIES>
__global__ void apply_table(float* out, const float* in, const float* table) {
  __shared__ float lut[ENTRIES];
  for (int i = threadIdx.x; i < ENTRIES; i += blockDim.x) lut[i] = table[i];
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = (blockIdx.x * 64 + k) * blockDim.x + threadIdx.x;
    out[i] = in[i] * lut[(k * 128 + threadIdx.x) % ENTRIES];
  }
}
// Same with a dynamic buffer; 100 KB of which little is used.
extern __shared__ float scratch[];
__global__ void big_scratch(float* out, const float* in, int rows) {
  for (int r = 0; r < rows; ++r) {
    int i = (blockIdx.x * rows + r) * blockDim.x + threadIdx.x;
    scratch[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = scratch[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
}

// ---- the same, rewritten as the first finding says

__global__ void half_transpose_pad(__half* __restrict__ out, const __half* __restrict__ in, int n) {
  __shared__ __half2 tile[32][33];
  const __half2* in2 = reinterpret_cast<const __half2*>(in);
  __half2* out2 = reinterpret_cast<__half2*>(out);
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8)
    tile[r][threadIdx.x] = in2[(by + r) * n + bx + threadIdx.x];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += 8)
    out2[(bx + r) * n + by + threadIdx.x] = tile[threadIdx.x][r];
}

struct __align__(16) PaddedBody {
  float4 pos, vel, unused;
};
__global__ void step_bodies_pad(float4* pos, const float4* vel, float dt, int steps) {
  __shared__ PaddedBody s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x].pos = pos[i];
  s[threadIdx.x].vel = vel[i];
  __syncthreads();
  float4 a = make_float4(0, 0, 0, 0);
  for (int k = 0; k < steps; ++k) {
    float4 p = s[(threadIdx.x + k) & 127].pos;
    a.x += p.x * dt;
    a.y += p.y * dt;
    a.z += p.z * dt;
    a.w += p.w;
  }
  pos[i] = a;
}

template <int BS>
__global__ void transpose_d_swz(double* dst, const double* src, int ld) {
  __shared__ double buf[BS][BS];
  int x = blockIdx.x * BS + threadIdx.x, y = blockIdx.y * BS + threadIdx.y;
  buf[threadIdx.y][threadIdx.x ^ threadIdx.y] = src[y * ld + x];
  __syncthreads();
  x = blockIdx.y * BS + threadIdx.x;
  y = blockIdx.x * BS + threadIdx.y;
  dst[y * ld + x] = buf[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

__global__ void swap_xz_pad(float* out, const float* in) {
  __shared__ float cube[8 * 65];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  int base = blockIdx.x * 512, at = (z * 8 + y) * 8 + x;
  cube[z * 65 + y * 8 + x] = in[base + at];
  __syncthreads();
  out[base + at] = cube[x * 65 + y * 8 + z];
}

template <typename T, int TILE>
__global__ void gemm_nt_pad(T* __restrict__ C, const T* __restrict__ A, const T* __restrict__ B,
                            int n, int k) {
  __shared__ T As[TILE][TILE];
  __shared__ T Bs[TILE][TILE + 1];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col0 = blockIdx.x * TILE;
  T acc = 0;
  for (int k0 = 0; k0 < k; k0 += TILE) {
    As[ty][tx] = A[row * k + k0 + tx];
    Bs[ty][tx] = B[(col0 + ty) * k + k0 + tx];
    __syncthreads();
    for (int i = 0; i < TILE; ++i) acc += As[ty][i] * Bs[tx][i];
    __syncthreads();
  }
  C[row * n + col0 + tx] = acc;
}

__global__ void lower_solve_pad(float* x, const float* l) {
  __shared__ float L[32 * 33];
  __shared__ float b[32];
  int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) L[i * 33 + t] = l[blockIdx.x * 1024 + i * 32 + t];
  float v = x[blockIdx.x * 32 + t];
  __syncwarp();
  for (int k = 0; k < 32; ++k) {
    if (t == k) b[k] = v;
    __syncwarp();
    v -= L[t * 33 + k] * b[k];
  }
  x[blockIdx.x * 32 + t] = v;
}

__global__ void reduce_interleaved_pad(int* out, const int* in) {
  extern __shared__ int sdata[];
  auto at = [](unsigned i) { return i + i / 32; };
  unsigned tid = threadIdx.x;
  sdata[at(tid)] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned index = 2 * s * tid;
    if (index < blockDim.x) {
      sdata[at(index)] += sdata[at(index + s)];
    }
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}
