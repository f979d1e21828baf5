// SPDX-License-Identifier: MIT
// Global memory, as people get it wrong.
#include <cuda_fp16.h>
#include <cstdint>
// y = A x, a row a thread.
__global__ void matvec(float* y, const float* A, const float* x, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.f;
  for (int j = 0; j < cols; j++) acc += A[row * cols + j] * x[j];  // cause: matvec
  y[row] = acc;
}

// Volume with z fastest, threads along x.
__global__ void damp(float* vol, int nx, int ny, int nz, float f) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  for (int z = 0; z < nz; ++z)
    if (x < nx && y < ny) vol[(x * ny + y) * nz + z] *= f;  // cause: damp
}

// Structures of doubles, of which one is read.
struct Atom {
  double x, y, z;
  double charge;
};
__global__ void total_charge(double* out, const Atom* atoms, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = atoms[i].charge * 1.6e-19;  // cause: total_charge
}

// A column-major matrix, and each thread scales along its row index by the wrong one.
__global__ void scale_rows(float2* m, const float* s, int ld, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  float2 v = m[c * ld + r];                             // cause: scale_rows
  m[c * ld + r] = make_float2(v.x * s[r], v.y * s[r]);  // cause: scale_rows
}

// The kernel writes the even places only.
__global__ void zero_stuff(float* up, const float* in, int factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  up[i * factor] = in[i];  // cause: zero_stuff
}

// SpMV in ELL format: columns coalesced, x is gathered.
__global__ void spmv_ell(int rows, int width, const int* __restrict__ cols,
                         const float* __restrict__ vals, const float* __restrict__ x,
                         float* __restrict__ y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float dot = 0;
  for (int k = 0; k < width; ++k) {
    int c = cols[k * rows + r];
    float v = vals[k * rows + r];
    dot += v * x[c];  // cause: spmv_ell
  }
  y[r] = dot;
}

// Puts each key where its rank says.
__global__ void permute(double* out, const double* keys, const int* rank, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[rank[i]] = keys[i];  // cause: permute
}

// An open hash table, looked up.
struct Slot {
  uint32_t key;
  uint32_t value;
};
__device__ inline uint32_t murmur(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6b;
  h ^= h >> 13;
  h *= 0xc2b2ae35;
  h ^= h >> 16;
  return h;
}
__global__ void lookup(uint32_t* values, const uint32_t* keys, const Slot* table,
                       uint32_t capacity) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t slot = murmur(keys[i]) & (capacity - 1);
  Slot s = table[slot];  // cause: lookup
  values[i] = s.key == keys[i] ? s.value : 0xffffffffu;
}

// Remaps an image by a map of indices.
__global__ void remap(float* dst, const float* src, const short2* map, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  short2 m = map[y * w + x];
  dst[y * w + x] = src[(m.y % h) * w + m.x % w];  // cause: remap
}

// Difference quotient.
__global__ void forward_difference(float* d, const float* f, float inv_h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float next = f[i + 1];  // cause: forward_difference
  d[i] = next * inv_h;
}

// Rows of 1001 floats.
__global__ void negate2d(float* out, const float* in, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = -in[y * w + x];  // cause: negate2d
}

// The inner part of a grid with a border of one.
__global__ void set_interior(float* grid, const float* rhs, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  grid[(y + 1) * (n + 8) + x + 1] = rhs[y * n + x];  // cause: set_interior
}

// FIR with taps in constant memory.
__constant__ float c_taps[17];
__global__ void fir(float* __restrict__ y, const float* __restrict__ x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float acc = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) acc += c_taps[k] * x[i + k];  // cause: fir
  y[i] = acc;
}

// Maximum of a window of 12.
__global__ void window_max(int* out, const int* in, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int best = in[i];
  for (int k = 1; k < w; ++k) best = max(best, in[i + k]);  // cause: window_max
  out[i] = best;
}

// Horizontal box filter, 2-D blocks.
__global__ void box_h(float* out, const float* in, int pitch, int r) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int k = 0; k <= 2 * r; ++k) s += in[y * pitch + x + k];  // cause: box_h
  out[y * pitch + x] = s / (2 * r + 1);
}

// k-means: every thread looks at all the centres.
__global__ void assign(int* label, const float* px, const float* py, const float2* centres, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = px[i], y = py[i], best = 3.4e38f;
  int who = 0;
  for (int c = 0; c < k; ++c) {
    float2 m = centres[c];  // cause: assign
    float d = (x - m.x) * (x - m.x) + (y - m.y) * (y - m.y);
    if (d < best) {
      best = d;
      who = c;
    }
  }
  label[i] = who;
}

// Double matrices, 16 x 16 threads.
__global__ void dgemm_naive(int n, int k, const double* A, const double* B, double* C) {
  int j = blockIdx.x * 16 + threadIdx.x;
  int i = blockIdx.y * 16 + threadIdx.y;
  double c = 0;
  for (int l = 0; l < k; ++l) c += A[i * k + l] * B[l * n + j];  // cause: dgemm_naive
  C[i * n + j] = c;
}

// A warp a row; every warp loads all of x, which the cache has, while A comes from memory: no
// fault.
__global__ void gemv_warp(float* y, const float4* A, const float4* x, int cols4) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  float acc = 0;
  for (int c = lane; c < cols4; c += 32) {
    float4 a = A[row * cols4 + c];
    float4 b = x[c];
    acc += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  for (int o = 16; o; o /= 2) acc += __shfl_down_sync(~0u, acc, o);
  if (!lane) y[row] = acc;
}

// A class with its gain in memory.
class Amplifier {
 public:
  float gain;
  float bias;
  __device__ void process(float* samples, int n, int step) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
      samples[i] = samples[i] * gain + bias;  // cause: amplify
  }
};
__global__ void amplify(Amplifier* amp, float* samples, int n) {
  amp->process(samples, n, gridDim.x * blockDim.x);
}

// y is accumulated in memory, column by column.
__global__ void gemv_columns(float* y, const float* A, const float* x, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  for (int c = 0; c < cols; ++c) y[r] += A[c * rows + r] * x[c];  // cause: gemv_columns
}

// A running maximum, kept in memory.
__global__ void peak_hold(float* peak, const float* x, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float m = -1e30f;
  for (int k = 0; k < rounds; ++k) {
    m = fmaxf(m, fabsf(x[k * n + i]));
    peak[i] = m;  // cause: peak_hold
  }
}

// Everybody writes the block's sum.
__global__ void block_total(float* totals, const float* in) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d >= 1; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  totals[blockIdx.x] = s[0];  // cause: block_total
}
