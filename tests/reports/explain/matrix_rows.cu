// SPDX-License-Identifier: MIT
// Matrices of tensor cores in shared memory: eight rows of 16 bytes each are read or written
// together, and where rows are a multiple of 128 bytes long all eight meet in the same banks.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__device__ unsigned shared_address(const __half* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void load_four(unsigned (&to)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared_address(row)));
}

__device__ void load_two(unsigned (&to)[2], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(shared_address(row)));  // cause: ldmatrix_rows
}

__device__ void multiply(float (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Scores of 64 queries and 64 keys of 64 numbers, a head a block. `at` is where a tile has the
/// number of a key; the queries have rows that are padded already.
template <class Place>
__device__ void scores_of(float* scores, const uint4* queries, const uint4* keys, Place at) {
  __shared__ __align__(16) __half own[64][72];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < 512; i += 128) {
    const int row = i / 8, column = i % 8 * 8;
    *reinterpret_cast<uint4*>(&own[row][column]) = queries[blockIdx.x * 512 + i];
    *reinterpret_cast<uint4*>(at(row, column)) = keys[blockIdx.x * 512 + i];
  }
  __syncthreads();
  float sum[8][4] = {};
  for (int k = 0; k < 64; k += 16) {
    unsigned a[4];
    load_four(a, &own[warp * 16 + lane % 16][k + lane / 16 * 8]);
    for (int n = 0; n < 8; ++n) {
      unsigned b[2];
      load_two(b, at(n * 8 + lane % 8, k + lane / 8 % 2 * 8));
      multiply(sum[n], a, b);
    }
  }
  float* const to = scores + blockIdx.x * 4096 + (warp * 16 + lane / 4) * 64 + lane % 4 * 2;
  for (int n = 0; n < 8; ++n) {
    *reinterpret_cast<float2*>(to + n * 8) = make_float2(sum[n][0], sum[n][1]);
    *reinterpret_cast<float2*>(to + 8 * 64 + n * 8) = make_float2(sum[n][2], sum[n][3]);
  }
}

__global__ void ldmatrix_rows(float* scores, const uint4* queries, const uint4* keys) {
  __shared__ __align__(16) __half tile[64][64];
  scores_of(scores, queries, keys, [&](int row, int column) { return &tile[row][column]; });
}

__global__ void ldmatrix_rows_padded(float* scores, const uint4* queries, const uint4* keys) {
  __shared__ __align__(16) __half tile[64][72];
  scores_of(scores, queries, keys, [&](int row, int column) { return &tile[row][column]; });
}

__global__ void ldmatrix_rows_swizzled(float* scores, const uint4* queries, const uint4* keys) {
  __shared__ __align__(16) __half tile[64][64];
  scores_of(scores, queries, keys,
            [&](int row, int column) { return &tile[row][column ^ row % 8 * 8]; });
}

/// A product of 64 by 64 a block, by fragments; `Pitch` numbers are a row of the second tile.
template <int Pitch>
__device__ void products(float* out, const uint4* first, const uint4* second, __half* tile) {
  __shared__ __align__(32) __half own[64 * 72];
  for (int i = threadIdx.x; i < 512; i += 128) {
    const int row = i / 8, column = i % 8 * 8;
    *reinterpret_cast<uint4*>(own + row * 72 + column) = first[blockIdx.x * 512 + i];
    *reinterpret_cast<uint4*>(tile + row * Pitch + column) = second[blockIdx.x * 512 + i];
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
  for (int n = 0; n < 4; ++n) wmma::fill_fragment(sum[n], 0.0f);
  for (int k = 0; k < 64; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::load_matrix_sync(a, own + warp * 16 * 72 + k, 72);
    for (int n = 0; n < 4; ++n) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
      wmma::load_matrix_sync(b, tile + k * Pitch + n * 16, Pitch);  // cause: wmma_rows
      wmma::mma_sync(sum[n], a, b, sum[n]);
    }
  }
  for (int n = 0; n < 4; ++n) {
    float* const to = out + blockIdx.x * 4096 + warp * 16 * 64 + n * 16;
    wmma::store_matrix_sync(to, sum[n], 64, wmma::mem_row_major);
  }
}

__global__ void wmma_rows(float* out, const uint4* first, const uint4* second) {
  __shared__ __align__(32) __half tile[64][64];
  products<64>(out, first, second, &tile[0][0]);
}

__global__ void wmma_rows_padded(float* out, const uint4* first, const uint4* second) {
  __shared__ __align__(32) __half tile[64][72];
  products<72>(out, first, second, &tile[0][0]);
}

/// A tile of 16 rows a warp goes out through shared memory, so that whole rows are stored.
template <class Place>
__device__ void out_by_rows(uint4* out, const unsigned* fragments, Place at) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int n = 0; n < 8; n += 2) {
    unsigned part[4];
    for (int i = 0; i < 4; ++i) {
      part[i] = fragments[((blockIdx.x * 4 + n / 2) * 4 + i) * 128 + threadIdx.x];
    }
    const __half* const row = at(warp * 16 + lane % 16, (n + lane / 16) * 8);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     shared_address(row)),
                 "r"(part[0]), "r"(part[1]),  // cause: stmatrix_rows
                 "r"(part[2]), "r"(part[3])   // cause: stmatrix_rows
                 : "memory");
  }
  __syncwarp();
  for (int i = lane; i < 128; i += 32) {
    out[blockIdx.x * 512 + warp * 128 + i] =
        *reinterpret_cast<const uint4*>(at(warp * 16 + i / 8, i % 8 * 8));
  }
}

__global__ void stmatrix_rows(uint4* out, const unsigned* fragments) {
  __shared__ __align__(16) __half tile[64][64];
  out_by_rows(out, fragments, [&](int row, int column) { return &tile[row][column]; });
}

__global__ void stmatrix_rows_padded(uint4* out, const unsigned* fragments) {
  __shared__ __align__(16) __half tile[64][72];
  out_by_rows(out, fragments, [&](int row, int column) { return &tile[row][column]; });
}

__global__ void stmatrix_rows_swizzled(uint4* out, const unsigned* fragments) {
  __shared__ __align__(16) __half tile[64][64];
  out_by_rows(out, fragments,
              [&](int row, int column) { return &tile[row][column ^ row % 8 * 8]; });
}
