// SPDX-License-Identifier: MIT
// Image processing, and sorting.
#include <stdint.h>
typedef unsigned char uchar;

__global__ void luminance(const float* __restrict__ rgb, float* __restrict__ grey, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pixels) return;
  const float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];  // cause: luminance
  grey[i] = 0.299f * r + 0.587f * g + 0.114f * b;
}

__global__ void box_columns(const float* __restrict__ in, float* __restrict__ out, int width,
                            int height, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int d = -radius; d <= radius; ++d) {
    const int row = min(max(y + d, 0), height - 1);
    sum += in[row * width + x];  // cause: box_columns
  }
  out[y * width + x] = sum / (2 * radius + 1);
}

__global__ void box_rows(const float* __restrict__ in, float* __restrict__ out, int width,
                         int height, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int d = -radius; d <= radius; ++d) {
    const int col = min(max(x + d, 0), width - 1);
    sum += in[y * width + col];  // cause: box_rows
  }
  out[y * width + x] = sum / (2 * radius + 1);
}

__global__ void rotate_90(const unsigned* __restrict__ in, unsigned* __restrict__ out, int width,
                          int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    out[x * height + (height - 1 - y)] = in[y * width + x];  // cause: rotate_90
}

// The compiler turns these doubles into floats, which give the same.
__global__ void gamma_correct(const float* __restrict__ in, float* __restrict__ out, float gamma,
                              int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 255.0 * __powf(in[i] / 255.0, gamma);
}

__global__ void threshold(const uchar* in, uchar* out, uchar level, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] > level ? 255 : 0;  // cause: threshold
}

__global__ void add_depth(const uint16_t* __restrict__ a, const uint16_t* __restrict__ b,
                          uint16_t* __restrict__ sum, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum[i] = a[i] + b[i];  // cause: add_depth
}

// A window out of a larger picture.
__global__ void crop(const float* __restrict__ in, float* __restrict__ out, int pitch, int x0,
                     int y0, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x < width) out[y * width + x] = in[(y + y0) * pitch + x + x0];  // cause: crop
}

__global__ void median(const float* __restrict__ in, float* __restrict__ out, int width, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  float w[25];
  const int count = side * side;
  for (int k = 0; k < count; ++k)
    w[k] = in[(y + k / side) * (width + side) + x + k % side];  // cause: median
  for (int a = 0; a <= count / 2; ++a) {
    for (int b = a + 1; b < count; ++b) {
      const float low = fminf(w[a], w[b]), high = fmaxf(w[a], w[b]);  // cause: median
      w[a] = low;                                                     // cause: median
      w[b] = high;                                                    // cause: median
    }
  }
  out[y * width + x] = w[count / 2];
}

// Bytes turned in a tile of bytes.
__global__ void transpose_bytes(const uint32_t* __restrict__ in, uint32_t* __restrict__ out,
                                int words) {
  __shared__ uchar tile[128][128];
  const uint32_t* from =
      in + (blockIdx.y * 128 + threadIdx.y) * words + blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 128; r += 8)
    reinterpret_cast<uint32_t*>(tile[r])[threadIdx.x] = from[(r - threadIdx.y) * words];
  __syncthreads();
  uint32_t* to = out + (blockIdx.x * 128 + threadIdx.y) * words + blockIdx.y * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 128; r += 8) {
    uint32_t packed = 0;
    for (int b = 0; b < 4; ++b)
      packed |= (uint32_t)tile[threadIdx.x * 4 + b][r] << (8 * b);  // cause: transpose_bytes
    to[(r - threadIdx.y) * words] = packed;
  }
}

__global__ void brighten(float* picture, float gain, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) picture[y * width + x] *= gain;
}

__global__ void lookup(const int* __restrict__ index, const float* __restrict__ table,
                       float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];  // cause: lookup
}

// Ranks by counting, all keys of a segment against each other from global memory.
__global__ void rank_sort(const int* __restrict__ keys, int* __restrict__ sorted) {
  const int* segment = keys + blockIdx.x * 256;
  const int mine = segment[threadIdx.x];
  int rank = 0;
  for (int j = 0; j < 256; ++j) {
    const int other = segment[j];  // cause: rank_sort
    rank += other < mine || (other == mine && j < threadIdx.x);
  }
  sorted[blockIdx.x * 256 + rank] = mine;
}

// Sixteen values a thread, counted in the thread's own row of shared memory.
__global__ void radix_counts(const unsigned* __restrict__ keys, unsigned* __restrict__ totals,
                             int shift) {
  __shared__ unsigned counts[128][16];
  const int t = threadIdx.x;
  for (int d = 0; d < 16; ++d) counts[t][d] = 0;  // cause: radix_counts
  for (int k = 0; k < 16; ++k) {
    const unsigned digit = (keys[(blockIdx.x * 16 + k) * 128 + t] >> shift) & 15u;
    counts[t][digit]++;  // cause: radix_counts
  }
  for (int d = 0; d < 16; ++d)
    totals[(blockIdx.x * 16 + d) * 128 + t] = counts[t][d];  // cause: radix_counts
}
