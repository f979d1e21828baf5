// SPDX-License-Identifier: MIT
// Tiles of 32 rows of 128 bytes that a tensor map brings: read with conflicts, and by the same
// kernel rewritten as explain advises. Each kernel of a kind prints the same sum.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#include "tensor_program.h"

constexpr unsigned tile_bytes = 4096, row_bytes = 128, rows = 32, blocks = 4;

/// Where byte a of shared memory lies with mode 0, 1, 2, 3: no swizzle, by 32, 64, 128 bytes.
__device__ unsigned placed(unsigned a, unsigned mode) {
  return a ^ (a >> 7 & ((1u << mode) - 1)) << 4;
}

/// A row's byte in a tile that `boxes` boxes side by side make up.
__device__ unsigned byte_of(unsigned row, unsigned column, unsigned boxes) {
  const unsigned width = row_bytes / boxes;
  return column / width * (tile_bytes / boxes) + row * width + column % width;
}

__device__ void bring(const CUtensorMap& map, unsigned tile, std::uint64_t* object,
                      unsigned boxes) {
  if (threadIdx.x == 0) {
    begin(object, tile_bytes);
    for (unsigned i = 0; i < boxes; ++i) {
      // In halves or in floats: as the descriptor of the kernel counts its columns.
      const int column = static_cast<int>(i * 64 / boxes);
      load(&map, 2, {column, static_cast<int>(blockIdx.x * rows)}, tile + i * tile_bytes / boxes,
           object);
    }
    if (!wait(object)) __trap();
  }
  __syncthreads();
}

/// Eight times four matrices of eight rows of 16 bytes.
__device__ void read_matrices(const CUtensorMap& map, unsigned* out, unsigned mode,
                              unsigned boxes) {
  __shared__ alignas(1024) unsigned char tile[tile_bytes];
  __shared__ alignas(8) std::uint64_t object;
  bring(map, at(tile), &object, boxes);
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned chunk = 0; chunk < 8; ++chunk) {
    const unsigned from = placed(at(tile) + byte_of(threadIdx.x, chunk * 16, boxes), mode);
    unsigned a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(from)
                 : "memory");
    sum = sum * 31 + a + 3 * b + 5 * c + 7 * d;
  }
  out[blockIdx.x * 32 + threadIdx.x] = sum;
}

/// Each lane reads its row, a float a time.
__device__ void read_columns(const CUtensorMap& map, unsigned* out, unsigned mode) {
  __shared__ alignas(1024) unsigned char tile[tile_bytes];
  __shared__ alignas(8) std::uint64_t object;
  bring(map, at(tile), &object, 1);
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned column = 0; column < 32; ++column) {
    const unsigned from = placed(at(tile) + byte_of(threadIdx.x, column * 4, 1), mode);
    unsigned word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(from) : "memory");
    sum = sum * 31 + word;
  }
  out[blockIdx.x * 32 + threadIdx.x] = sum;
}

/// Each lane reads 16 bytes of its row, one chunk further than the lane before it.
__device__ void read_diagonals(const CUtensorMap& map, unsigned* out, unsigned mode) {
  __shared__ alignas(1024) unsigned char tile[tile_bytes];
  __shared__ alignas(8) std::uint64_t object;
  bring(map, at(tile), &object, 1);
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned step = 0; step < 8; ++step) {
    const unsigned chunk = (threadIdx.x + step) % 8;
    const unsigned from = placed(at(tile) + byte_of(threadIdx.x, chunk * 16, 1), mode);
    unsigned a, b, c, d;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(from)
                 : "memory");
    sum = sum * 31 + a + 3 * b + 5 * c + 7 * d;
  }
  out[blockIdx.x * 32 + threadIdx.x] = sum;
}

#define KERNEL(name, read, ...)                                                  \
  __global__ void name(const __grid_constant__ CUtensorMap map, unsigned* out) { \
    read(map, out, __VA_ARGS__);                                                 \
  }
KERNEL(matrices, read_matrices, 0, 1)
KERNEL(matrices_by_128, read_matrices, 3, 1)
KERNEL(matrices_by_64, read_matrices, 2, 2)
KERNEL(columns, read_columns, 0)
KERNEL(columns_by_128, read_columns, 3)
KERNEL(diagonals_by_128, read_diagonals, 3)
KERNEL(diagonals, read_diagonals, 0)

using Kernel = void (*)(CUtensorMap, unsigned*);

int main() {
  unsigned *tensor = nullptr, *out = nullptr;
  cudaMallocManaged(&tensor, tensor_words * 4);
  cudaMallocManaged(&out, blocks * 32 * 4);
  for (unsigned i = 0; i < tensor_words; ++i) tensor[i] = (i ^ i >> 5) * 2654435761u >> 3;
  const auto run = [&](const char* name, Kernel kernel, CUtensorMapDataType type, unsigned columns,
                       unsigned boxes, CUtensorMapSwizzle swizzle) {
    const Tensor t{name, type,   {columns, blocks * rows}, {row_bytes}, {columns / boxes, rows},
                   {},   swizzle};
    CUtensorMap map;
    if (describe(t, tensor, &map) != CUDA_SUCCESS) std::printf("%s: no descriptor\n", name);
    kernel<<<blocks, 32>>>(map, out);
    const cudaError_t error = cudaDeviceSynchronize();
    unsigned sum = 0;
    for (unsigned i = 0; i < blocks * 32; ++i) sum = sum * 31 + out[i];
    std::printf("%s: %s, %08x\n", name, cudaGetErrorName(error), sum);
  };
  run("matrices", matrices, f16, 64, 1, plain);
  run("matrices by 128", matrices_by_128, f16, 64, 1, by_128);
  run("matrices by 64", matrices_by_64, f16, 64, 2, by_64);
  run("columns", columns, f32, 32, 1, plain);
  run("columns by 128", columns_by_128, f32, 32, 1, by_128);
  run("diagonals by 128", diagonals_by_128, f32, 32, 1, by_128);
  run("diagonals", diagonals, f32, 32, 1, plain);
  cudaFree(out);
  cudaFree(tensor);
}
