// SPDX-License-Identifier: MIT
// Shared accesses of every width, with the strides that make and avoid conflicts.
#include <cstdint>
// Each thread stores its element, then loads the one `stride` elements further in the tile.
template <class T, int size>
__device__ void turn(const T* in, T* out, int stride) {
  __shared__ T tile[size];
  const int t = threadIdx.x, base = blockIdx.x * blockDim.x;
  tile[t] = in[base + t];
  __syncthreads();
  out[base + t] = tile[(t * stride) % size];
}

extern "C" __global__ void shared_u8(const uint8_t* in, uint8_t* out, int stride) {
  turn<uint8_t, 256>(in, out, stride);
}
extern "C" __global__ void shared_u16(const uint16_t* in, uint16_t* out, int stride) {
  turn<uint16_t, 256>(in, out, stride);
}
extern "C" __global__ void shared_u32(const uint32_t* in, uint32_t* out, int stride) {
  turn<uint32_t, 256>(in, out, stride);
}
extern "C" __global__ void shared_double(const double* in, double* out, int stride) {
  turn<double, 256>(in, out, stride);
}

struct alignas(16) Quad {
  float x, y, z, w;
};
extern "C" __global__ void shared_quad(const Quad* in, Quad* out, int stride) {
  __shared__ Quad tile[256];
  const int t = threadIdx.x, base = blockIdx.x * blockDim.x;
  tile[t] = in[base + t];
  __syncthreads();
  out[base + t] = tile[(t * stride) % 256];
}

// A column of a 32 × 32 tile, with a pad of the launch's choice in dynamic shared memory.
extern "C" __global__ void shared_column(const float* in, float* out, int pad) {
  extern __shared__ float columns[];
  const int x = threadIdx.x, y = threadIdx.y, width = 32 + pad;
  columns[y * width + x] = in[(blockIdx.x * 32 + y) * 32 + x];
  __syncthreads();
  out[(blockIdx.x * 32 + y) * 32 + x] = columns[x * width + y];
}

// Indices from memory: the banks that meet are known only when it runs.
extern "C" __global__ void shared_gather(const int* index, int* out) {
  __shared__ int tile[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = 3 * i;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    sum += tile[index[(blockIdx.x * 8 + k) * blockDim.x + threadIdx.x] & 1023];
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Neighbours in the tile, which a compiler may load together.
extern "C" __global__ void shared_neighbours(const float* in, float* out) {
  __shared__ __align__(16) float tile[512];
  const int t = threadIdx.x;  // 128
  for (int i = t; i < 512; i += 128) tile[i] = in[blockIdx.x * 512 + i];
  __syncthreads();
  const float* four = tile + 4 * t;
  out[blockIdx.x * 128 + t] = four[0] + 2 * four[1] + 3 * four[2] + 4 * four[3];
}
