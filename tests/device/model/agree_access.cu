// SPDX-License-Identifier: MIT
// Global accesses of every width and shape: what a request is, how many sectors it touches.
#include <cstdint>
template <class T>
__device__ void copy(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

extern "C" __global__ void copy_u8(const uint8_t* in, uint8_t* out, int n) { copy(in, out, n); }
extern "C" __global__ void copy_u16(const uint16_t* in, uint16_t* out, int n) { copy(in, out, n); }
extern "C" __global__ void copy_u32(const uint32_t* in, uint32_t* out, int n) { copy(in, out, n); }
extern "C" __global__ void copy_float2(const float2* in, float2* out, int n) { copy(in, out, n); }
extern "C" __global__ void copy_float4(const float4* in, float4* out, int n) { copy(in, out, n); }
extern "C" __global__ void copy_double2(const double2* in, double2* out, int n) {
  copy(in, out, n);
}

// One element further than the sectors begin, and a stride.
extern "C" __global__ void copy_shifted(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) out[i] = in[i + 1];
}

extern "C" __global__ void copy_strided(const float* in, float* out, int n, int stride) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  if (i < n) out[i] = in[i];
}

extern "C" __global__ void gather(const float* in, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

extern "C" __global__ void scatter(const float* in, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

// A grid-stride loop, as a library would write it.
extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = a * x[i] + y[i];
  }
}

// An array of structures of 12 bytes: three strided accesses.
struct Point {
  float x, y, z;
};

extern "C" __global__ void structures(const Point* in, Point* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Point p = in[i];
  out[i] = {p.z, p.x, p.y};
}

// All lanes the same word, then every fourth lane a sector of its own.
extern "C" __global__ void broadcast(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[blockIdx.x] + in[(i / 4 * 8) % n];
}

// Transpose with 16-byte loads and a padded tile.
extern "C" __global__ void transpose_float4(const float4* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x, y = threadIdx.y;  // 8 × 32
  const int column = blockIdx.x * 32, row = blockIdx.y * 32;
  const float4 four = in[((row + y) * n + column) / 4 + x];
  tile[y][4 * x] = four.x;
  tile[y][4 * x + 1] = four.y;
  tile[y][4 * x + 2] = four.z;
  tile[y][4 * x + 3] = four.w;
  __syncthreads();
  for (int k = 0; k < 4; ++k) out[(column + y) * n + row + 4 * x + k] = tile[4 * x + k][y];
}
