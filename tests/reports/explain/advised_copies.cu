// SPDX-License-Identifier: MIT
// Kernels, each followed by itself rewritten as explain advises: shared arrays that asynchronous
// copies fill, whose bytes have to stay together and aligned; arrays that are too large for static
// shared memory when they are padded; and reads that the compiler makes wide.
#include <cuda_pipeline.h>
#define HERE (blockIdx.x * 1024 + k)

// ---- copies of 16 bytes, each by a thread

__global__ void turned_copies(float* out, const float4* in) {
  __shared__ __align__(16) float t[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  __pipeline_memcpy_async(&t[y][x * 4], &in[y * 8 + x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = y * 8 + x; k < 1024; k += 256) out[HERE] = t[k % 32][k / 32];
}
__global__ void turned_copies_padded(float* out, const float4* in) {
  __shared__ __align__(16) float t[32][36];
  const int x = threadIdx.x, y = threadIdx.y;
  __pipeline_memcpy_async(&t[y][x * 4], &in[y * 8 + x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = y * 8 + x; k < 1024; k += 256) out[HERE] = t[k % 32][k / 32];
}
__global__ void turned_copies_swizzled(float* out, const float4* in) {
  __shared__ __align__(16) float t[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  __pipeline_memcpy_async(&t[y][x * 4 ^ y % 8 * 4], &in[y * 8 + x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = y * 8 + x; k < 1024; k += 256) {
    out[HERE] = t[k % 32][k / 32 ^ k % 32 % 8 * 4];
  }
}

// ---- copies of 8 bytes

__global__ void turned_pairs(float* out, const float2* in) {
  __shared__ __align__(8) float t[32][32];
  for (int k = threadIdx.x; k < 512; k += 256) {
    __pipeline_memcpy_async(&t[k / 16][k % 16 * 2], &in[k], 8);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 256) out[HERE] = t[k % 32][k / 32];
}
__global__ void turned_pairs_padded(float* out, const float2* in) {
  __shared__ __align__(8) float t[32][34];
  for (int k = threadIdx.x; k < 512; k += 256) {
    __pipeline_memcpy_async(&t[k / 16][k % 16 * 2], &in[k], 8);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += 256) out[HERE] = t[k % 32][k / 32];
}

// ---- copies that write into columns: their own writes have the conflicts

__global__ void copies_into_columns(float* out, const float* in) {
  __shared__ float t[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int k = y; k < 32; k += 8) {
    __pipeline_memcpy_async(&t[x][k], &in[blockIdx.x * 1024 + k * 32 + x], 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = y; k < 32; k += 8) out[blockIdx.x * 1024 + k * 32 + x] = t[k][x];
}
__global__ void copies_into_columns_padded(float* out, const float* in) {
  __shared__ float t[32][33];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int k = y; k < 32; k += 8) {
    __pipeline_memcpy_async(&t[x][k], &in[blockIdx.x * 1024 + k * 32 + x], 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = y; k < 32; k += 8) out[blockIdx.x * 1024 + k * 32 + x] = t[k][x];
}
__global__ void copies_into_columns_swizzled(float* out, const float* in) {
  __shared__ float t[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  for (int k = y; k < 32; k += 8) {
    __pipeline_memcpy_async(&t[x][k ^ x], &in[blockIdx.x * 1024 + k * 32 + x], 4);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = y; k < 32; k += 8) out[blockIdx.x * 1024 + k * 32 + x] = t[k][x ^ k];
}

// ---- copies whose lanes read far apart

__global__ void every_fourth_copied(float* out, const float* in) {
  __shared__ float t[256];
  const int x = threadIdx.x;
  __pipeline_memcpy_async(&t[x], &in[4 * (blockIdx.x * 256 + x)], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 256 + x] = t[255 - x];
}
__global__ void every_fourth_copied_gathered(float* out, const float* in) {
  __shared__ float t[256];
  const int x = threadIdx.x;
  __pipeline_memcpy_async(&t[x], &in[blockIdx.x * 256 + x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 256 + x] = t[255 - x];
}

// ---- a copy of all rows, and one for each row

__device__ unsigned place_of(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void expect(void* object, unsigned bytes) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(place_of(object)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile(
      "{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(place_of(object)),
      "r"(bytes)
      : "memory");
}
__device__ void copy(void* to, const void* from, unsigned bytes, void* object) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(place_of(to)),
      "l"(from), "r"(bytes), "r"(place_of(object))
      : "memory");
}
__device__ void wait(void* object) {
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
      " @!p bra again; }" ::"r"(place_of(object))
      : "memory");
}

__global__ void turned_stretch(float* out, const float* in) {
  __shared__ alignas(128) float t[32][32];
  __shared__ alignas(8) unsigned long long done;
  if (threadIdx.x == 0) {
    expect(&done, 4096);
    copy(t, in, 4096, &done);
  }
  __syncthreads();
  wait(&done);
  for (int k = threadIdx.x; k < 1024; k += 256) out[HERE] = t[k % 32][k / 32];
}
__global__ void turned_stretch_padded(float* out, const float* in) {
  __shared__ alignas(128) float t[32][36];
  __shared__ alignas(8) unsigned long long done;
  if (threadIdx.x == 0) {
    expect(&done, 4096);
    for (int row = 0; row < 32; row++) copy(t[row], in + row * 32, 128, &done);
  }
  __syncthreads();
  wait(&done);
  for (int k = threadIdx.x; k < 1024; k += 256) out[HERE] = t[k % 32][k / 32];
}

// ---- 48 KiB, and more

__global__ void sums_of_96_rows(float* out, const float* in) {
  __shared__ float t[96][128];
  const int x = threadIdx.x;
  for (int row = 0; row < 96; row++) t[row][x] = in[row * 128 + x];
  __syncthreads();
  float sum = 0;
  if (x < 96) {
    for (int column = 0; column < 128; column++) sum += t[x][column];
  }
  out[blockIdx.x * 128 + x] = sum;
}
__global__ void sums_of_96_rows_padded(float* out, const float* in) {
  extern __shared__ float rows[];
  auto* t = reinterpret_cast<float(*)[132]>(rows);
  const int x = threadIdx.x;
  for (int row = 0; row < 96; row++) t[row][x] = in[row * 128 + x];
  __syncthreads();
  float sum = 0;
  if (x < 96) {
    for (int column = 0; column < 128; column++) sum += t[x][column];
  }
  out[blockIdx.x * 128 + x] = sum;
}

// ---- reads of one float that the compiler makes of 16 bytes

__global__ void sums_of_64_rows(float* out, const float* in) {
  __shared__ float t[64][128];
  const int x = threadIdx.x;
  for (int row = 0; row < 64; row++) t[row][x] = in[row * 128 + x];
  __syncthreads();
  float sum = 0;
  if (x < 64) {
    for (int column = 0; column < 128; column++) sum += t[x][column];
  }
  out[blockIdx.x * 128 + x] = sum;
}
__global__ void sums_of_64_rows_padded(float* out, const float* in) {
  __shared__ float t[64][132];
  const int x = threadIdx.x;
  for (int row = 0; row < 64; row++) t[row][x] = in[row * 128 + x];
  __syncthreads();
  float sum = 0;
  if (x < 64) {
    for (int column = 0; column < 128; column++) sum += t[x][column];
  }
  out[blockIdx.x * 128 + x] = sum;
}
