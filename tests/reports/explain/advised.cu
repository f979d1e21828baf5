// SPDX-License-Identifier: MIT
// Kernels, each followed by itself rewritten as explain advises. The test reads predictions from
// explain's JSON and compares them with the counts of the rewritten kernel.
#include <cuda_fp16.h>
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

// ---- shared memory: padding

/// Distances of all pairs of 32 points in 32 dimensions: the lanes read a column.
__global__ void distances(float* out, const float* in) {
  __shared__ float points[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  points[y][x] = in[blockIdx.x * 1024 + y * 32 + x];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; k++) {
    const float d = points[y][k] - points[x][k];
    sum += d * d;
  }
  out[blockIdx.x * 1024 + y * 32 + x] = sum;
}
__global__ void distances_padded(float* out, const float* in) {
  __shared__ float points[32][33];
  const int x = threadIdx.x, y = threadIdx.y;
  points[y][x] = in[blockIdx.x * 1024 + y * 32 + x];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; k++) {
    const float d = points[y][k] - points[x][k];
    sum += d * d;
  }
  out[blockIdx.x * 1024 + y * 32 + x] = sum;
}
__global__ void distances_swizzled(float* out, const float* in) {
  __shared__ float points[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  points[y][x ^ y] = in[blockIdx.x * 1024 + y * 32 + x];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; k++) {
    const float d = points[y][k ^ y] - points[x][k ^ x];
    sum += d * d;
  }
  out[blockIdx.x * 1024 + y * 32 + x] = sum;
}

/// A quarter turn of tiles of doubles.
__global__ void turn(double* out, const double* in) {
  __shared__ double tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * 256;
  tile[y][x] = in[first + y * 16 + x];
  __syncthreads();
  out[first + y * 16 + x] = tile[x][15 - y];
}
__global__ void turn_padded(double* out, const double* in) {
  __shared__ double tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y, first = blockIdx.x * 256;
  tile[y][x] = in[first + y * 16 + x];
  __syncthreads();
  out[first + y * 16 + x] = tile[x][15 - y];
}

/// Halves, 64 to a row; each lane takes a column of two rows.
__global__ void columns_of_halves(__half* out, const __half* in) {
  __shared__ __half tile[64][64];
  const int x = threadIdx.x, first = blockIdx.x * 4096;
  for (int y = threadIdx.y; y < 64; y += 8) tile[y][x] = in[first + y * 64 + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 64; y += 8) out[first + y * 64 + x] = tile[x][y];
}
__global__ void columns_of_halves_padded(__half* out, const __half* in) {
  __shared__ __half tile[64][66];
  const int x = threadIdx.x, first = blockIdx.x * 4096;
  for (int y = threadIdx.y; y < 64; y += 8) tile[y][x] = in[first + y * 64 + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 64; y += 8) out[first + y * 64 + x] = tile[x][y];
}

/// Walks along z of a box of 32 x 4 x 8 cells.
__global__ void along_z(int* out, const int* in) {
  __shared__ int box[8][4][32];
  const int t = threadIdx.x, first = blockIdx.x * 1024;
  for (int i = t; i < 1024; i += 256) box[i / 128][i / 32 % 4][i % 32] = in[first + i];
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; k++) sum += box[t % 8][k][t / 8];
  out[blockIdx.x * 256 + t] = sum;
}
__global__ void along_z_padded(int* out, const int* in) {
  __shared__ int box[8][4][33];
  const int t = threadIdx.x, first = blockIdx.x * 1024;
  for (int i = t; i < 1024; i += 256) box[i / 128][i / 32 % 4][i % 32] = in[first + i];
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; k++) sum += box[t % 8][k][t / 8];
  out[blockIdx.x * 256 + t] = sum;
}

/// A sum of all before each of 512 numbers, by a tree (Blelloch 1990).
__global__ void scan_of_block(int* out, const int* in) {
  __shared__ int s[512];
  const int t = threadIdx.x, first = blockIdx.x * 512;
  s[t] = in[first + t];
  s[t + 256] = in[first + t + 256];
#pragma unroll 1
  for (int d = 1; d < 512; d *= 2) {
    __syncthreads();
    const int i = (t + 1) * 2 * d - 1;
    if (i < 512) s[i] += s[i - d];
  }
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    const int i = (t + 1) * 2 * d - 1;
    if (i + d < 512) s[i + d] += s[i];
  }
  __syncthreads();
  out[first + t] = s[t];
  out[first + t + 256] = s[t + 256];
}
#define AT(i) ((i) + (i) / 32)
__global__ void scan_of_block_padded(int* out, const int* in) {
  __shared__ int s[512 + 16];
  const int t = threadIdx.x, first = blockIdx.x * 512;
  s[AT(t)] = in[first + t];
  s[AT(t + 256)] = in[first + t + 256];
#pragma unroll 1
  for (int d = 1; d < 512; d *= 2) {
    __syncthreads();
    const int i = (t + 1) * 2 * d - 1;
    if (i < 512) s[AT(i)] += s[AT(i - d)];
  }
#pragma unroll 1
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    const int i = (t + 1) * 2 * d - 1;
    if (i + d < 512) s[AT(i + d)] += s[AT(i)];
  }
  __syncthreads();
  out[first + t] = s[AT(t)];
  out[first + t + 256] = s[AT(t + 256)];
}

/// Softmax of rows of 32 floats, a thread a row.
__global__ void softmax_of_rows(float* out, const float* in) {
  __shared__ float rows[128][32];
  const int t = threadIdx.x, first = blockIdx.x * 4096;
  for (int i = t; i < 4096; i += 128) rows[i / 32][i % 32] = in[first + i];
  __syncthreads();
  float most = -1e30f, sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; k++) most = fmaxf(most, rows[t][k]);
#pragma unroll 1
  for (int k = 0; k < 32; k++) sum += exp2f(rows[t][k] - most);
  out[blockIdx.x * 128 + t] = 1 / sum;
}
__global__ void softmax_of_rows_padded(float* out, const float* in) {
  __shared__ float rows[128][33];
  const int t = threadIdx.x, first = blockIdx.x * 4096;
  for (int i = t; i < 4096; i += 128) rows[i / 32][i % 32] = in[first + i];
  __syncthreads();
  float most = -1e30f, sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; k++) most = fmaxf(most, rows[t][k]);
#pragma unroll 1
  for (int k = 0; k < 32; k++) sum += exp2f(rows[t][k] - most);
  out[blockIdx.x * 128 + t] = 1 / sum;
}

/// Keys of 64 bits, sorted by odd and even places, a column a thread.
__global__ void sort_columns(unsigned long long* out, const unsigned long long* in) {
  __shared__ unsigned long long keys[32][32];
  const int t = threadIdx.x, first = blockIdx.x * 1024;
  for (int y = 0; y < 32; y++) keys[y][t] = in[first + y * 32 + t];
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < 4; round++) {
#pragma unroll 1
    for (int k = round % 2; k + 1 < 32; k += 2) {
      const unsigned long long a = keys[t][k], b = keys[t][k + 1];
      keys[t][k] = min(a, b);
      keys[t][k + 1] = max(a, b);
    }
  }
  __syncthreads();
  for (int y = 0; y < 32; y++) out[first + y * 32 + t] = keys[y][t];
}
__global__ void sort_columns_padded(unsigned long long* out, const unsigned long long* in) {
  __shared__ unsigned long long keys[32][33];
  const int t = threadIdx.x, first = blockIdx.x * 1024;
  for (int y = 0; y < 32; y++) keys[y][t] = in[first + y * 32 + t];
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < 4; round++) {
#pragma unroll 1
    for (int k = round % 2; k + 1 < 32; k += 2) {
      const unsigned long long a = keys[t][k], b = keys[t][k + 1];
      keys[t][k] = min(a, b);
      keys[t][k + 1] = max(a, b);
    }
  }
  __syncthreads();
  for (int y = 0; y < 32; y++) out[first + y * 32 + t] = keys[y][t];
}

/// Bytes of an image, 128 to a row, turned by a block of 128.
__global__ void flip_bytes(unsigned char* out, const unsigned char* in) {
  __shared__ unsigned char tile[128][128];
  const int t = threadIdx.x, first = blockIdx.x * 16384;
  for (int y = 0; y < 128; y++) tile[y][t] = in[first + y * 128 + t];
  __syncthreads();
#pragma unroll 1
  for (int y = 0; y < 128; y++) out[first + y * 128 + t] = tile[t][y];
}
__global__ void flip_bytes_padded(unsigned char* out, const unsigned char* in) {
  __shared__ unsigned char tile[128][132];
  const int t = threadIdx.x, first = blockIdx.x * 16384;
  for (int y = 0; y < 128; y++) tile[y][t] = in[first + y * 128 + t];
  __syncthreads();
#pragma unroll 1
  for (int y = 0; y < 128; y++) out[first + y * 128 + t] = tile[t][y];
}

// ---- shared memory: structures

struct Complex {
  double re, im;
};
__global__ void rotate(double* out, const double* in, double c, double s) {
  __shared__ Complex z[256];
  const int t = threadIdx.x, first = blockIdx.x * 512;
  z[t].re = in[first + t];
  z[t].im = in[first + 256 + t];
  __syncthreads();
  const int other = 255 - t;
  out[first + t] = z[other].re * c - s;
  __syncthreads();
  out[first + 256 + t] = z[other].im * c + s;
}
__global__ void rotate_apart(double* out, const double* in, double c, double s) {
  __shared__ double re[256], im[256];
  const int t = threadIdx.x, first = blockIdx.x * 512;
  re[t] = in[first + t];
  im[t] = in[first + 256 + t];
  __syncthreads();
  const int other = 255 - t;
  out[first + t] = re[other] * c - s;
  __syncthreads();
  out[first + 256 + t] = im[other] * c + s;
}

struct Ray {
  float x, y, slope, weight;
};
__global__ void rays(float* out, const float* in) {
  __shared__ Ray r[256];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  r[t].x = in[first + t];
  r[t].slope = in[first + 255 - t];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 1; k < 8; k++) sum += r[(t + k) % 256].x * r[(t + k * k) % 256].slope;
  out[first + t] = sum;
}
__global__ void rays_apart(float* out, const float* in) {
  __shared__ float x[256], slope[256];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  x[t] = in[first + t];
  slope[t] = in[first + 255 - t];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 1; k < 8; k++) sum += x[(t + k) % 256] * slope[(t + k * k) % 256];
  out[first + t] = sum;
}

/// Eight counters of each thread lie together.
__global__ void own_counters(int* out, const int* in) {
  __shared__ int counters[128][8];
  const int t = threadIdx.x, first = blockIdx.x * 4096;
#pragma unroll 1
  for (int k = 0; k < 8; k++) counters[t][k] = 0;
#pragma unroll 1
  for (int i = t; i < 4096; i += 128) counters[t][in[first + i] & 7]++;
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) sum += counters[t][k] * k;
  out[blockIdx.x * 128 + t] = sum;
}
__global__ void own_counters_turned(int* out, const int* in) {
  __shared__ int counters[8][128];
  const int t = threadIdx.x, first = blockIdx.x * 4096;
#pragma unroll 1
  for (int k = 0; k < 8; k++) counters[k][t] = 0;
#pragma unroll 1
  for (int i = t; i < 4096; i += 128) counters[in[first + i] & 7][t]++;
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) sum += counters[k][t] * k;
  out[blockIdx.x * 128 + t] = sum;
}

// ---- atomics

/// The highest value of each of eight keys, which come in long runs.
__global__ void highest_of_keys(int* out, const int* in, const int* keys) {
  __shared__ int highest[8];
  if (threadIdx.x < 8) highest[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 4; k++) {
    const int i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
    atomicMax(&highest[keys[i] / 512], in[i]);
  }
  __syncthreads();
  if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = highest[threadIdx.x];
}
__global__ void highest_of_keys_by_warps(int* out, const int* in, const int* keys) {
  __shared__ int highest[8];
  if (threadIdx.x < 8) highest[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 4; k++) {
    const int i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
    const int most = __reduce_max_sync(~0u, in[i]);
    if (threadIdx.x % 32 == 0) atomicMax(&highest[keys[i] / 512], most);
  }
  __syncthreads();
  if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = highest[threadIdx.x];
}

/// The scalar product of two vectors, by an atomic of each thread.
__global__ void product(float* sum, const float* a, const float* b) {
  atomicAdd(sum, a[HERE] * b[HERE]);
}
__global__ void product_by_blocks(float* sum, const float* a, const float* b) {
  __shared__ float of_warps[8];
  float own = a[HERE] * b[HERE];
  for (int d = 16; d > 0; d /= 2) own += __shfl_xor_sync(~0u, own, d);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    own = 0;
    for (int w = 0; w < 8; w++) own += of_warps[w];
    atomicAdd(sum, own);
  }
}

// ---- global memory: structures and chunks

struct Star {
  float x, y, z, mass, vx, vy, vz, age;
};
__global__ void light(float* out, const Star* stars) { out[HERE] = stars[HERE].mass * 3 + 1; }
__global__ void light_of_arrays(float* out, const float* mass) { out[HERE] = mass[HERE] * 3 + 1; }

__global__ void grow_older(Star* stars, float dt) { stars[HERE].age += dt; }
__global__ void grow_older_of_arrays(float* age, float dt) { age[HERE] += dt; }

struct Edge {
  int from, to, length;
};
__global__ void shorten(int* out, const Edge* edges) { out[HERE] = edges[HERE].length / 2; }
__global__ void shorten_of_arrays(int* out, const int* length) { out[HERE] = length[HERE] / 2; }

struct Sample {
  double time, value, error, weight;
};
__global__ void weigh(double* out, const Sample* samples) {
  out[HERE] = samples[HERE].value * samples[HERE].weight;
}
__global__ void weigh_of_arrays(double* out, const double* value, const double* weight) {
  out[HERE] = value[HERE] * weight[HERE];
}

/// Each thread sums its own eight neighbours.
__global__ void sums_of_eight(float* out, const float* in) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) sum += in[HERE * 8 + k];
  out[HERE] = sum;
}
__global__ void sums_of_eight_turned(float* out, const float* in, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) sum += in[k * n + HERE];
  out[HERE] = sum;
}

/// Every fourth double of a signal.
__global__ void every_fourth(double* out, const double* in) { out[HERE] = in[HERE * 4]; }
__global__ void every_fourth_gathered(double* out, const double* in) { out[HERE] = in[HERE]; }

/// A thread a row of 64 numbers.
__global__ void row_maxima(int* out, const int* in) {
  int most = -1 << 30;
#pragma unroll 1
  for (int k = 0; k < 64; k++) most = max(most, in[HERE * 64 + k]);
  out[HERE] = most;
}
__global__ void row_maxima_turned(int* out, const int* in, int n) {
  int most = -1 << 30;
#pragma unroll 1
  for (int k = 0; k < 64; k++) most = max(most, in[k * n + HERE]);
  out[HERE] = most;
}

/// Polynomials of three coefficients, stored one by one.
__global__ void fit(float* out, const float* in) {
  const float x = in[HERE];
  out[HERE * 3 + 1] = x * x;
}
__global__ void fit_of_arrays(float* b, const float* in) {
  const float x = in[HERE];
  b[HERE] = x * x;
}

// ---- global memory: vectors

__global__ void negate(unsigned char* out, const unsigned char* in) { out[HERE] = 255 - in[HERE]; }
__global__ void negate_by_four(uchar4* out, const uchar4* in) {
  const uchar4 v = in[HERE];
  out[HERE] = make_uchar4(255 - v.x, 255 - v.y, 255 - v.z, 255 - v.w);
}

__global__ void scale_halves(__half* out, const __half* in) {
  out[HERE] = __hmul(in[HERE], __float2half(2.0f));
}
__global__ void scale_halves_by_two(__half2* out, const __half2* in) {
  out[HERE] = __hmul2(in[HERE], __float2half2_rn(2.0f));
}

__global__ void clip(float* out, const short* in) { out[HERE] = in[HERE] > 0 ? in[HERE] : 0; }
__global__ void clip_by_two(float2* out, const short2* in) {
  const short2 v = in[HERE];
  out[HERE] = make_float2(v.x > 0 ? v.x : 0, v.y > 0 ? v.y : 0);
}

struct Pair {
  float re, im;
};
__global__ void lengths(float* out, const Pair* in) {
  out[HERE] = sqrtf(in[HERE].re * in[HERE].re + in[HERE].im * in[HERE].im);
}
__global__ void lengths_by_two(float* out, const float2* in) {
  const float2 v = in[HERE];
  out[HERE] = sqrtf(v.x * v.x + v.y * v.y);
}

struct Box {
  int left, right, top, bottom;
};
__global__ void areas(int* out, const Box* in) {
  const int i = HERE;
  out[i] = (in[i].right - in[i].left) * (in[i].bottom - in[i].top);
}
__global__ void areas_by_four(int* out, const int4* in) {
  const int4 b = in[HERE];
  out[HERE] = (b.y - b.x) * (b.w - b.z);
}

struct Limits {
  double low, high;
};
__global__ void spans(double* out, const Limits* in) { out[HERE] = in[HERE].high - in[HERE].low; }
__global__ void spans_by_two(double* out, const double2* in) {
  const double2 v = in[HERE];
  out[HERE] = v.y - v.x;
}

__global__ void polar(Pair* out, const float* in) {
  const float x = in[HERE];
  out[HERE].re = x * 2;
  out[HERE].im = x * 3;
}
__global__ void polar_by_two(float2* out, const float* in) {
  const float x = in[HERE];
  out[HERE] = make_float2(x * 2, x * 3);
}

struct Pixel {
  unsigned char r, g, b, a;
};
__global__ void greyness(int* out, const Pixel* in) {
  const int i = HERE;
  out[i] = (in[i].r + 2 * in[i].g + in[i].b) * in[i].a;
}
__global__ void greyness_by_four(int* out, const uchar4* in) {
  const uchar4 p = in[HERE];
  out[HERE] = (p.x + 2 * p.y + p.z) * p.w;
}
