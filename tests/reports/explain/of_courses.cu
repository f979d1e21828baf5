// SPDX-License-Identifier: MIT
// Kernels as in courses, one fault each.
#include <cuda_fp16.h>
#include <cfloat>
#include <cstdint>
// Points as structures of three floats.
struct Vec3 {
  float x, y, z;
};
__global__ void vec3_length(float* len, const Vec3* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    len[i] = sqrtf(v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);  // cause: vec3_length
}

// Grey of interleaved bytes.
__global__ void rgb_to_grey(unsigned char* grey, const unsigned char* rgb, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    int o = y * w + x;
    unsigned char r = rgb[3 * o];      // cause: rgb_to_grey
    unsigned char g = rgb[3 * o + 1];  // cause: rgb_to_grey
    unsigned char b = rgb[3 * o + 2];  // cause: rgb_to_grey
    grey[o] = (r * 77 + g * 150 + b * 29) >> 8;
  }
}

// 2-D heat step, neighbours from global memory.
__global__ void heat2d(float* next, const float* now, int w, int h, float k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x < w - 1 && y < h - 1) {
    float c = now[y * w + x];  // cause: heat2d
    next[y * w + x] =
        c + k * (now[y * w + x - 1] + now[y * w + x + 1] + now[(y - 1) * w + x] +  // cause: heat2d
                 now[(y + 1) * w + x] - 4 * c);                                    // cause: heat2d
  }
}

// Matrix product whose threadIdx.x is the row.
__global__ void mm_swapped(float* C, const float* A, const float* B, int n, int kk) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int k = 0; k < kk; k++) s += A[row * kk + k] * B[k * n + col];  // cause: mm_swapped
  C[row * n + col] = s;
}

// A histogram in global memory.
__global__ void hist_global(int* hist, const int* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&hist[v[i]], 1);  // cause: hist_global
}

// Maximum of floats that are not negative, as integers.
__global__ void max_cas(int* best, const float* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicMax(best, __float_as_int(v[i]));  // cause: max_cas
}

// Each thread sums a chunk of its own.
__global__ void chunk_sums(float* out, const float* in, int chunk) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int i = t * chunk; i < (t + 1) * chunk; ++i) s += in[i];  // cause: chunk_sums
  out[t] = s;
}

// Primes by trial division.
__global__ void count_primes(int* flag, int from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = from + i, prime = 1;
  for (int d = 2; d * d <= v; ++d) {  // cause: count_primes
    if (v % d == 0) {                 // cause: count_primes
      prime = 0;
      break;
    }
  }
  flag[i] = prime;
}

// Only thread 0 of a block adds up.
__global__ void serial_in_block(float* out, const float* in) {
  __shared__ float s[128];
  s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {  // cause: serial_in_block
    float sum = 0;
    for (int k = 0; k < 128; ++k) sum += s[k];
    out[blockIdx.x] = sum;
  }
}

// Insertion sort of each thread.
__global__ void sort_own(int* data, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int i = 0; i < 16; ++i) a[i] = data[i * n + t];  // cause: sort_own
  for (int i = 1; i < 16; ++i) {
    int v = a[i], j = i - 1;      // cause: sort_own
    while (j >= 0 && a[j] > v) {  // cause: sort_own
      a[j + 1] = a[j];            // cause: sort_own
      --j;
    }
    a[j + 1] = v;  // cause: sort_own
  }
  for (int i = 0; i < 16; ++i) data[i * n + t] = a[i];  // cause: sort_own
}

// Matrix times vector, y in global memory.
__global__ void mv_global_acc(float* y, const float* A, const float* x, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  y[i] = 0.0f;
  for (int j = 0; j < cols; ++j) {
    y[i] += A[j * rows + i] * x[j];  // cause: mv_global_acc
  }
}

// Standard deviation with doubles by chance.
__global__ void normalise(float* out, const float* in, float mean, float var, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (in[i] - mean) / sqrt(var + 1e-5);  // cause: normalise
}

// Degrees to radians and a sine.
__global__ void waves(float* out, const float* deg, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float rad = deg[i] * 3.14159265 / 180;  // cause: waves
  out[i] = __sinf(rad) + 1.0f;
}

// Tile with a pitch of 32 doubles, sum of rows by lanes.
__global__ void row_sums_tile(double* out, const double* in) {
  __shared__ double t[32][32];
  for (int r = threadIdx.y; r < 32; r += 8)
    t[r][threadIdx.x] = in[(blockIdx.x * 32 + r) * 32 + threadIdx.x];
  __syncthreads();
  if (threadIdx.y == 0) {
    double s = 0;
#pragma unroll 1
    for (int c = 0; c < 32; ++c) s += t[threadIdx.x][c];  // cause: row_sums_tile
    out[blockIdx.x * 32 + threadIdx.x] = s;
  }
}

// Dot products of a tile's columns, int.
__global__ void gram(int* out, const int* in) {
  __shared__ int t[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  t[y][x] = in[blockIdx.x * 1024 + y * 32 + x];
  __syncthreads();
  int s = 0;
#pragma unroll 4
  for (int k = 0; k < 32; ++k) s += t[x][k] * t[y][k];  // cause: gram
  out[blockIdx.x * 1024 + y * 32 + x] = s;
}

// Blocks of 10 x 10 on an image.
__global__ void brighten10(float* img, int w, float by) {
  int x = blockIdx.x * 10 + threadIdx.x, y = blockIdx.y * 10 + threadIdx.y;
  img[y * w + x] += by;
}

// Two thousand sums by eight blocks.
__global__ void few_blocks(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int k = 0; k < 32; ++k) s += in[k * n + i];
  out[i] = s;
}

// Shifts an array by one.
__global__ void shift_left(float* dst, const float* src, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) dst[i] = src[i + 1];  // cause: shift_left
}

// Text: counts spaces, a byte a thread.
__global__ void is_space(unsigned char* flags, const char* text, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) flags[i] = text[i] == ' ' || text[i] == '\n';  // cause: is_space
}

// A gather by a random walk.
__global__ void pick(float* out, const float* pool, unsigned seed, unsigned mask) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned r = (i + seed) * 1664525u + 1013904223u;
  r ^= r >> 15;
  r *= 2246822519u;
  r ^= r >> 13;
  out[i] = pool[r & mask];  // cause: pick
}
