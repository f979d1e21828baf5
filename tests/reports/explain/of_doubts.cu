// SPDX-License-Identifier: MIT
// Faults that may be looked for in vain, and one that ptxas mends (rotate_axis).
#include <cuda_fp16.h>
#include <cstdint>
// A comparison with a double.
__global__ void count_above(int* flags, const float* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = v[i] > 0.1;  // cause: count_above
}

// To bytes.
__global__ void to_bin(int* bin, const float* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bin[i] = (int)(v[i] * 12.8);  // cause: to_bin
}

// Integers times a double, back to integers.
__global__ void percent(int* out, const int* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v[i] * 0.19;  // cause: percent
}

// Escape of a fractal, with a double in the condition.
__global__ void julia(int* it, int w, float s) {
  int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y;
  float x = px * s - 0.1f, y = py * s - 0.1f;
  int k = 0;
#pragma unroll 1
  for (; k < 30; ++k) {
    float t = x * x - y * y + 0.1f;
    y = 2 * x * y + 0.05f;
    x = t;
    if (x * x + y * y > 4.1) break;  // cause: julia
  }
  it[py * w + px] = k;
}

// Three points.
__global__ void second_derivative(float* d2, const float* f, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d2[i] = s * (f[i] - 2 * f[i + 1] + f[i + 2]);  // cause: second_derivative
}

// A binary search of each key.
__global__ void lower_bound(int* at, const float* key, const float* sorted, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float k = key[i];
  int lo = 0, hi = n;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (sorted[mid] < k)  // cause: lower_bound
      lo = mid + 1;
    else
      hi = mid;
  }
  at[i] = lo;
}

// Lists.
__global__ void list_rank(int* rank, const int* next, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i;
  for (int k = 0; k < steps; ++k) at = next[at];  // cause: list_rank
  rank[i] = at;
}

// Addition by compare and swap.
__device__ void add_double(double* to, double v) {
  unsigned long long* p = (unsigned long long*)to;
  unsigned long long old = *p, seen;  // cause: cas_sum
  do {
    seen = old;
    old =
        atomicCAS(p, seen, __double_as_longlong(v + __longlong_as_double(seen)));  // cause: cas_sum
  } while (seen != old);                                                           // cause: cas_sum
}
__global__ void cas_sum(double* sum, const double* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) add_double(sum, v[i]);  // cause: cas_sum
}

// A 3 x 3 matrix of each thread with indices from data.
__global__ void rotate_axis(float* out, const int* axis, float c, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  int a = axis[i] % 3, b = (a + 1) % 3;
  m[a][a] = c;
  m[a][b] = -s;
  m[b][a] = s;
  m[b][b] = c;
  out[i] = m[0][1] + m[1][2] + m[2][0] + m[0][0];
}

// Half the block leaves; the rest works on.
__global__ void early_leave(float* v, int every) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % every != 0) return;  // cause: early_leave
  float x = v[i];
#pragma unroll 1
  for (int k = 0; k < 32; ++k) x = x * 0.5f + 1;
  v[i] = x;
}

// Blocks of one column.
__global__ void add_matrices(float* c, const float* a, const float* b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  c[y * n + x] = a[y * n + x] + b[y * n + x];  // cause: add_matrices
}

// Volatile shared memory with a stride of two.
__global__ void pairs(float* out, const float* in) {
  __shared__ volatile float s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 512 + t];
  s[t + 256] = in[blockIdx.x * 512 + t + 256];
  __syncthreads();
  out[blockIdx.x * 256 + t] = s[2 * t] - s[2 * t + 1];  // cause: pairs
}

// Flags of one byte.
__global__ void mask_and(bool* out, const bool* a, const bool* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] && b[i];  // cause: mask_and
}

// Two channels of bytes.
__global__ void swap_uv(char2* out, const char2* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    char2 v = in[i];                // cause: swap_uv
    out[i] = make_char2(v.y, v.x);  // cause: swap_uv
  }
}

// Inserts into a hash set.
__global__ void insert(unsigned* table, const unsigned* keys, unsigned mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned k = keys[i];
  unsigned h = (k * 2654435761u) >> 7;
  table[h & mask] = k;  // cause: insert
}

// Image convolution 3 x 3, weights in global memory.
__global__ void conv3(float* out, const float* in, const float* w, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) s += w[j * 3 + i] * in[(y + j) * pitch + x + i];  // cause: conv3
  out[y * pitch + x] = s;
}

// Transpose with a 16 x 16 block and no tile.
__global__ void transpose16(double* out, const double* in, int n) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[x * n + y] = in[y * n + x];  // cause: transpose16
}

// A counter of each block, of all threads.
__global__ void votes(int* yes, const int* v) {
  __shared__ int c;
  if (threadIdx.x == 0) c = 0;
  __syncthreads();
  // no fault: the compiler chooses one lane
  if (v[blockIdx.x * blockDim.x + threadIdx.x] & 1) atomicAdd(&c, v[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) yes[blockIdx.x] = c;
}

// Spills by launch bounds.
__global__ void __launch_bounds__(1024) spill(double* out, const double* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double v[40];
#pragma unroll
  for (int k = 0; k < 40; ++k) v[k] = in[(k & 3) * n + i] + k;
#pragma unroll 1
  for (int r = 0; r < 3; ++r)
#pragma unroll
    for (int k = 0; k < 40; ++k)
      v[k] = fma(v[k], v[(k + 1) % 40], v[(k + 9) % 40]);  // cause: spill
  double s = 0;
#pragma unroll
  for (int k = 0; k < 40; ++k) s += v[k];
  out[i] = s;
}

// One block a multiprocessor, and one over.
__global__ void one_over(float* out, const float* in, int rounds) {
  extern __shared__ float s[];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  float x = 0;
  for (int k = 0; k < rounds; ++k) x += s[threadIdx.x ^ k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// A matrix that is read by columns of a tile of bytes.
__global__ void byte_tile(uchar4* out, const uchar4* in) {
  __shared__ unsigned char t[64][64];
  int i = threadIdx.x;
  *reinterpret_cast<uchar4*>(&t[i / 16][i % 16 * 4]) = in[blockIdx.x * 1024 + i];
  __syncthreads();
  int r = i % 64, c = i / 64;
  unsigned char a = t[r][c * 4], b = t[r][c * 4 + 1];      // cause: byte_tile
  unsigned char d = t[r][c * 4 + 2], e = t[r][c * 4 + 3];  // cause: byte_tile
  out[blockIdx.x * 1024 + c * 64 + r] = make_uchar4(a, b, d, e);
}

// Coordinates of an array of structures with 16 bytes of which 12 are used, and stored one by one.
struct P {
  float x, y, z, w;
};
__global__ void move(P* p, float dx, float dy, float dz, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].x += dx;  // cause: move
  p[i].y += dy;  // cause: move
  p[i].z += dz;  // cause: move
}

// The weights of a network are fetched by every sample again: from the cache, and little beside the
// samples.
__global__ void dense(float* out, const float* in, const float* w, int samples, int k) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0;
  for (int j = 0; j < k; ++j) a += in[j * samples + s] * w[j];
  out[s] = fmaxf(a, 0.f);
}
