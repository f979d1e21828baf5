// SPDX-License-Identifier: MIT
// Boxes of tensors that are not waited for, and those that are: at most one mistake a kernel.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#include "tensor_program.h"
constexpr int rows = 8, columns = 32;
constexpr unsigned box_bytes = 4 * rows * columns;

__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// A barrier of the block does not wait for the box.
__global__ void reads_early(const __grid_constant__ CUtensorMap map, unsigned* out) {
  __shared__ alignas(128) unsigned tile[rows * columns];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) {
    begin(&object, box_bytes);
    load(&map, 2, {4, 5}, at(tile), &object);
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // mistake
  wait(&object);
}

/// The tile is filled again while the box may still be read from it.
__global__ void fills_early(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) unsigned tile[rows * columns];
  for (int y = 0; y < 2; ++y) {
    tile[threadIdx.x] = y;  // mistake
    fence();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(&map, 2, {0, y * rows}, at(tile));
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
  }
}

/// The object awaits half of the box.
__global__ void awaits_too_little(const __grid_constant__ CUtensorMap map, unsigned* out) {
  __shared__ alignas(128) unsigned tile[rows * columns];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) {
    begin(&object, box_bytes / 2);
    load(&map, 2, {4, 5}, at(tile), &object);  // mistake
    wait(&object);
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

/// As it should be; at the edge what lies beside the tensor is filled, and is set.
__global__ void adds_one(const __grid_constant__ CUtensorMap map,
                         const __grid_constant__ CUtensorMap result, int x, int y) {
  __shared__ alignas(128) unsigned tile[rows * columns];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) {
    begin(&object, box_bytes);
    load(&map, 2, {x, y}, at(tile), &object);
    wait(&object);
  }
  __syncthreads();
  tile[threadIdx.x] += 1;
  fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    store(&result, 2, {x, y}, at(tile));
    wait_for_stores();
  }
}

/// The tensor is said to have more rows than its buffer.
__global__ void runs_over(const __grid_constant__ CUtensorMap map, unsigned* out) {
  __shared__ alignas(128) unsigned tile[rows * columns];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) {
    begin(&object, box_bytes);
    load(&map, 2, {0, 16}, at(tile), &object);  // mistake
    wait(&object);
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  constexpr int height = 20, width = 100;
  unsigned *from = nullptr, *to = nullptr, *out = nullptr;
  cudaMalloc(&from, 4 * width * height);
  cudaMalloc(&to, 4 * width * height);
  cudaMalloc(&out, box_bytes);
  cudaMemset(from, 0, 4 * width * height);
  const Tensor plane{"plane", u32, {width, height}, {4 * width}, {columns, rows}, {}};
  Tensor taller = plane;
  taller.extents[1] = height + 4;
  CUtensorMap of_from, of_to, too_tall;
  describe(plane, from, &of_from);
  describe(plane, to, &of_to);
  describe(taller, from, &too_tall);
  reads_early<<<1, rows * columns>>>(of_from, out);
  cudaDeviceSynchronize();
  fills_early<<<1, rows * columns>>>(of_to);
  cudaDeviceSynchronize();
  awaits_too_little<<<1, rows * columns>>>(of_from, out);
  cudaDeviceSynchronize();
  adds_one<<<1, rows * columns>>>(of_from, of_to, 0, 0);
  adds_one<<<1, rows * columns>>>(of_from, of_to, 88, 16);
  cudaDeviceSynchronize();
  runs_over<<<1, rows * columns>>>(too_tall, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(from);
  cudaFree(to);
  cudaFree(out);
}
