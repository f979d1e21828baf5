// SPDX-License-Identifier: MIT
// Neighbouring accesses that ptxas makes wider, and what it must leave alone.
#include <cstdint>
#define AT                                    \
  [[maybe_unused]] const int t = threadIdx.x; \
  const int i = blockIdx.x * blockDim.x + threadIdx.x

extern "C" __global__ void tile_row(const float* in, float* out, int n) {
  __shared__ float tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.x * 16 + y) * 16 + x] + n;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += tile[y][k] * tile[k][x];
  out[(blockIdx.x * 16 + y) * 16 + x] = sum;
}

// The rounds are known at run time only.
extern "C" __global__ void tile_row_of_n(const float* in, float* out, int n) {
  __shared__ float tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.x * 16 + y) * 16 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += tile[y][k] * tile[k][x];
  out[(blockIdx.x * 16 + y) * 16 + x] = sum;
}

extern "C" __global__ void tile_padded(const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.x * 16 + y) * 16 + x] + n;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += tile[y][k] * tile[k][x];
  out[(blockIdx.x * 16 + y) * 16 + x] = sum;
}

extern "C" __global__ void tile_of_doubles(const double* in, double* out, int n) {
  __shared__ double tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.x * 16 + y) * 16 + x] + n;
  __syncthreads();
  double sum = 0;
  for (int k = 0; k < 16; ++k) sum += tile[x][k] * tile[k][y];
  out[(blockIdx.x * 16 + y) * 16 + x] = sum;
}

extern "C" __global__ void tile_in_dynamic(const float* in, float* out, int n) {
  extern __shared__ float memory[];
  AT;
  for (int k = 0; k < 8; ++k) memory[t * 8 + k] = in[i * 8 + k] * n;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += memory[(t ^ 1) * 8 + k] * k;
  out[i] = sum;
}

extern "C" __global__ void neighbours_shifted(const float* in, float* out, int n) {
  __shared__ float tile[8 * 64 + 8];
  AT;
  for (int k = t; k < 8 * 64 + 8; k += 64) tile[k] = in[k] + n;
  __syncthreads();
  float sum = 0;
  for (int k = 1; k < 8; ++k) sum += tile[8 * t + k] * k;
  out[i] = sum;
}

extern "C" __global__ void stores_of_neighbours(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[4 * 128];
  AT;
  for (int k = 0; k < 4; ++k) tile[4 * t + k] = in[i] * k + n;
  __syncthreads();
  out[i] = tile[t] + tile[511 - t];
}

// One of the neighbours is under a condition.
extern "C" __global__ void neighbours_guarded(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[4 * 128];
  AT;
  for (int k = 0; k < 4; ++k) tile[k * 128 + t] = in[i + k];
  __syncthreads();
  float sum = tile[4 * t] + tile[4 * t + 1];
  if (in[i] > 0) sum += tile[4 * t + 2] * tile[4 * t + 3];
  out[i] = sum * n;
}

extern "C" __global__ void matmul_of_n(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int base = 0; base < n; base += 16) {
    left[y][x] = row < n && base + x < n ? a[row * n + base + x] : 0;
    right[y][x] = column < n && base + y < n ? b[(base + y) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

struct alignas(16) Particle {
  float x, y, z;
  int kind;
};

extern "C" __global__ void parts_of_structure(const Particle* in, float* out, int n) {
  AT;
  const Particle p = in[i];
  out[i] = p.x + p.z;
  if (p.kind == 77) out[n] = p.y;
}

extern "C" __global__ void parts_of_vector(const float4* in, float* out, int n) {
  AT;
  out[i] = in[i].y * n;
  out[i + 512] = in[i + 1].x + in[i + 1].y;
}

extern "C" __global__ void parts_of_double2(const double2* in, double* out, int n) {
  AT;
  out[i] = in[i].y * n;
}

// Vectors as long as they fit, the rest one by one.
extern "C" __global__ void copy_with_tail(const float* in, float* out, int n) {
  AT;
  const int all = blockDim.x * gridDim.x;
  for (int k = i; k < n / 4; k += all) {
    reinterpret_cast<float4*>(out)[k] = reinterpret_cast<const float4*>(in)[k];
  }
  for (int k = n / 4 * 4 + i; k < n; k += all) out[k] = in[k];
}

extern "C" __global__ void copy_from_odd(const float* in, float* out, int n) {
  AT;
  const float* from = in + 3;  // 12 bytes past a sector's begin
  if (4 * i + 3 < n) {
    float four[4];
    for (int k = 0; k < 4; ++k) four[k] = from[4 * i + k];
    *reinterpret_cast<float4*>(out + 4 * i) = make_float4(four[3], four[2], four[1], four[0]);
  }
}

extern "C" __global__ void bytes_of_word(const uint8_t* in, uint8_t* out, int n) {
  AT;
  if (i >= n) return;
  uchar4 four = reinterpret_cast<const uchar4*>(in)[i];
  out[4 * i] = four.w;
  out[4 * i + 1] = four.x;
  reinterpret_cast<ushort*>(out)[2 * i + 1] = four.y;
}

// Registers that do not fit go to local memory, which is no global memory.
extern "C" __global__ void __launch_bounds__(1024, 2) spilled(const float* in, float* out, int n) {
  AT;
  float values[48];
#pragma unroll
  for (int k = 0; k < 48; ++k) values[k] = in[(i + k * 37) % 1024];
  for (int round = 0; round < n; ++round) {
#pragma unroll
    for (int k = 0; k < 48; ++k) values[k] = values[k] * values[(k * 7 + 5) % 48] - round;
#pragma unroll
    for (int k = 0; k < 48; ++k)
      values[k] = values[k] > 1e6f ? 1.0f : values[k] < -1e6f ? -1.0f : values[k];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 48; ++k) sum += values[k] * (k + 1);
  out[i] = sum;
}

extern "C" __global__ void generic_choice(const int* in, int* out, int n) {
  __shared__ int tile[128];
  AT;
  tile[t] = in[i] * 2;
  __syncthreads();
  const int* from = in[i] > 0 ? tile + (t ^ 3) : in + (i * 5) % n;
  out[i] = *from;
}

__device__ __noinline__ int through(const int* from, int at) { return from[at] + from[at + 1]; }

extern "C" __global__ void generic_call(const int* in, int* out, int n) {
  __shared__ int tile[130];
  AT;
  tile[t] = in[i];
  if (t < 2) tile[128 + t] = n;
  __syncthreads();
  out[i] = through(tile, t) + through(in, i);
}

extern "C" __global__ void volatile_sum(const int* in, int* out, int n) {
  __shared__ volatile int tile[128];
  AT;
  tile[t] = in[i] + n;
  __syncthreads();
  if (t < 64) tile[t] = tile[t] + tile[t + 64];
  __syncthreads();
  if (t < 32) {
    for (int step = 32; step > 0; step /= 2) {
      const int other = tile[t + step];
      __syncwarp();
      tile[t] = tile[t] + other;
      __syncwarp();
    }
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

__constant__ int table[64] = {5, 3, 1, 4, 1, 5, 9, 2, 6};
__device__ int scratch[512];

extern "C" __global__ void other_spaces(const int* in, int* out, int n) {
  AT;
  scratch[i] = table[in[i] & 63] + __ldg(in + i) + __ldcs(in + i + n);
  __stcs(out + i, scratch[i] + __ldcg(in + (i ^ 1)));
  __stwt(out + i + 512, table[blockIdx.x]);
}
