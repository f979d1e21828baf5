// SPDX-License-Identifier: MIT
// Common computations: stencils, convolutions, sparse and dense products, softmax, half precision.
#include <cuda_fp16.h>

#include <cstdint>
extern "C" __global__ void stencil_row(const float* in, float* out, int n) {
  __shared__ float tile[256 + 6];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t + 3] = in[i];
  if (t < 3) {
    tile[t] = i >= 3 ? in[i - 3] : 0;
    tile[t + 259] = i + 256 < n ? in[i + 256] : 0;
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 7; ++k) sum += tile[t + k];
  out[i] = sum;
}

extern "C" __global__ void stencil_plane(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) return;
  const int i = y * width + x;
  out[i] = in[i - width] + in[i - 1] - 4 * in[i] + in[i + 1] + in[i + width];
}

// Seven points, marching through z with the column in registers.
extern "C" __global__ void stencil_volume(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  const int plane = nx * ny;
  int i = y * nx + x;
  float below = in[i], here = in[i + plane];
  for (int z = 1; z < nz - 1; ++z) {
    i += plane;
    const float above = in[i + plane];
    out[i] = below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 6 * here;
    below = here;
    here = above;
  }
}

__constant__ float taps[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};

extern "C" __global__ void convolve_rows(const float* in, float* out, int width) {
  __shared__ float tile[4][64 + 8];
  const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  for (int k = threadIdx.x; k < 72; k += 64) {
    const int column = static_cast<int>(blockIdx.x * 64) + k - 4;
    tile[threadIdx.y][k] = column >= 0 && column < width ? in[y * width + column] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) sum += taps[k] * tile[threadIdx.y][threadIdx.x + k];
  out[y * width + x] = sum;
}

extern "C" __global__ void convolve_columns(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = -4; k <= 4; ++k) {
    if (y + k >= 0 && y + k < height) sum += taps[k + 4] * in[(y + k) * width + x];
  }
  out[y * width + x] = sum;
}

// Compressed rows: a thread a row, then a warp a row.
extern "C" __global__ void spmv_scalar(const int* offsets, const int* columns, const float* values,
                                       const float* x, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

extern "C" __global__ void spmv_vector(const int* offsets, const int* columns, const float* values,
                                       const float* x, float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int k = offsets[row] + lane; k < offsets[row + 1]; k += 32) sum += values[k] * x[columns[k]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0U, sum, offset);
  if (lane == 0) y[row] = sum;
}

extern "C" __global__ void gemv(const float* a, const float* x, float* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
  y[row] = sum;
}

// Each thread computes 4 × 4 of a block's 32 × 32, from tiles in shared memory.
extern "C" __global__ void matmul_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float left[32][33], right[32][32];
  const int x = threadIdx.x, y = threadIdx.y;  // 8 × 8
  float sums[4][4] = {};
  for (int base = 0; base < n; base += 32) {
    for (int k = y * 8 + x; k < 1024; k += 64) {
      left[k / 32][k % 32] = a[(blockIdx.y * 32 + k / 32) * n + base + k % 32];
      right[k / 32][k % 32] = b[(base + k / 32) * n + blockIdx.x * 32 + k % 32];
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sums[i][j] += left[y + 8 * i][k] * right[k][x + 8 * j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      c[(blockIdx.y * 32 + y + 8 * i) * n + blockIdx.x * 32 + x + 8 * j] = sums[i][j];
    }
  }
}

extern "C" __global__ void softmax(const float* in, float* out, int n) {
  __shared__ float partial[4];
  const int t = threadIdx.x;  // 128, a row a block
  const float* row = in + blockIdx.x * n;
  float top = -1e30f;
  for (int i = t; i < n; i += 128) top = fmaxf(top, row[i]);
  for (int offset = 16; offset > 0; offset /= 2) {
    top = fmaxf(top, __shfl_xor_sync(~0U, top, offset));
  }
  if (t % 32 == 0) partial[t / 32] = top;
  __syncthreads();
  top = fmaxf(fmaxf(partial[0], partial[1]), fmaxf(partial[2], partial[3]));
  __syncthreads();
  float sum = 0;
  for (int i = t; i < n; i += 128) sum += expf(row[i] - top);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0U, sum, offset);
  if (t % 32 == 0) partial[t / 32] = sum;
  __syncthreads();
  sum = partial[0] + partial[1] + partial[2] + partial[3];
  for (int i = t; i < n; i += 128) out[blockIdx.x * n + i] = expf(row[i] - top) / sum;
}

extern "C" __global__ void bodies(const float4* positions, float4* forces, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 me = positions[i];
  float4 force = {0, 0, 0, 0};
  for (int base = 0; base < n; base += 64) {
    tile[threadIdx.x] = positions[base + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      const float4 other = tile[k];
      const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 1);
      const float weight = inverse * inverse * inverse * other.w;
      force.x += x * weight;
      force.y += y * weight;
      force.z += z * weight;
    }
    __syncthreads();
  }
  forces[i] = force;
}

// out = a × in + out in pairs of halves.
extern "C" __global__ void half_axpy(const __half2* in, __half2* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hfma2(__float2half2_rn(a), in[i], out[i]);
}

extern "C" __global__ void half_sums(const __half* in, float* out) {
  __shared__ __half tile[256];
  const int t = threadIdx.x;
  tile[t] = __hadd(in[blockIdx.x * 256 + t], __float2half(1.0f));
  __syncthreads();
  if (t < 32) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += __half2float(tile[t * 8 + k]);
    out[blockIdx.x * 32 + t] = sum;
  }
}

extern "C" __global__ void life(const uint8_t* in, uint8_t* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int alive = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      alive += in[(y + dy + height) % height * width + (x + dx + width) % width] & 1;
    }
  }
  const int i = y * width + x;
  out[i] = alive == 3 || (alive == 2 && (in[i] & 1));
}

extern "C" __global__ void random_walk(const int* seeds, long long* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long state = static_cast<unsigned long long>(seeds[i] + 9) * 2654435761ULL;
  long long place = 0;
  for (int k = 0; k < steps; ++k) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    place += state & 1 ? 1 : -1;
  }
  out[i] = place * (1 + __popcll(state));
}

extern "C" __global__ void dot_double(const double* a, const double* b, double* out, int n) {
  __shared__ double tile[128];
  double sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += a[i] * b[i];
  tile[threadIdx.x] = sum;
  __syncthreads();
  for (int stride = 64; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) tile[threadIdx.x] += tile[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
