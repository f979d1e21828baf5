// SPDX-License-Identifier: MIT
// More kernels, one fault each.
#include <cuda_fp16.h>
#include <cstdint>
// Attention-like: softmax weights times values, tile of values by columns.
template <int D>
__global__ void weighted_sum(float* out, const float* v, const float* p) {
  __shared__ float sv[32][D];
  const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 32 * D; i += blockDim.x)
    sv[i / D][i % D] = v[blockIdx.x * 32 * D + i];
  __syncthreads();
  const float mine = p[blockIdx.x * 32 + lane];
  for (int d = w; d < D; d += 4) {
    float a = mine * sv[lane][d];  // cause: weighted_sum
    for (int o = 16; o; o >>= 1) a += __shfl_xor_sync(~0u, a, o);
    if (lane == 0) out[blockIdx.x * D + d] = a;
  }
}

// Game of life, every neighbour from global memory.
__global__ void life(unsigned char* next, const unsigned char* now, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int n = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) n += now[(y + dy) * (w + 2) + x + dx];  // cause: life
  next[y * w + x] = n == 3;
}

// Radix histogram: one digit counter per block in shared memory, sorted keys.
__global__ void digit_hist(unsigned* out, const unsigned* keys, int per) {
  __shared__ unsigned h[16];
  if (threadIdx.x < 16) h[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < per; ++k) {
    unsigned key = keys[(blockIdx.x * per + k) * blockDim.x + threadIdx.x];
    atomicAdd(&h[key >> 28], 1u);  // equal addresses add up: no fault
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(out + threadIdx.x, h[threadIdx.x]);
}

// Rays: marched until something is hit. The compiler makes one branch of both conditions.
__global__ void march(float* depth, const float* field, float step, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t = 0;
  float f = field[i];
  for (int k = 0; k < limit; ++k) {  // cause: march
    if (t > f) break;                // cause: march
    t += step * (1.0f + 0.01f * __sinf(t));
  }
  depth[i] = t;
}

// Matrix in row-major order, a thread a row normalises it.
__global__ void normalise_rows(float* m, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += m[r * cols + c] * m[r * cols + c];  // cause: normalise_rows
  s = rsqrtf(s);
  for (int c = 0; c < cols; ++c) m[r * cols + c] *= s;  // cause: normalise_rows
}

// The particles of a cell, by an index.
__global__ void gather_forces(float4* f, const float4* pos, const int* cell_list, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = pos[cell_list[i]];  // cause: gather_forces
  f[i] = make_float4(p.x * 2, p.y * 2, p.z * 2, p.w);
}

// A string search of a pattern, bytes.
__global__ void find_pattern(int* hits, const char* text, const char* pattern, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int same = 0;
  for (int k = 0; k < m; ++k) same += text[i + k] == pattern[k];  // cause: find_pattern
  hits[i] = same == m;
}

// A filter's state in global memory.
__global__ void iir(float* y, float* state, const float* x, float a, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < steps; ++k) {
    state[i] = a * state[i] + x[k * n + i];  // cause: iir
    y[k * n + i] = state[i];
  }
}

// Mean of a block in every thread, stored by every thread.
__global__ void block_mean(float* mean, const float* v) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float s = v[blockIdx.x * blockDim.x + threadIdx.x];
  for (int o = 16; o; o /= 2) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, s);
  __syncthreads();
  mean[blockIdx.x] = total / blockDim.x;  // cause: block_mean
}

// Softplus through the double functions.
__global__ void softplus(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = log(1.0 + exp((double)x[i]));  // cause: softplus
}

// Gamma correction of bytes, by a literal.
__global__ void level(unsigned char* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (unsigned char)(in[i] * 255.0 + 0.5);  // cause: level
}

// Small matrices of each thread with a pivot.
__global__ void solve4(float* x, const float* a, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float m[4][4];
  int row[4];
  for (int i = 0; i < 4; ++i) {
    row[i] = i;
    for (int j = 0; j < 4; ++j) m[i][j] = a[(i * 4 + j) * n + t];  // cause: solve4
  }
  for (int k = 0; k < 4; ++k) {
    int p = k;
    for (int i = k + 1; i < 4; ++i)
      if (fabsf(m[row[i]][k]) > fabsf(m[row[p]][k])) p = i;  // cause: solve4
    int s = row[k];
    row[k] = row[p];
    row[p] = s;
    for (int i = k + 1; i < 4; ++i) {
      float f = m[row[i]][k] / m[row[k]][k];                         // cause: solve4
      for (int j = k; j < 4; ++j) m[row[i]][j] -= f * m[row[k]][j];  // cause: solve4
    }
  }
  x[t] = m[row[3]][3];  // cause: solve4
}

// A view of every fourth row begins at column 3.
__global__ void crop(float* out, const float* img, int pitch, int x0) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  out[y * gridDim.x * blockDim.x + x] = img[y * pitch + x0 + x];  // cause: crop
}

// Interleaved stereo samples of 16 bits: one channel.
__global__ void left_channel(short* left, const short* stereo) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  left[i] = stereo[2 * i];  // cause: left_channel
}

// int8 products.
__global__ void q_mul(int8_t* c, const int8_t* a, const int8_t* b, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = (a[i] * b[i]) >> shift;  // cause: q_mul
}

// Tree reduction of floats by every second lane.
__global__ void tree(float* out, const float* in) {
  extern __shared__ float s[];
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step <<= 1) {
    if ((threadIdx.x & (2 * step - 1)) == 0)  // cause: tree
      s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// Energy of all pairs of a small list, all from global memory.
__global__ void pair_energy(float* e, const float* x, const float* q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float xi = x[i], sum = 0;
  for (int j = 0; j < n; ++j)
    sum += q[j] * rsqrtf((xi - x[j]) * (xi - x[j]) + 0.1f);  // cause: pair_energy
  e[i] = sum;
}

// A counter of all that is odd.
__global__ void count_odd(unsigned long long* n, const int* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (v[i] & 1) atomicAdd(n, (unsigned long long)v[i]);  // cause: count_odd
}

// Shared structures of 3 floats and a flag of 4 words: banks four apart.
struct Cell {
  float u, v, w;
  int flag;
};
__global__ void cells(float* out, const float* in) {
  __shared__ Cell c[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  c[t].u = in[i];  // cause: cells
  __syncthreads();
  float s = 0;
#pragma unroll 1
  for (int k = 1; k < 9; ++k) s += c[(t + k) & 255].u;  // cause: cells
  out[i] = s;
}

// LU-like update in a tile of 33 columns but a row a lane and 64-word rows.
__global__ void rank1(float* m) {
  __shared__ float t[32][64];
  int l = threadIdx.x, w = threadIdx.y;
  for (int r = w; r < 32; r += 4) {
    t[r][l] = m[blockIdx.x * 2048 + r * 64 + l];
    t[r][l + 32] = m[blockIdx.x * 2048 + r * 64 + l + 32];
  }
  __syncthreads();
  for (int c = w; c < 64; c += 4) t[l][c] += 0.5f;  // cause: rank1
  __syncthreads();
  for (int r = w; r < 32; r += 4) {
    m[blockIdx.x * 2048 + r * 64 + l] = t[r][l];
    m[blockIdx.x * 2048 + r * 64 + l + 32] = t[r][l + 32];
  }
}

__global__ void saxpy96(float* y, const float* x, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}

// Few fat blocks.
template <int REGS>
__global__ void __launch_bounds__(128) fat(float* out, const float* in, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[REGS];
#pragma unroll
  for (int k = 0; k < REGS; ++k) v[k] = in[(k & 3) * n + i] + k;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < REGS; ++k) v[k] = v[k] * v[(k + 5) % REGS] + v[(k + 11) % REGS];
  float s = 0;
#pragma unroll
  for (int k = 0; k < REGS; ++k) s += v[k];
  out[i] = s;
}

__global__ void transposed_write(double* out, const double* in, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < cols && r < rows) out[c * rows + r] = 2 * in[r * cols + c];  // cause: transposed_write
}

__global__ void horner_tail(float* y, const float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i], s = 1;
#pragma unroll 1
  for (int k = 30; k > 0; --k) s = s * v / k + 1;
  y[i] = s;
}
