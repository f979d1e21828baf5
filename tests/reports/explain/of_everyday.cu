// SPDX-License-Identifier: MIT
// Everyday's faults, one each.
#include <cuda_fp16.h>
#include <stdint.h>
__global__ void copy_matrix(const float* in, float* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols)
    out[row * cols + col] = 2.0f * in[row * cols + col];  // cause: copy_matrix
}

__global__ void transpose_40(float* __restrict__ out, const float* __restrict__ in, int n) {
  __shared__ float tile[32][40];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];  // cause: transpose_40
}

__global__ void refine(const int* __restrict__ levels, float* __restrict__ cells, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = cells[i];
  const int level = levels[i];
  for (int k = 0; k < level; ++k) v = v * v - 0.7f * v;  // cause: refine
  cells[i] = v;
}

__global__ void largest(const int* __restrict__ v, int* __restrict__ result, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(result, v[i]);  // cause: largest
}

__global__ void cubes(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = pow(x[i], 3) + 1;  // cause: cubes
}

// Nodes of a binary tree, visited with a stack of one's own.
__global__ void tree_walk(const int* __restrict__ limit, int* __restrict__ visited, int depth,
                          int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[32];
  int top = 0, sum = 0;
  stack[top++] = 1;
  while (top > 0) {
    const int node = stack[--top];  // cause: tree_walk
    sum ^= node * 31 + limit[0];
    if (node < (1 << depth)) {
      stack[top++] = 2 * node;      // cause: tree_walk
      stack[top++] = 2 * node + 1;  // cause: tree_walk
    }
  }
  visited[i] = sum;
}

__global__ void invert_plane(uint8_t* __restrict__ plane, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    plane[i] = 255 - plane[i];  // cause: invert_plane
}

__global__ void drop_first(const float2* __restrict__ in, float2* __restrict__ out, int skip,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + skip];  // cause: drop_first
}

__global__ void probe(const unsigned* __restrict__ keys, const unsigned* __restrict__ slots,
                      unsigned* __restrict__ found, unsigned mask, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i];
  const unsigned slot = (key * 2654435761u) >> 7 & mask;
  found[i] = slots[slot] == key;  // cause: probe
}

__global__ void second_difference(const float* __restrict__ u, float* __restrict__ d, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 2;
  if (i >= n - 2) return;
  const float ring = 16.0f * (u[i - 1] + u[i + 1]);    // cause: second_difference
  d[i] = ring - (u[i - 2] + u[i + 2]) - 30.0f * u[i];  // cause: second_difference
}

__global__ void normalise(float* x, float* peak, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    x[i] = x[i] / *peak;  // cause: normalise
}

__global__ void mean_of_window(const float* __restrict__ in, float* __restrict__ out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  for (int k = 0; k < rounds; ++k) v += 0.5f * __sinf(v);
  out[i] = v;
}

__global__ void matmul_global(const float* A, const float* B, float* C, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += A[row * n + k] * B[k * n + col];  // cause: matmul_global
  C[row * n + col] = sum;
}

__global__ void running_total(const int* in, int* out, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; r++) out[i] += in[r * n + i];  // cause: running_total
}
